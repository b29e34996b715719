import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { formatOfStore, NEWEST_FORMAT } from '../../src/record/upgrade-store.ts';
import { type CliResult, runCli, runInProcess, startCli } from '../cli/run-cli.ts';
import { backupsOf, factsOf, openOldHome, removeOldHomes, storeOf } from './old-home.ts';

const SAID = 'the record was copied before its format changes';

afterEach(removeOldHomes);

const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
async function upAndStop(home: string): Promise<CliResult> {
  const up = startCli(['up', '--port', '0', '--log', 'json', '--home', home]);
  await up.firstLine();
  up.child.kill('SIGTERM');
  return up.ended();
}

describe('a record of an older format', () => {
  it('is copied as it is by instar up before its format changes; that is said in one line, and done once', async () => {
    const home = openOldHome('format-1');
    const before = factsOf(storeOf(home));
    const { code, stderr } = await upAndStop(home);
    expect(code).toBe(0);
    const lines = stderr.split('\n').filter((line) => line.includes(SAID));
    expect(lines).toHaveLength(1);
    const [copy = '', ...more] = backupsOf(home);
    expect(more).toEqual([]);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ copy, format: 1 });
    expect(formatOfStore(copy)).toBe(1);
    expect(factsOf(copy)).toEqual(before);
    expect(formatOfStore(storeOf(home))).toBe(NEWEST_FORMAT);
    expect(factsOf(storeOf(home)).slice(0, before.length)).toEqual(before);
    expect((await upAndStop(home)).stderr).not.toContain(SAID);
    expect(backupsOf(home)).toEqual([copy]);
  });

  it('is also copied by a command that runs without a daemon', async () => {
    const home = openOldHome('format-2');
    expect((await runInProcess(['sessions', 'list', '--home', home])).code).toBe(0);
    expect(formatOfStore(storeOf(home))).toBe(NEWEST_FORMAT);
    expect(backupsOf(home).map(formatOfStore)).toEqual([2]);
  });

  it('stays as it was when it cannot be copied: nothing starts, and the error names the way out', async () => {
    const home = openOldHome('format-2');
    const before = hashOf(storeOf(home));
    mkdirSync(path.join(home, 'snapshots'), { mode: 0o700 });
    writeFileSync(path.join(home, 'snapshots/before-upgrade'), 'a file is where the folder would be');
    expect(await runCli(['up', '--port', '0', '--home', home])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/could not be copied.+Nothing was changed.+instar upgrade --help/s),
    });
    expect(hashOf(storeOf(home))).toBe(before);
    const offline = await runInProcess(['sessions', 'list', '--home', home]);
    expect(offline).toMatchObject({ code: 1, stderr: expect.stringContaining('instar upgrade --help') });
    expect(hashOf(storeOf(home))).toBe(before);
    const help = await runInProcess(['upgrade', '--help']);
    expect(help.stdout).toContain('--no-backup');
    expect((await runInProcess(['upgrade', '--no-backup', '--home', home])).code).toBe(0);
    expect((await runInProcess(['sessions', 'list', '--home', home])).code).toBe(0);
  });
});
