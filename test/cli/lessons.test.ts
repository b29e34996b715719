import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { runCli } from './run-cli.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'instar-skills-'));
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon | undefined;
const cli = (...args: string[]) => runCli([...args, '--home', home.dir]);
const json = async (...args: string[]) => JSON.parse((await cli(...args, '--json')).stdout);

/** A folder of skills, as Claude Code and MetaClaw keep them. */
function writeSkills(names: readonly string[], body = 'Do it.\n'): string {
  const dir = mkdtempSync(path.join(scratch, 'folder-'));
  for (const name of names) {
    mkdirSync(path.join(dir, name));
    writeFileSync(
      path.join(dir, name, 'SKILL.md'),
      `---\nname: ${name}\ndescription: When you need ${name}.\ncategory: coding\n---\n\n${body}`,
    );
  }
  return dir;
}

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe.each(['a running daemon', 'no daemon'])('with %s', (which) => {
  beforeEach(async () => {
    home = makeHome({});
    if (which === 'a running daemon') daemon = await startDaemon(home.dir);
  });
  afterEach(async () => {
    daemon?.child.kill('SIGTERM');
    await daemon?.exited;
    daemon = undefined;
    home.remove();
  });

  it('skills go in, are listed, shown, and come out as the same files', async () => {
    const from = writeSkills(['sort-keys', 'sign-commits']);
    const taken = await json('lessons', 'import', from);
    expect(taken).toMatchObject({ faults: [], generation: 1 });
    const list = await json('lessons', 'list');
    expect(list).toHaveLength(2);
    expect(list[0]).toMatchObject({
      kind: 'skill',
      state: 'live',
      revision: 1,
      scope: {},
      effect: { with: { n: 0 } },
    });
    expect((await cli('lessons', 'show', 'sort-keys')).stdout).toContain('Do it.');
    const again = await json('lessons', 'import', from);
    expect(again.done.map(({ what }: { what: string }) => what)).toEqual(['unchanged', 'unchanged']);
    const out = path.join(scratch, `out-${which.length}`);
    await cli('lessons', 'export', out);
    const file = readFileSync(path.join(out, 'sort-keys', 'SKILL.md'), 'utf8');
    expect(file).toContain('When you need sort-keys.');
    expect(file).toContain('Do it.');
    expect((await json('lessons', 'import', out)).done).toHaveLength(2);
    expect(await json('generations', 'list')).toHaveLength(1);
  });

  it('a proposed skill is approved to trial, then to live, pinned, frozen and retired', async () => {
    await cli('lessons', 'import', writeSkills(['a-skill']), '--as', 'proposed');
    const state = async () => (await json('lessons', 'show', 'a-skill')).state;
    expect(await json('generations', 'list')).toEqual([]);
    for (const [command, after] of [
      ['approve', 'trial'],
      ['approve', 'live'],
      ['pin', 'live'],
      ['freeze', 'live'],
      ['retire', 'retired'],
    ] as const) {
      const name = (await json('lessons', 'list', '--all'))[0].id;
      const { code, stderr } = await cli('lessons', command, name);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect((await json('lessons', 'show', name)).state).toBe(after);
    }
    expect(await json('lessons', 'list')).toEqual([]);
    expect((await json('lessons', 'list', '--all'))[0]).toMatchObject({ pinned: true, frozen: true });
    expect(await state()).toBe('retired');
  });

  it('a generation is compared with another and gone back to, as a new one', async () => {
    await cli('lessons', 'import', writeSkills(['first']));
    await cli('lessons', 'import', writeSkills(['second']));
    await cli('lessons', 'retire', 'first');
    expect((await cli('generations', 'diff', '1')).stdout).toMatch(/\+ second.*\n- first/);
    const back = await json('generations', 'rollback', '1');
    expect(back.generation).toBe(4);
    const live = (await json('lessons', 'list')).map(({ name }: { name: string }) => name);
    expect(live).toEqual(['first']);
    expect((await json('generations', 'list'))[0]).toMatchObject({
      generation: 4,
      at: expect.any(String),
      reason: expect.stringContaining('1'),
    });
  });

  it('a review names what waits and what says the same, and puts it in order when asked to', async () => {
    const body = '1. Open the ledger.\n2. Sort the rows by their booking day.\n3. Save the file.\n';
    await cli('lessons', 'import', writeSkills(['sort-the-rows'], body));
    await cli('lessons', 'import', writeSkills(['sort-the-rows-again'], body));
    await cli(
      'lessons',
      'import',
      writeSkills(['waiting-one'], 'Something else entirely.\n'),
      '--as',
      'proposed',
    );
    const told = await json('lessons', 'review');
    expect(told.waiting).toMatchObject([{ name: 'waiting-one' }]);
    expect(told.same).toHaveLength(1);
    expect((await cli('lessons', 'review', '--apply')).stdout).toContain('done; generation 3');
    expect(await json('lessons', 'list', '--state', 'live')).toHaveLength(1);
  });

  it('says what is wrong and how to fix it', async () => {
    const missing = await cli('lessons', 'show', 'nobody');
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('instar lessons list') });
    expect(await cli('generations', 'rollback', '9')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no generation 9'),
    });
    expect(await cli('generations', 'diff', 'x')).toMatchObject({ code: 2 });
    expect(await cli('lessons', 'import', path.join(scratch, 'not-there'))).toMatchObject({ code: 1 });
    const broken = writeSkills(['fine']);
    mkdirSync(path.join(broken, 'bad'));
    writeFileSync(path.join(broken, 'bad', 'SKILL.md'), '---\nname: ../../etc\n---\nx\n');
    const report = await json('lessons', 'import', broken);
    expect(report.done).toHaveLength(1);
    expect(report.faults).toHaveLength(1);
    expect(existsSync(path.join(home.dir, '..', 'etc'))).toBe(false);
  });
});
