import { renameSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { createMirrorFiles, writePublishedSkills } from '../../../src/lessons/skill-files/mirror-files.ts';
import { createMirrorMemory } from '../../../src/lessons/skill-files/mirror-records.ts';
import { createScanner } from '../../../src/lessons/skill-files/scan-skills.ts';
import { eachWithTwoSkills } from './each-with-two-skills.ts';
import { filesIn } from './open-mirror.ts';
import { addSkill, lessonOf, publish, skillText, textOf } from './skill-folders.ts';

const now = eachWithTwoSkills();
const { at, read, revise, whileClosed } = now;

describe('after a kill between writing files and recording them', () => {
  /** The mirror's steps up to the last file, and none after it. */
  const writeAndDie = async (isWritten: (folder: string) => boolean): Promise<void> => {
    const memory = createMirrorMemory(now.dir);
    const files = createMirrorFiles(now.dir);
    const { records } = await memory.load();
    const { seen } = await createScanner(now.dir, systemClock)(records);
    const wanted = new Map(now.library.shown(Date.now()).map((lesson) => [lesson.text.name, lesson]));
    await writePublishedSkills(records, seen, wanted, {
      memory,
      files: {
        ...files,
        write: async (folder, text, over) => isWritten(folder) && (await files.write(folder, text, over)),
      },
      fault: (folder, why) => expect.fail(`${folder} ${why}`),
      isStopped: () => false,
      waiting: () => undefined,
    });
  };
  const states = (): unknown => now.library.lessons().map(({ id, state, revision }) => [id, state, revision]);

  it('a skill that was retired meanwhile stays retired, and its file is removed', async () => {
    await whileClosed(async () => {
      await publish(now.library, addSkill('c', textOf('three')), addSkill('d', textOf('four')));
      await writeAndDie((folder) => folder === 'three');
      expect(Object.keys(filesIn(now.dir))).toEqual(['one/SKILL.md', 'three/SKILL.md', 'two/SKILL.md']);
      await publish(now.library, { op: 'retire', id: 'c', reason: 'harmful' });
    });
    expect(states()).toEqual([
      ['a', 'live', 1],
      ['b', 'live', 1],
      ['c', 'retired', 1],
      ['d', 'live', 1],
    ]);
    expect(Object.keys(filesIn(now.dir))).toEqual(['four/SKILL.md', 'one/SKILL.md', 'two/SKILL.md']);
    expect(now.mirror.told).toEqual([]);
  });

  it('the next change by a person is an edit of the new file if it was written, else of the old one', async () => {
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
    await now.mirror.settle();
    expect(now.mirror.told).toEqual([]);
    expect(now.library.lessons().map(({ text, revision }) => [text.content, revision])).toEqual([
      ['Mine.', 3],
      ['Mine.', 3],
    ]);
  });

  it('a moved folder that was not recorded is moved again, and nothing is set aside', async () => {
    await whileClosed(async () => {
      const { text, revision } = lessonOf(now.library, 'a');
      await publish(now.library, { op: 'revise', id: 'a', from: revision, text: { ...text, name: 'uno' } });
      renameSync(at('one'), at('uno'));
    });
    expect(now.mirror.told).toEqual([]);
    expect(Object.keys(filesIn(now.dir))).toEqual(['two/SKILL.md', 'uno/SKILL.md']);
    expect(read('uno/SKILL.md')).toContain('name: uno\n');
    expect(now.library.lesson('a')?.revision).toBe(2);
  });
});
