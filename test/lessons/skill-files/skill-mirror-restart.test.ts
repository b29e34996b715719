import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { eachWithTwoSkills } from './each-with-two-skills.ts';
import { filesIn, openMirror } from './open-mirror.ts';
import { addSkill, plant, publish, scratch, skillText, textOf } from './skill-folders.ts';

const now = eachWithTwoSkills();
const { at, read, change, revise, whileClosed } = now;
const forget = (): void => rmSync(at('.mirror.json'));
const YOURS =
  'is your version of a skill that changed in the library meanwhile: copy what you need from it, and delete it';

describe('changes while the mirror was not running', () => {
  it('edits, additions, renames and deletions by a person are published at the start', async () => {
    await publish(now.library, addSkill('c', textOf('three')));
    await now.mirror.settle();
    await whileClosed(() => {
      change('one/SKILL.md', 'Do it.', 'Edited.');
      rmSync(at('two'), { recursive: true });
      renameSync(at('three'), at('tre'));
      plant(now.dir, { 'four/SKILL.md': skillText('four') });
    });
    expect(now.library.lesson('a')).toMatchObject({ revision: 2, text: { content: 'Edited.' } });
    expect(now.library.lesson('b')?.state).toBe('retired');
    expect(now.library.lesson('c')).toMatchObject({ state: 'trial', text: { name: 'tre' } });
    expect(now.library.find('four')?.state).toBe('proposed');
    expect(Object.keys(filesIn(now.dir))).toEqual(['four/SKILL.md', 'one/SKILL.md', 'tre/SKILL.md']);
  });

  it('changes of the library are written to the files, and nothing is published', async () => {
    await whileClosed(async () => {
      await revise('a', 'Newer.');
      await publish(now.library, { op: 'retire', id: 'b', reason: 'old' }, addSkill('c', textOf('three')));
    });
    expect(Object.keys(filesIn(now.dir))).toEqual(['one/SKILL.md', 'three/SKILL.md']);
    expect(read('one/SKILL.md')).toContain('Newer.');
    expect(now.library.lesson('a')?.revision).toBe(2);
  });

  it("changes on both sides: the library's revision stays, and the edit is set aside and reported until it is deleted", async () => {
    await whileClosed(async () => {
      change('one/SKILL.md', 'Do it.', 'Mine.');
      await revise('a', 'Theirs.');
    });
    expect(now.library.lesson('a')).toMatchObject({ revision: 2, text: { content: 'Theirs.' } });
    expect(read('one/SKILL.md')).toContain('Theirs.');
    expect(read('one/SKILL.md.yours')).toContain('Mine.');
    expect(now.mirror.told).toEqual([{ file: at('one/SKILL.md.yours'), why: YOURS }]);
    await whileClosed(async () => {
      change('one/SKILL.md', 'Theirs.', 'Mine again.');
      await revise('a', 'Theirs again.');
    });
    expect(read('one/SKILL.md.yours')).toContain('Mine.');
    expect(read('one/SKILL.md.yours-2')).toContain('Mine again.');
    // Moved over the library's version, it is an ordinary edit.
    renameSync(at('one/SKILL.md.yours-2'), at('one/SKILL.md'));
    rmSync(at('one/SKILL.md.yours'));
    await now.mirror.settle();
    expect(now.mirror.faults()).toEqual([]);
    expect(now.library.lesson('a')).toMatchObject({ revision: 4, text: { content: 'Mine again.' } });
  });

  it('the same change on both sides is no conflict', async () => {
    await whileClosed(async () => {
      change('one/SKILL.md', 'Do it.', 'Same.');
      await revise('a', 'Same.');
    });
    expect(now.mirror.told).toEqual([]);
    expect(now.library.lesson('a')?.revision).toBe(2);
    change('one/SKILL.md', 'Same.', 'And on.');
    await now.mirror.settle();
    expect(now.library.lesson('a')).toMatchObject({ revision: 3, text: { content: 'And on.' } });
  });

  it('an edited skill that the library retired stays retired, and the edit is set aside', async () => {
    await whileClosed(async () => {
      change('one/SKILL.md', 'Do it.', 'Mine.');
      await publish(now.library, { op: 'retire', id: 'a', reason: 'harmful' });
    });
    expect(now.library.lesson('a')?.state).toBe('retired');
    expect(existsSync(at('one/SKILL.md'))).toBe(false);
    expect(read('one/SKILL.md.yours')).toContain('Mine.');
  });

  it('a deleted skill that the library revised is written again, and reported', async () => {
    await whileClosed(async () => {
      rmSync(at('one'), { recursive: true });
      await revise('a', 'Theirs.');
    });
    expect(now.library.lesson('a')?.state).toBe('live');
    expect(read('one/SKILL.md')).toContain('Theirs.');
    expect(now.mirror.told).toMatchObject([
      { why: expect.stringContaining('was deleted, but the library has a newer revision') },
    ]);
  });

  it('a temporary file of a killed process is removed', async () => {
    await whileClosed(() =>
      plant(now.dir, { 'one/.SKILL.md.1.1.instar-tmp': 'half', '.x.instar-tmp': 'half' }),
    );
    expect(existsSync(at('one/.SKILL.md.1.1.instar-tmp'))).toBe(false);
    expect(existsSync(at('.x.instar-tmp'))).toBe(false);
  });
});

