import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Library } from '../../../src/core/library.ts';
import { filesIn, type OpenMirror, openMirror } from './open-mirror.ts';
import {
  addSkill,
  lessonOf,
  openMemoryLibrary,
  plant,
  publish,
  scratch,
  skillText,
  textOf,
} from './skill-folders.ts';

let library: Library;
let dir: string;
let mirror: OpenMirror;
const at = (...parts: string[]): string => join(dir, ...parts);
const read = (path: string): string => readFileSync(at(path), 'utf8');
const change = (path: string, from: string, to: string): void =>
  writeFileSync(at(path), read(path).replace(from, to));
const revise = (id: string, content: string): Promise<unknown> => {
  const { text, revision } = lessonOf(library, id);
  return publish(library, { op: 'revise', id, from: revision, text: { ...text, content } });
};
/** Stops the mirror, lets things happen, and starts another one. */
const whileClosed = async (work: () => unknown): Promise<void> => {
  await mirror.close();
  await work();
  mirror = await openMirror(dir, library);
};
const forget = (): void => rmSync(at('.mirror.json'));
const YOURS =
  'is your version of a skill that had changed meanwhile: take from it what you need, and delete it';

beforeEach(async () => {
  library = await openMemoryLibrary();
  dir = join(scratch(), 'skills');
  await publish(library, addSkill('a', textOf('one')), addSkill('b', textOf('two')));
  mirror = await openMirror(dir, library);
});

describe('while nothing ran', () => {
  it('a person edited, added, renamed and deleted: all of it is published at the start', async () => {
    await publish(library, addSkill('c', textOf('three')));
    await mirror.settle();
    await whileClosed(() => {
      change('one/SKILL.md', 'Do it.', 'Edited.');
      rmSync(at('two'), { recursive: true });
      renameSync(at('three'), at('tre'));
      plant(dir, { 'four/SKILL.md': skillText('four') });
    });
    expect(library.lesson('a')).toMatchObject({ revision: 2, text: { content: 'Edited.' } });
    expect(library.lesson('b')?.state).toBe('retired');
    expect(library.lesson('c')).toMatchObject({ state: 'live', text: { name: 'tre' } });
    expect(library.find('four')?.state).toBe('live');
    expect(Object.keys(filesIn(dir))).toEqual(['four/SKILL.md', 'one/SKILL.md', 'tre/SKILL.md']);
  });

  it('the library went on: the files follow, and nothing is published', async () => {
    await whileClosed(async () => {
      await revise('a', 'Newer.');
      await publish(library, { op: 'retire', id: 'b', reason: 'old' }, addSkill('c', textOf('three')));
    });
    expect(Object.keys(filesIn(dir))).toEqual(['one/SKILL.md', 'three/SKILL.md']);
    expect(read('one/SKILL.md')).toContain('Newer.');
    expect(library.lesson('a')?.revision).toBe(2);
  });

  it('both went on: the library stays, the edit is kept beside it and told of until it is taken away', async () => {
    await whileClosed(async () => {
      change('one/SKILL.md', 'Do it.', 'Mine.');
      await revise('a', 'Theirs.');
    });
    expect(library.lesson('a')).toMatchObject({ revision: 2, text: { content: 'Theirs.' } });
    expect(read('one/SKILL.md')).toContain('Theirs.');
    expect(read('one/SKILL.md.yours')).toContain('Mine.');
    expect(mirror.told).toEqual([{ file: at('one/SKILL.md.yours'), why: YOURS }]);
    await whileClosed(async () => {
      change('one/SKILL.md', 'Theirs.', 'Mine again.');
      await revise('a', 'Theirs again.');
    });
    expect(read('one/SKILL.md.yours')).toContain('Mine.');
    expect(read('one/SKILL.md.yours-2')).toContain('Mine again.');
    // Put in the place of the library's version it is an edit like any other.
    renameSync(at('one/SKILL.md.yours-2'), at('one/SKILL.md'));
    rmSync(at('one/SKILL.md.yours'));
    await mirror.settle();
    expect(mirror.faults()).toEqual([]);
    expect(library.lesson('a')).toMatchObject({ revision: 4, text: { content: 'Mine again.' } });
  });

  it('both came to the same words: there is no conflict', async () => {
    await whileClosed(async () => {
      change('one/SKILL.md', 'Do it.', 'Same.');
      await revise('a', 'Same.');
    });
    expect(mirror.told).toEqual([]);
    expect(library.lesson('a')?.revision).toBe(2);
    change('one/SKILL.md', 'Same.', 'And on.');
    await mirror.settle();
    expect(library.lesson('a')).toMatchObject({ revision: 3, text: { content: 'And on.' } });
  });

  it('a skill was edited that the library retired: it stays retired, and the edit is kept', async () => {
    await whileClosed(async () => {
      change('one/SKILL.md', 'Do it.', 'Mine.');
      await publish(library, { op: 'retire', id: 'a', reason: 'harmful' });
    });
    expect(library.lesson('a')?.state).toBe('retired');
    expect(existsSync(at('one/SKILL.md'))).toBe(false);
    expect(read('one/SKILL.md.yours')).toContain('Mine.');
  });

  it('a skill was deleted that the library revised: the new version is there, and it is told of', async () => {
    await whileClosed(async () => {
      rmSync(at('one'), { recursive: true });
      await revise('a', 'Theirs.');
    });
    expect(library.lesson('a')?.state).toBe('live');
    expect(read('one/SKILL.md')).toContain('Theirs.');
    expect(mirror.told).toMatchObject([
      { why: expect.stringContaining('was deleted, but the library has a newer version') },
    ]);
  });

  it('a killed process left a half-written file: it is taken away', async () => {
    await whileClosed(() => plant(dir, { 'one/.SKILL.md.1.1.instar-tmp': 'half', '.x.instar-tmp': 'half' }));
    expect(existsSync(at('one/.SKILL.md.1.1.instar-tmp'))).toBe(false);
    expect(existsSync(at('.x.instar-tmp'))).toBe(false);
  });
});

