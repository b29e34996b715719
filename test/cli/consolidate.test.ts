import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chooseLessons } from '../../src/cli/consolidate-lessons.ts';
import { makeHome } from '../support/daemon.ts';
import { runInProcess } from './run-cli.ts';

let scratch: string;
let home: ReturnType<typeof makeHome>;
beforeEach(async () => {
  scratch = mkdtempSync(path.join(tmpdir(), 'instar-skills-'));
  home = makeHome({});
});
afterEach(() => {
  home.remove();
  rmSync(scratch, { recursive: true, force: true });
});

const BODY = '1. Open the ledger.\n2. Sort the rows by their booking day.\n3. Save the file.\n';
const person = (...args: string[]) => runInProcess([...args, '--home', home.dir], {}, { keys: ['y'] });
const script = (...args: string[]) => runInProcess([...args, '--home', home.dir]);
const names = async (): Promise<readonly string[]> =>
  JSON.parse((await script('lessons', 'list', '--json')).stdout).map(({ name }: { name: string }) => name);

async function importTwins(): Promise<void> {
  for (const name of ['sort-the-rows', 'sort-the-rows-again']) {
    mkdirSync(path.join(scratch, name));
    const head = `---\nname: ${name}\ndescription: When you sort the rows of a ledger.\n---\n\n`;
    writeFileSync(path.join(scratch, name, 'SKILL.md'), `${head}${BODY}`);
  }
  await person('lessons', 'import', scratch);
}

describe('instar lessons consolidate', () => {
  it('says that there is nothing to do, and changes nothing', async () => {
    expect((await script('lessons', 'consolidate')).stdout).toContain('nothing to consolidate');
  });

  it('changes nothing in a script without --yes, and says how', async () => {
    await importTwins();
    const { code, stdout, stderr } = await script('lessons', 'consolidate');
    expect(code).toBe(0);
    expect(stdout).toContain('“Sort the rows” and “Sort the rows again”');
    expect(stderr).toContain('instar lessons consolidate --yes');
    expect(await names()).toHaveLength(2);
  });

  it('merges duplicates when a person agrees, and the lost name is explained as merged', async () => {
    await importTwins();
    expect((await person('lessons', 'consolidate')).stdout).toContain('1 change made; generation 2');
    const [kept] = await names();
    const all = JSON.parse((await script('lessons', 'list', '--all', '--json')).stdout);
    const merged = all.find(({ name }: { name: string }) => name !== kept);
    expect(merged.closed).toMatchObject({
      by: 'merge',
      words: `merged into “${all.find(({ name }: { name: string }) => name === kept).title}”`,
    });
    expect((await script('lessons', 'show', String(kept))).stdout).toMatch(
      new RegExp(`replaces\\s+${merged.title} \\(retired\\)`),
    );
    expect((await script('lessons', 'show', merged.name)).stdout).toMatch(/replaced by\s+Sort the rows\n/);
  });

  it('shows with --plan what it would do and why, also where --yes is given, and does nothing', async () => {
    await importTwins();
    const { stdout } = await script('lessons', 'consolidate', '--plan', '--yes');
    expect(stdout).toMatch(/“Sort the rows” and “Sort the rows again”: .*says the same/);
    expect(await names()).toHaveLength(2);
  });

  it('lists what may be a contradiction, and retires neither', async () => {
    for (const to of ['Anna', 'Boris']) {
      const name = `send-to-${to.toLowerCase()}`;
      mkdirSync(path.join(scratch, name));
      const head = `---\nname: ${name}\ndescription: When you send the report about the shop.\n---\n\n`;
      writeFileSync(
        path.join(scratch, name, 'SKILL.md'),
        `${head}Send the report about the shop to ${to}.\n`,
      );
    }
    await person('lessons', 'import', scratch);
    const { stdout } = await script('lessons', 'consolidate', '--yes');
    expect(stdout).toMatch(
      /possible contradiction\s+“Send to anna” and “Send to boris”: another value: “Anna” and “Boris”/,
    );
    expect(await names()).toHaveLength(2);
  });

  it('merges with --yes, once', async () => {
    await importTwins();
    const done = JSON.parse((await script('lessons', 'consolidate', '--yes', '--json')).stdout);
    expect(done).toMatchObject({ done: true, generation: 2 });
    expect((await script('lessons', 'consolidate', '--yes')).stdout).toContain('nothing to consolidate');
  });
});

describe('instar lessons keep', () => {
  it('brings a retired lesson back when the owner agrees; a search finds it', async () => {
    await importTwins();
    await script('lessons', 'retire', 'sort-the-rows-again');
    expect(await names()).toEqual(['sort-the-rows']);
    const found = await script('lessons', 'list', '--all', '--search', 'Booking Day', '--json');
    expect(JSON.parse(found.stdout)).toHaveLength(2);
    expect((await script('lessons', 'list', '--search', 'no such words')).stderr).toContain(
      'no lesson is in use',
    );
    expect((await script('lessons', 'list', '--archived')).stderr).toContain('no lesson is archived');
    expect((await script('lessons', 'restore', 'sort-the-rows-again')).code).not.toBe(0);
    expect((await person('lessons', 'restore', 'sort-the-rows-again')).stdout).toContain('is now in use');
    expect(await names()).toHaveLength(2);
    expect(await person('lessons', 'keep', 'sort-the-rows')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('is already in use'),
    });
  });
});

describe('the archive', () => {
  it('is searched by words in any order, in names, descriptions and texts; what a person retired is not in it', async () => {
    const text = { name: 'sort-rows', description: 'When you sort a ledger.', content: 'By booking day.' };
    const all = ['unused', 'other', 'retired'].map((id) => ({
      id,
      text: id === 'other' ? { ...text, content: '' } : text,
    }));
    const isChosen = await chooseLessons({ all: async () => all }, true, 'Day ledger');
    const lesson = (id: string, reason: string) => ({ id, state: 'retired', reason });
    expect(isChosen(lesson('unused', 'archived: no session needed it for 130 days'))).toBe(true);
    expect(isChosen(lesson('other', 'archived: no session needed it for 130 days'))).toBe(false);
    expect(isChosen(lesson('retired', 'not needed'))).toBe(false);
  });
});

describe('without a daemon', () => {
  it('learning is turned off for the next start, and the list names the next step', async () => {
    expect((await script('learning', 'off')).code).toBe(0);
    expect(JSON.parse((await script('learning', '--json')).stdout)).toMatchObject({
      on: false,
      running: false,
    });
    const { stdout } = await script('lessons', 'list');
    expect(stdout).toContain('nothing learned yet: learning is off');
    expect(stdout).toContain('instar learning on');
  });

  it('today and review say that nothing happened, and end with 0', async () => {
    expect((await script('today')).stdout).toContain('no new lesson');
    expect((await script('lessons', 'review')).stderr).toContain('nothing waits');
  });

  it('a list of retired lessons says what retired each', async () => {
    await importTwins();
    for (const name of ['sort-the-rows', 'sort-the-rows-again']) await script('lessons', 'retire', name);
    const { stdout, stderr } = await script('lessons', 'list');
    expect(stdout).toContain('no lesson is in use: Sort the rows (retired by you)');
    expect(stderr).toContain('instar lessons list --all');
  });
});
