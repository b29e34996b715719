import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countOf } from '../support/counts.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { runInProcess } from './run-cli.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'instar-skills-'));
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon | undefined;
/** A person is at the terminal, and agrees. */
const cli = (...args: string[]) => runInProcess([...args, '--home', home.dir], {}, { keys: ['y'] });
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

const newest = async (): Promise<number> => (await json('generations', 'list'))[0]?.generation ?? 0;
const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

/** Every mode has one home for all its tests, so that the daemon is started once. */
function useHome(which: string): void {
  beforeAll(async () => {
    home = makeHome({});
    if (which === 'a running daemon') daemon = await startDaemon(home.dir);
  });
  afterAll(async () => {
    daemon?.child.kill('SIGTERM');
    await daemon?.exited;
    daemon = undefined;
    home.remove();
  });
}

describe.each(['a running daemon', 'no daemon'])('with %s', (which) => {
  useHome(which);

  it('skills are imported, listed, shown, and exported as the same files', async () => {
    const from = writeSkills(['sort-keys', 'sign-commits']);
    const before = await newest();
    expect(await json('lessons', 'import', from)).toMatchObject({ faults: [], generation: before + 1 });
    const list = await json('lessons', 'list');
    expect(namesOf(list)).toEqual(expect.arrayContaining(['sort-keys', 'sign-commits']));
    expect(list[0]).toMatchObject({
      kind: 'skill',
      state: 'live',
      revision: 1,
      scope: {},
    });
    expect((await cli('lessons', 'show', 'sort-keys')).stdout).toContain('Do it.');
    const again = await json('lessons', 'import', from);
    expect(again.done.map(({ what }: { what: string }) => what)).toEqual(['unchanged', 'unchanged']);
    const out = path.join(scratch, `out-${which.length}`);
    await cli('lessons', 'export', out);
    const file = readFileSync(path.join(out, 'sort-keys', 'SKILL.md'), 'utf8');
    expect(file).toContain('When you need sort-keys.');
    expect(file).toContain('Do it.');
    expect((await json('lessons', 'import', out)).done).toHaveLength(list.length);
    expect(await newest()).toBe(before + 1);
  });

  it('a skill is marked for every task and unmarked, each time as a new revision of the same text', async () => {
    await json('lessons', 'import', writeSkills(['answer-in-german']));
    expect((await json('lessons', 'always', 'answer-in-german')).isAlways).toBe(true);
    const marked = await json('lessons', 'show', 'answer-in-german');
    expect(marked).toMatchObject({ revision: 2, isAlways: true, content: 'Do it.' });
    expect((await cli('lessons', 'always', 'answer-in-german')).stdout).toContain('already');
    await cli('lessons', 'always', 'answer-in-german', '--off');
    const unmarked = await json('lessons', 'show', 'answer-in-german');
    expect(unmarked.revision).toBe(3);
    expect(unmarked.isAlways).toBeUndefined();
  });

  it('a proposed skill is approved to trial, then to live, pinned, frozen and retired', async () => {
    const before = await newest();
    await cli('lessons', 'import', writeSkills(['a-skill']), '--as', 'proposed');
    expect(await newest()).toBe(before);
    const { id } = await json('lessons', 'show', 'a-skill');
    for (const [command, after] of [
      ['approve', 'trial'],
      ['approve', 'live'],
      ['pin', 'live'],
      ['freeze', 'live'],
      ['retire', 'retired'],
    ] as const) {
      const args = ['lessons', command, id, '--home', home.dir];
      const { code } = await runInProcess(args, {}, { keys: ['y'] });
      expect(code).toBe(0);
      expect((await json('lessons', 'show', id)).state).toBe(after);
    }
    expect(namesOf(await json('lessons', 'list'))).not.toContain('a-skill');
    expect(await json('lessons', 'list', '--all')).toContainEqual(
      expect.objectContaining({ name: 'a-skill', pinned: true, frozen: true }),
    );
    expect((await json('lessons', 'show', 'a-skill')).state).toBe('retired');
  });

  it('two generations are compared, and a rollback makes a new one', async () => {
    const { generation: first } = await json('lessons', 'import', writeSkills(['first']));
    await cli('lessons', 'import', writeSkills(['second']));
    await cli('lessons', 'retire', 'first');
    expect((await cli('generations', 'diff', String(first))).stdout).toMatch(/\+ Second.*\n- First/);
    const back = await json('generations', 'rollback', String(first));
    expect(back.generation).toBe(first + 3);
    const live = namesOf(await json('lessons', 'list'));
    expect(live).toContain('first');
    expect(live).not.toContain('second');
    expect((await json('generations', 'list'))[0]).toMatchObject({
      generation: first + 3,
      at: expect.any(String),
      reason: expect.stringContaining(String(first)),
    });
  });

  it('errors name the problem and the fix', async () => {
    await cli('lessons', 'import', writeSkills(['node-version']));
    const missing = await cli('lessons', 'show', 'node-versoin');
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('instar lessons list') });
    expect(missing.stderr).toContain('closest: "node-version"');
    expect(await cli('generations', 'rollback', '999')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no generation 999'),
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

describe.each(['no daemon', 'a running daemon'].slice(0, countOf(1, 2)))('a review with %s', (which) => {
  useHome(which);

  it('lists lessons that wait and duplicates, and merges them with --apply', async () => {
    const body = '1. Open the ledger.\n2. Sort the rows by their booking day.\n3. Save the file.\n';
    await cli('lessons', 'import', writeSkills(['sort-the-rows'], body));
    await cli('lessons', 'import', writeSkills(['sort-the-rows-again'], body));
    const other = writeSkills(['waiting-one'], 'Something else entirely.\n');
    await cli('lessons', 'import', other, '--as', 'proposed');
    const review = await json('lessons', 'review');
    expect(review.waiting).toMatchObject([{ name: 'waiting-one' }]);
    expect(review.same).toHaveLength(1);
    expect((await cli('lessons', 'review', '--apply')).stdout).toContain('done; generation 3');
    expect(await json('lessons', 'list', '--state', 'live')).toHaveLength(1);
  });
});
