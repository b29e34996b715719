import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { Library } from '../../../src/core/library.ts';
import { followLibrary } from '../../../src/library/skill-file/follow-library.ts';
import { createMirrorFiles } from '../../../src/library/skill-file/mirror-files.ts';
import { createMirrorMemory } from '../../../src/library/skill-file/mirror-memory.ts';
import { createScanner } from '../../../src/library/skill-file/scan-skills.ts';
import { filesIn, type OpenMirror, openMirror } from './open-mirror.ts';
import {
  addSkill,
  lessonOf,
  openMemoryLibrary,
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

beforeEach(async () => {
  library = await openMemoryLibrary();
  dir = join(scratch(), 'skills');
  await publish(library, addSkill('a', textOf('one')), addSkill('b', textOf('two')));
  mirror = await openMirror(dir, library);
});

describe('when the process was killed between writing files and remembering them', () => {
  /** The mirror's own steps up to the last file, and then nothing more. */
  const writeAndDie = async (isWritten: (folder: string) => boolean): Promise<void> => {
    const memory = createMirrorMemory(dir);
    const files = createMirrorFiles(dir);
    const { records } = await memory.load();
    const { seen } = await createScanner(dir, systemClock)(records);
    const wanted = new Map(library.shown(Date.now()).map((lesson) => [lesson.text.name, lesson]));
    await followLibrary(records, seen, wanted, {
      memory,
      files: {
        ...files,
        write: async (folder, text, over) => isWritten(folder) && (await files.write(folder, text, over)),
      },
      fault: (folder, why) => expect.fail(`${folder} ${why}`),
      isStopped: () => false,
    });
  };
  const states = (): unknown => library.lessons().map(({ id, state, revision }) => [id, state, revision]);

  it('a skill that was retired then stays retired, and its file goes', async () => {
    await whileClosed(async () => {
      await publish(library, addSkill('c', textOf('three')), addSkill('d', textOf('four')));
      await writeAndDie((folder) => folder === 'three');
      expect(Object.keys(filesIn(dir))).toEqual(['one/SKILL.md', 'three/SKILL.md', 'two/SKILL.md']);
      await publish(library, { op: 'retire', id: 'c', reason: 'harmful' });
    });
    expect(states()).toEqual([
      ['a', 'live', 1],
      ['b', 'live', 1],
      ['c', 'retired', 1],
      ['d', 'live', 1],
    ]);
    expect(Object.keys(filesIn(dir))).toEqual(['four/SKILL.md', 'one/SKILL.md', 'two/SKILL.md']);
    expect(mirror.told).toEqual([]);
  });

  it('what a person does next is an edit: of the new file where it was written, of the old one where it was not', async () => {
    await whileClosed(async () => {
      await revise('a', 'Newer.');
      await revise('b', 'Newer.');
      await writeAndDie((folder) => folder === 'one');
      expect([read('one/SKILL.md'), read('two/SKILL.md')]).toEqual([
        expect.stringContaining('Newer.'),
        expect.not.stringContaining('Newer.'),
      ]);
    });
    expect(read('two/SKILL.md')).toContain('Newer.');
    writeFileSync(at('one/SKILL.md'), skillText('one', 'Mine.'));
    writeFileSync(at('two/SKILL.md'), skillText('two', 'Mine.'));
    await mirror.settle();
    expect(mirror.told).toEqual([]);
    expect(library.lessons().map(({ text, revision }) => [text.content, revision])).toEqual([
      ['Mine.', 3],
      ['Mine.', 3],
    ]);
  });

  it('a folder that was moved and not remembered is moved on, and kept beside nothing', async () => {
    await whileClosed(async () => {
      const { text, revision } = lessonOf(library, 'a');
      await publish(library, { op: 'revise', id: 'a', from: revision, text: { ...text, name: 'uno' } });
      renameSync(at('one'), at('uno'));
    });
    expect(mirror.told).toEqual([]);
    expect(Object.keys(filesIn(dir))).toEqual(['two/SKILL.md', 'uno/SKILL.md']);
    expect(read('uno/SKILL.md')).toContain('name: uno\n');
    expect(library.lesson('a')?.revision).toBe(2);
  });
});
