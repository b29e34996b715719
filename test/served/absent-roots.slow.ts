import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ask } from '../support/client.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { watchModules } from '../support/loaded-modules.ts';

const root = path.resolve(import.meta.dirname, '../..');
const homes: { remove(): void }[] = [];
afterEach(() => {
  for (const home of homes.splice(0)) home.remove();
});
const homeWith = (config: object): string => {
  const home = makeHome(config);
  homes.push(home);
  return home.dir;
};

describe('weights and teams', () => {
  it('are not loaded by a daemon that trains nothing and has no members', async () => {
    const modules = watchModules();
    const home = homeWith({
      providers: { fake: { wire: 'openai', baseUrl: 'http://127.0.0.1:9/v1' } },
      models: { default: 'fake/model' },
      train: { engine: 'off' },
    });
    const daemon = await startDaemon(home, [], modules.env);
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    const status = await ask(daemon.port, { path: '/api/status', method: 'GET', headers });
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    const loaded = [...modules.list()].map((url) => path.relative(root, new URL(url).pathname));
    modules.remove();
    expect(status.status).toBe(200);
    expect(loaded).toContain('build/src/daemon/daemon.js');
    expect(loaded.filter((file) => /^build\/(?:train|team)\/|node_modules\/pg/.test(file))).toEqual([]);
  });

  it('need packages of their own for a PostgreSQL, and say which (a stack trace does not)', () => {
    const home = homeWith({ store: { url: 'postgres://nobody@127.0.0.1:1/none' } });
    const hide = path.join(home, 'hide-pg.cjs');
    writeFileSync(
      hide,
      `const Module = require('node:module');
const resolve = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  if (name === 'pg') throw Object.assign(new Error('not there'), { code: 'MODULE_NOT_FOUND' });
  return resolve.call(this, name, ...rest);
};
`,
    );
    const run = (...args: readonly string[]) =>
      spawnSync(
        process.execPath,
        ['--require', hide, path.join(root, 'dist/src/cli/main.js'), ...args, '--home', home],
        { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: home } },
      );
    const sentence = 'the packages it needs are not installed: npm install -g pg pg-boss';
    for (const args of [['up', '--port', '0'], ['sessions', 'list'], ['doctor']]) {
      const { status, stdout, stderr } = run(...args);
      expect(status, args.join(' ')).toBe(1);
      expect(`${stdout}${stderr}`.replaceAll(/\s+/g, ' ')).toContain(sentence);
      expect(stderr).not.toContain('    at ');
    }
  });
});
