import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { formatOfStore, NEWEST_FORMAT } from '../../src/record/upgrade-store.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { startDaemon } from '../support/daemon.ts';
import { backupsOf, factsOf, openOldHome, removeOldHomes, storeOf } from './old-home.ts';

/** With `DISK_FAULTS=all` it is killed at every call; otherwise at a few of them. */
const ALL = process.env.DISK_FAULTS === 'all';
const hasStrace = spawnSync('strace', ['-V']).status === 0;

afterEach(removeOldHomes);

/** The facts of an old home, read from a home of their own: a reader leaves files beside a record. */
const oldFacts = (name: string): readonly string[] => factsOf(storeOf(openOldHome(name)));

/** Without its filter in the kernel (`--seccomp-bpf`), which delivers no signals. */
const strace = (log: string, calls: string, ...more: readonly string[]): readonly string[] => [
  ...['strace', '-f', '-qq', '-y', '-o', log, '-e', `trace=${calls}`],
  ...more,
];

/** Starts a daemon under `wrap` and kills it when it is ready; resolves with what it said when it did not start. */
async function startAndKill(home: string, wrap: readonly string[]): Promise<string | undefined> {
  const daemon = await startDaemon(home, wrap).catch(String);
  if (typeof daemon === 'string') return daemon;
  const { pid } = JSON.parse(readFileSync(path.join(home, 'daemon.json'), 'utf8'));
  process.kill(Number(pid), 'SIGKILL');
  await daemon.exited;
  return undefined;
}

interface Call {
  readonly call: string;
  /** The position of the call among those of the same name in its thread: what strace counts. */
  readonly when: number;
}

/** The calls that touched a place, of the first thread that did. */
function callsAt(log: string, place: string): readonly Call[] {
  const lines = readFileSync(log, 'utf8').split('\n');
  const thread = lines.find((line) => line.includes(place))?.split(' ')[0];
  const counts = new Map<string, number>();
  return lines.flatMap((line): Call[] => {
    const [, own, call = ''] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (own === undefined || own !== thread) return [];
    const when = (counts.get(call) ?? 0) + 1;
    counts.set(call, when);
    return line.includes(place) ? [{ call, when }] : [];
  });
}

const some = (all: readonly Call[], count: number): readonly Call[] =>
  ALL ? all : all.filter((_, nth) => nth % Math.ceil(all.length / count) === 0 || nth === all.length - 1);

describe.runIf(hasStrace)('instar up that is interrupted while it changes a format', () => {
  const CALLS = 'pwrite64,fsync,fdatasync,rename';

  it('leaves the old record or the new one, wherever it is killed, and a copy that opens', async () => {
    const before = oldFacts('format-1');
    const seen = { unfinished: 0, copied: 0, changed: 0 };
    const killAt = async ({ call, when }: Call, only?: string): Promise<void> => {
      const home = openOldHome('format-1');
      const watched = only === undefined ? [] : ['-P', path.join(home, only)];
      const inject = ['-e', `inject=${call}:signal=SIGKILL:when=${when}`, ...watched];
      await startAndKill(home, strace(`${home}.log`, call, ...inject));
      await inspect(home);
    };
    const inspect = async (home: string): Promise<void> => {
      const [left, now] = [backupsOf(home), formatOfStore(storeOf(home))];
      // 0: the process that opens it next tells.
      expect([0, 1, NEWEST_FORMAT]).toContain(now);
      const named = left.filter((file) => file.endsWith('.sqlite'));
      if (now === NEWEST_FORMAT) seen.changed++;
      else if (named.length > 0) seen.copied++;
      else if (left.length > 0) seen.unfinished++;
      // A copy that has its name opens, whatever happened to the record.
      expect(named.map(formatOfStore)).toEqual(named.map(() => 1));
      for (const copy of named) expect(factsOf(copy)).toEqual(before);
      expect(factsOf(storeOf(home)).slice(0, before.length)).toEqual(before);
      // The next one that opens the record finishes the work: one copy, nothing half.
      const { code, stdout } = await runInProcess(['sessions', 'list', '--home', home]);
      expect(code).toBe(0);
      expect(stdout).toContain('When was order 1043 shipped?');
      const copies = backupsOf(home);
      expect(copies.map((file) => [path.extname(file), formatOfStore(file)])).toEqual([['.sqlite', 1]]);
      expect(factsOf(copies[0] ?? '')).toEqual(before);
      const store = openSqliteStore({ file: storeOf(home) });
      expect(store.check()).toEqual([]);
      store.close();
    };

    const whole = openOldHome('format-1');
    expect(await startAndKill(whole, strace(`${whole}.log`, CALLS))).toBeUndefined();
    // Killed when it was ready: the format has changed.
    await inspect(whole);
    for (const call of some(callsAt(`${whole}.log`, 'before-upgrade'), 5)) await killAt(call);
    // The thread that writes the record changes its format, in its log first.
    const log = 'instar.sqlite-wal';
    const changes = callsAt(`${whole}.log`, `${log}>`).filter(({ call }) => call === 'pwrite64');
    // Of the thread's writes only those into the log are counted then.
    for (const nth of ALL ? changes.keys() : [0, 4, 9, 14, changes.length - 1])
      await killAt({ call: 'pwrite64', when: nth + 1 }, log);
    expect(seen).toEqual({
      unfinished: expect.toSatisfy((count: number) => count > 0),
      copied: expect.toSatisfy((count: number) => count > 0),
      changed: expect.toSatisfy((count: number) => count > 0),
    });
  }, 900_000);

  it('names the full disk, and leaves the record as it was', async () => {
    const before = oldFacts('format-3');
    const whole = openOldHome('format-3');
    expect(await startAndKill(whole, strace(`${whole}.log`, 'pwrite64'))).toBeUndefined();
    const writes = callsAt(`${whole}.log`, '.sqlite.tmp>');
    const { when = 1 } = writes[Math.floor(writes.length / 2)] ?? {};
    const home = openOldHome('format-3');
    const inject = ['-e', `inject=pwrite64:error=ENOSPC:when=${when}`];
    const refusal = await startAndKill(home, strace(`${home}.log`, 'pwrite64', ...inject));
    expect(refusal).toMatch(/the disk of .+before-upgrade is full: the copy needs 1 MB.+upgrade --help/s);
    expect(formatOfStore(storeOf(home))).toBe(3);
    expect(factsOf(storeOf(home))).toEqual(before);
    expect(backupsOf(home)).toEqual([]);
  });
});
