#!/usr/bin/env node
import { VERSION } from '../base/package.ts';
import type { CliContext } from './context.ts';
import { runProgram } from './program.ts';

// The other commands should not pay for loading the gateway.
const startDaemon: CliContext['startDaemon'] = async (options) =>
  (await import('../daemon/daemon.ts')).startDaemon(options);

// A reader that leaves early, as `head` does, is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const { stdin, stdout, stderr, env } = process;
const exitCode = await runProgram(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  version: VERSION,
  startDaemon,
});
// What was written goes out first: leaving cuts off a pipe that is still being read.
await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))));
process.exit(exitCode);
