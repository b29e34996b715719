import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eachWithTwoSkills } from './each-with-two-skills.ts';
import { filesIn, openMirror } from './open-mirror.ts';
import { addSkill, lessonOf, publish, skillText, textOf } from './skill-folders.ts';

const now = eachWithTwoSkills();
const { at, read, revise, whileClosed } = now;
const states = (): unknown => now.library.lessons().map(({ id, state, revision }) => [id, state, revision]);

describe('after a kill between writing files and recording them', () => {
  /** A mirror that writes its files, and whose records stay as they were before. */
  const writeAndDie = async (): Promise<void> => {
    const records = readFileSync(at('.mirror.json'));
    const mirror = await openMirror(now.dir, now.library);
    await mirror.close();
    writeFileSync(at('.mirror.json'), records);
  };

  it('the files that were written are recognised (they are no new skills)', async () => {
    await whileClosed(async () => {
      await publish(now.library, addSkill('c', textOf('three')));
      await writeAndDie();
      await revise('c', 'Newer.');
    });
    expect(states()).toEqual([
      ['a', 'live', 1],
      ['b', 'live', 1],
      ['c', 'live', 2],
    ]);
    expect(read('three/SKILL.md')).toContain('Newer.');
    expect(now.mirror.told).toEqual([]);
  });

  it('a skill that was retired meanwhile waits for a person at most (it is not live)', async () => {
    await whileClosed(async () => {
      await publish(now.library, addSkill('c', textOf('three')));
      await writeAndDie();
      await publish(now.library, { op: 'retire', id: 'c', reason: 'harmful' });
    });
    expect(now.library.lesson('c')?.state).toBe('proposed');
    expect(now.library.shown(Date.now()).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('the next change by a person is an edit of the new file', async () => {
    await whileClosed(async () => {
      await revise('a', 'Newer.');
      await writeAndDie();
    });
    writeFileSync(at('one/SKILL.md'), skillText('one', 'Mine.'));
    await now.mirror.settle();
    expect(now.mirror.told).toEqual([]);
    expect(now.library.lesson('a')).toMatchObject({ revision: 3, text: { content: 'Mine.' } });
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

describe('the folder of a version that kept a journal beside its records', () => {
  it('goes on without it: a name of erased words may stand in the journal', async () => {
    await whileClosed(() => writeFileSync(at('.mirror.log'), '{"of":"x","files":{"private-words":{}}}\n'));
    expect(existsSync(at('.mirror.log'))).toBe(false);
    expect(states()).toEqual([
      ['a', 'live', 1],
      ['b', 'live', 1],
    ]);
    expect(now.mirror.told).toEqual([]);
  });
});