describe('a mirror whose records are lost', () => {
  it('recognises the files that it wrote, and updates them', async () => {
    await publish(now.library, addSkill('c', textOf('three'), 'trial'));
    await now.mirror.settle();
    await whileClosed(async () => {
      forget();
      await revise('a', 'Newer.');
      await publish(
        now.library,
        { op: 'retire', id: 'b', reason: 'old' },
        { op: 'move', id: 'c', to: 'live' },
      );
    });
    expect(now.mirror.told).toEqual([]);
    expect(now.library.lessons().map(({ state, revision }) => [state, revision])).toEqual([
      ['live', 2],
      ['retired', 1],
      ['live', 1],
    ]);
    expect(Object.keys(filesIn(now.dir))).toEqual(['one/SKILL.md', 'three/SKILL.md']);
    expect(read('one/SKILL.md')).toContain('Newer.');
    expect(read('three/SKILL.md')).toContain('instar-state: "live"');
  });

  it('recognises them also when one pass has no time for all files (a retired skill is not proposed again)', async () => {
    await now.mirror.close();
    forget();
    await publish(
      now.library,
      { op: 'retire', id: 'a', reason: 'old' },
      { op: 'retire', id: 'b', reason: 'old' },
    );
    let monotonic = 0;
    const clock = { ...systemClock, monotonic: () => (monotonic += 60) };
    await openMirror(now.dir, now.library, { clock });
    expect(now.library.lessons().map(({ state }) => state)).toEqual(['retired', 'retired']);
    expect(Object.keys(filesIn(now.dir))).toEqual([]);
  });

  it('publishes an edit of the newest revision, and treats one of an older revision as a conflict', async () => {
    await whileClosed(async () => {
      forget();
      change('one/SKILL.md', 'Do it.', 'Mine.');
      change('two/SKILL.md', 'Do it.', 'Mine too.');
      await revise('b', 'Theirs.');
    });
    expect(now.library.lesson('a')).toMatchObject({ revision: 2, text: { content: 'Mine.' } });
    expect(now.library.lesson('b')).toMatchObject({ revision: 2, text: { content: 'Theirs.' } });
    expect(read('two/SKILL.md.yours')).toContain('Mine too.');
  });

  it('sets a foreign file of the same name aside, and adopts one with the same content', async () => {
    await whileClosed(() => {
      forget();
      plant(now.dir, { 'one/SKILL.md': skillText('one', 'Other.'), 'two/SKILL.md': skillText('two') });
    });
    expect(now.library.lessons().map(({ revision }) => revision)).toEqual([1, 1]);
    expect(read('one/SKILL.md.yours')).toBe(skillText('one', 'Other.'));
    expect(read('two/SKILL.md')).toBe(skillText('two'));
  });

  it('with no records at all, proposes a retired skill again when its folder is put back', async () => {
    const bytes = read('one/SKILL.md');
    await now.mirror.close();
    await publish(
      now.library,
      { op: 'retire', id: 'a', reason: 'old' },
      { op: 'retire', id: 'b', reason: 'old' },
    );
    const empty = scratch();
    const other = await openMirror(empty, now.library);
    plant(empty, { 'one/SKILL.md': bytes });
    await other.settle();
    expect(now.library.lessons().map(({ state }) => state)).toEqual(['proposed', 'retired']);
    expect(Object.keys(filesIn(empty))).toEqual(['one/SKILL.md']);
  });

  it('treats damaged records as lost', async () => {
    for (const text of [
      '',
      '{',
      '[]',
      '{"version":2,"files":{}}',
      '{"version":1,"files":{"one":{"id":1},"__proto__":{}}}',
    ]) {
      await whileClosed(() => writeFileSync(at('.mirror.json'), text));
      expect(now.mirror.told).toEqual([]);
      expect(now.library.lessons().map(({ state, revision }) => [state, revision])).toEqual([
        ['live', 1],
        ['live', 1],
      ]);
    }
  });
});

describe('a library that lost its lessons', () => {
  it('gets them back from the folder with their ids as proposals, and deletes no file', async () => {
    await publish(now.library, addSkill('c', textOf('three'), 'trial'));
    await now.mirror.settle();
    const before = filesIn(now.dir);
    await whileClosed(now.loseLessons);
    expect(now.library.lessons().map(({ id, state }) => [id, state])).toEqual([
      ['a', 'proposed'],
      ['b', 'proposed'],
      ['c', 'proposed'],
    ]);
    expect(filesIn(now.dir)).toEqual(before);
  });
});