describe('when the mirror has forgotten everything', () => {
  it('files that it wrote are known again, and follow what the library did since', async () => {
    await publish(library, addSkill('c', textOf('three'), 'trial'));
    await mirror.settle();
    await whileClosed(async () => {
      forget();
      await revise('a', 'Newer.');
      await publish(library, { op: 'retire', id: 'b', reason: 'old' }, { op: 'move', id: 'c', to: 'live' });
    });
    expect(mirror.told).toEqual([]);
    expect(library.lessons().map(({ state, revision }) => [state, revision])).toEqual([
      ['live', 2],
      ['retired', 1],
      ['live', 1],
    ]);
    expect(Object.keys(filesIn(dir))).toEqual(['one/SKILL.md', 'three/SKILL.md']);
    expect(read('one/SKILL.md')).toContain('Newer.');
    expect(read('three/SKILL.md')).toContain('instar-state: "live"');
  });

  it('an edit of the newest revision is an edit, one of an older revision is a conflict', async () => {
    await whileClosed(async () => {
      forget();
      change('one/SKILL.md', 'Do it.', 'Mine.');
      change('two/SKILL.md', 'Do it.', 'Mine too.');
      await revise('b', 'Theirs.');
    });
    expect(library.lesson('a')).toMatchObject({ revision: 2, text: { content: 'Mine.' } });
    expect(library.lesson('b')).toMatchObject({ revision: 2, text: { content: 'Theirs.' } });
    expect(read('two/SKILL.md.yours')).toContain('Mine too.');
  });

  it('a file of the same name by someone else is kept beside, and one that says the same is taken', async () => {
    await whileClosed(() => {
      forget();
      plant(dir, { 'one/SKILL.md': skillText('one', 'Other.'), 'two/SKILL.md': skillText('two') });
    });
    expect(library.lessons().map(({ revision }) => revision)).toEqual([1, 1]);
    expect(read('one/SKILL.md.yours')).toBe(skillText('one', 'Other.'));
    expect(read('two/SKILL.md')).toBe(skillText('two'));
  });

  it('but not when it had nothing to remember: a retired skill that is put back is live again', async () => {
    const bytes = read('one/SKILL.md');
    await mirror.close();
    await publish(
      library,
      { op: 'retire', id: 'a', reason: 'old' },
      { op: 'retire', id: 'b', reason: 'old' },
    );
    const empty = scratch();
    const other = await openMirror(empty, library);
    plant(empty, { 'one/SKILL.md': bytes });
    await other.settle();
    expect(library.lessons().map(({ state }) => state)).toEqual(['live', 'retired']);
    expect(Object.keys(filesIn(empty))).toEqual(['one/SKILL.md']);
  });

  it('a damaged memory is none', async () => {
    for (const text of [
      '',
      '{',
      '[]',
      '{"version":2,"files":{}}',
      '{"version":1,"files":{"one":{"id":1},"__proto__":{}}}',
    ]) {
      await whileClosed(() => writeFileSync(at('.mirror.json'), text));
      expect(mirror.told).toEqual([]);
      expect(library.lessons().map(({ state, revision }) => [state, revision])).toEqual([
        ['live', 1],
        ['live', 1],
      ]);
    }
  });
});

describe('a library that lost its lessons', () => {
  it('gets them back from the folder under their ids, and deletes no file', async () => {
    await publish(library, addSkill('c', textOf('three'), 'trial'));
    await mirror.settle();
    const before = filesIn(dir);
    await whileClosed(async () => {
      library = await openMemoryLibrary();
    });
    expect(library.lessons().map(({ id, state }) => [id, state])).toEqual([
      ['a', 'live'],
      ['b', 'live'],
      ['c', 'trial'],
    ]);
    expect(filesIn(dir)).toEqual(before);
  });
});
