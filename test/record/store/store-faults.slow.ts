import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packBody } from '../../../src/record/store/row-codec.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { scratch } from './scratch.ts';
import { startStoreProcessUnder } from './store-process.ts';

const STRACE = ['/usr/bin/strace', '/usr/local/bin/strace', '/bin/strace'].find(existsSync) ?? '';

/** Why faults cannot be injected on this machine; undefined when they can. */
function whyNot(): string | undefined {
  if (STRACE === '') return 'strace is not installed';
  const { status } = spawnSync(STRACE, ['-qq', '-o', '/dev/null', process.execPath, '-e', '0']);
  return status === 0 ? undefined : 'strace is not permitted';
}
const reason = whyNot();

/** A fault at every call takes minutes: a sample, unless INSTAR_ALL_FAULTS is set. */
const POINTS = process.env.INSTAR_ALL_FAULTS === undefined ? 3 : Number.POSITIVE_INFINITY;
const TURNS = [1, 2, 3, 4, 5, 6];
const DONE = [...TURNS.flatMap((n) => [`start t${n}`, `end t${n}`]), 'erase s1', 'close'].toSorted();
const textOf = (n: number): string => `text ${n} of this session `.repeat(100);
const keptBytes = (n: number): Buffer => Buffer.from(packBody(textOf(n)).body);

async function run(file: string, options: readonly string[]) {
  const paths = ['', '-wal', '-shm'].flatMap((end) => ['-P', `${file}${end}`]);
  return startStoreProcessUnder(STRACE, ['-f', '-qq', ...paths, ...options], ['faults', file]).ended();
}

async function countCalls(call: string): Promise<number> {
  const dir = scratch();
  await run(join(dir, 'store.db'), ['-o', join(dir, 'log'), '-e', `trace=${call}`]);
  return readFileSync(join(dir, 'log'), 'utf8').split('\n').length - 1;
}

describe.skipIf(reason !== undefined)(`a failing disk${reason ? ` (skipped: ${reason})` : ''}`, () => {
  it.each([
    ['pwrite64', 'ENOSPC'],
    ['pwrite64', 'EIO'],
    ['fsync,fdatasync', 'EIO'],
    ['ftruncate', 'EIO'],
  ])(
    'loses nothing acknowledged and ends no process when %s fails with %s',
    async (call, fault) => {
      const calls = await countCalls(call);
      expect(calls).toBeGreaterThan(3);
      const stride = Math.max(1, calls / POINTS);
      let failures = 0;
      for (let point = 1; point <= calls; point += stride) {
        const when = Math.floor(point);
        const file = join(scratch(), 'store.db');
        const inject = `inject=${call}:error=${fault}:when=${when}`;
        const { lines, ...end } = await run(file, ['-o', '/dev/null', '-e', `trace=${call}`, '-e', inject]);
        expect({ ...end, when }).toEqual({ code: 0, signal: null, stderr: '', when });
        const failed = lines.filter((line) => line.startsWith('failed'));
        for (const line of failed) expect(line).toMatch(/^failed StoreError (full|io) /);
        // One fault costs one attempt: the retry succeeds.
        expect(failed.length).toBeLessThanOrEqual(1);
        expect(lines.filter((line) => !line.startsWith('failed')).toSorted()).toEqual(DONE);
        failures += failed.length;
        expectWhole(file);
      }
      expect(failures).toBeGreaterThan(0);
    },
    600_000,
  );

  it('that stays full refuses every write and keeps everything acknowledged before', async () => {
    const calls = await countCalls('pwrite64');
    for (const part of [0, 0.2, 0.5, 0.8]) {
      const file = join(scratch(), 'store.db');
      const inject = `inject=pwrite64:error=ENOSPC:when=${1 + Math.floor(calls * part)}+`;
      const { lines, code } = await run(file, ['-o', '/dev/null', '-e', 'trace=pwrite64', '-e', inject]);
      expect(code).toBe(0);
      expect(lines.some((line) => line.startsWith('gave up start'))).toBe(true);
      const store = openSqliteStore({ file });
      expect(store.check()).toEqual([]);
      const kept = store
        .facts(0, 99)
        .map(({ fact }) => ('turn' in fact ? `${fact.type} ${fact.turn}` : fact.type));
      for (const line of lines.filter((said) => /^(start|end) /.test(said)))
        expect(kept).toContain(`turn-${line}`);
      store.close();
    }
  }, 300_000);
});

function expectWhole(file: string): void {
  const store = openSqliteStore({ file });
  expect(store.check()).toEqual([]);
  expect(store.totals()).toMatchObject({ facts: 13, turns: 6, sessions: 2, blocks: 4 });
  expect(store.openTurns()).toEqual([]);
  // The erasure came after the fourth turn, and the first session continued after it.
  const gone = [1, 3];
  for (const n of TURNS) expect(store.block(`0${n}`)).toBe(gone.includes(n) ? undefined : textOf(n));
  store.close();
  const files = [file, `${file}-wal`].filter(existsSync);
  const bytes = Buffer.concat(files.map((name) => readFileSync(name)));
  for (const n of gone) expect(bytes.includes(keptBytes(n))).toBe(false);
  expect(bytes.includes(keptBytes(2))).toBe(true);
}
