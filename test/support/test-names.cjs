/*
 * Preloaded into a process (`NODE_OPTIONS=--require`): names under `.test` are this machine. A provider with such a name is
 * somewhere else for the gateway, as every provider that checks its callers' credentials is.
 */
const dns = require('node:dns');
const { syncBuiltinESMExports } = require('node:module');

const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith('.test') ? '127.0.0.1' : name, ...rest);
syncBuiltinESMExports();
