import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countOf } from '../support/counts.ts';
import type { Provider } from '../support/provider.ts';
import {
  configFor,
  type Exit,
  faultOf,
  leaveWaiting,
  startBusyProvider,
  talk,
  urlOf,
  withLoad,
} from './busy-program.ts';
import { type CliResult, createTemporaryFolder, type RunningCli, startCli } from './run-cli.ts';

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
/** `EXITS=200 npx vitest run test/cli/exits.test.ts` counts so many, beside two busy processes. */
const EXITS = Number(process.env.EXITS ?? countOf(0, 70));
const THROW = { NODE_OPTIONS: `--require=${here('./throw-on-signal.cjs')}` };

let provider: Provider;
let home: string;
let folder: ReturnType<typeof createTemporaryFolder>;
if (EXITS > 0) withLoad();
beforeAll(async () => {
  provider = await startBusyProvider();
  folder = createTemporaryFolder();
  home = folder.dir;
  writeFileSync(join(home, 'config.json'), configFor(provider), { mode: 0o600 });
});
afterAll(async () => {
  await provider.close();
  folder.remove();
});

const cli = (args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCli =>
  startCli([...args, '--home', home], env);
async function busyUp(
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly up: RunningCli; readonly url: string }> {
  const up = cli(['up', '--port', '0'], env);
  const url = await urlOf(up);
  await talk(url, home);
  return { up, url };
}
async function library(way: 'close' | 'exit'): Promise<CliResult> {
  const own = createTemporaryFolder();
  const child = spawn(process.execPath, [here('./leave-library.mjs'), own.dir, way, configFor(provider)], {
    env: { PATH: process.env.PATH, HOME: own.dir },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  own.remove();
  return { code, stdout: '', stderr };
}

/** Each way gives the exits of one try. */
const WAYS: Readonly<Record<string, () => Promise<readonly Exit[]>>> = {
  'Ctrl-C': async () => {
    const { up } = await busyUp();
    up.child.kill('SIGINT');
    return [{ ...(await up.ended()), expected: 0 }];
  },
  'a second Ctrl-C while a request is in progress': async () => {
    const { up, url } = await busyUp();
    await leaveWaiting(url, home, provider);
    up.child.kill('SIGINT');
    await up.untilStderr('a second signal exits at once');
    up.child.kill('SIGINT');
    return [{ ...(await up.ended()), expected: 1 }];
  },
  'an error that nobody expected': async () => {
    const { up } = await busyUp(THROW);
    up.child.kill('SIGUSR2');
    return [{ ...(await up.ended()), expected: 1 }];
  },
  'instar stop': async () => {
    const { up } = await busyUp();
    const stop = cli(['stop']);
    return [
      { ...(await stop.ended()), expected: 0 },
      { ...(await up.ended()), expected: 0 },
    ];
  },
  'a command that reads the record, and one that fails': async () => {
    const list = await cli(['lessons', 'list']).ended();
    const wrong = await cli(['lessons', 'show', 'nope']).ended();
    return [
      { ...list, expected: 0 },
      { ...wrong, expected: 1 },
    ];
  },
  'the close of a library that learns': async () => [{ ...(await library('close')), expected: 7 }],
  'the exit of a program whose library learns': async () => [{ ...(await library('exit')), expected: 7 }],
};
const TRIES = Math.ceil(EXITS / Object.keys(WAYS).length);
/** Tried once in `npm test`. */
const FEW: readonly string[] = ['Ctrl-C', 'a command that reads the record, and one that fails'];
const tried = Object.entries(WAYS).filter(([way]) => EXITS > 0 || FEW.includes(way));

describe('the real program', () => {
  it.each(tried)(
    'has its own exit code (not that of an abort) after %s',
    async (_, leave) => {
      const exits: Exit[] = [];
      do exits.push(...(await leave()));
      while (exits.length < TRIES);
      expect({ exits: exits.length, faults: exits.flatMap((exit) => faultOf(exit) ?? []) }).toEqual({
        exits: exits.length,
        faults: [],
      });
    },
    120_000 * (TRIES + 1),
  );
});
