import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock, systemClock } from '../../../src/core/clock.ts';
import type { Library } from '../../../src/core/library.ts';
import { StoreError } from '../../../src/core/store.ts';
import { createSkillMirror } from '../../../src/lessons/skill-files/skill-mirror.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { filesIn, openMirror, until } from './open-mirror.ts';
import {
  addSkill,
  below,
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
const { at, read, change } = below(() => dir);

beforeEach(async () => {
  library = await openMemoryLibrary();
  dir = join(scratch(), 'skills');
});

describe('the mirror', () => {
  it('writes live and trial skills only, readable by the owner only', async () => {
    await publish(
      library,
      addSkill('a', textOf('one')),
      addSkill('b', textOf('two'), 'trial'),
      { ...addSkill('c', textOf('three')), state: 'proposed' } as never,
      { op: 'add', id: 'd', kind: 'fix', state: 'live', text: textOf('a-fix') },
    );
    await openMirror(dir, library);
    expect(Object.keys(filesIn(dir))).toEqual(['one/SKILL.md', 'two/SKILL.md']);
    expect(statSync(at('one/SKILL.md')).mode & 0o777).toBe(0o600);
    expect(statSync(at('one')).mode & 0o777).toBe(0o700);
  });

  it('writes a new revision and a new state over the old file, and removes retired skills', async () => {
    await publish(library, addSkill('a', textOf('one'), 'trial'), addSkill('b', textOf('two')));
    const mirror = await openMirror(dir, library);
    await publish(
      library,
      { op: 'revise', id: 'a', from: 1, text: textOf('one', 'Better.') },
      { op: 'retire', id: 'b', reason: 'old' },
    );
    await mirror.settle();
    expect(read('one/SKILL.md')).toContain('Better.');
    expect(existsSync(at('two'))).toBe(false);
    await publish(library, { op: 'move', id: 'a', to: 'live' });
    await mirror.settle();
    expect(read('one/SKILL.md')).toContain('instar-state: "live"');
  });

  it('moves the folder of a renamed skill, with the other files in it', async () => {
    await publish(library, addSkill('a', textOf('one')));
    const mirror = await openMirror(dir, library);
    plant(dir, { 'one/notes.txt': 'mine' });
    await publish(library, { op: 'revise', id: 'a', from: 1, text: textOf('uno') });
    await mirror.settle();
    expect(existsSync(at('one'))).toBe(false);
    expect(read('uno/notes.txt')).toBe('mine');
    await publish(library, { op: 'retire', id: 'a', reason: 'old' });
    await mirror.settle();
    expect(readdirSync(at('uno'))).toEqual(['notes.txt']);
  });

  it('writes when something is published, without a call', async () => {
    await openMirror(dir, library);
    await publish(library, addSkill('a', textOf('one')));
    await until(() => existsSync(at('one/SKILL.md')));
  });

  it("keeps other tools' fields in a file that it writes", async () => {
    const mirror = await openMirror(dir, library);
    plant(dir, {
      'one/SKILL.md': '---\nname: one\ndescription: d\nlicense: MIT\nmetadata:\n  author: me\n---\n\nx\n',
    });
    await mirror.settle();
    const { id } = lessonOf(library, 'one');
    await publish(
      library,
      { op: 'move', id, to: 'live' },
      { op: 'revise', id, from: 1, text: textOf('one', 'Better.') },
    );
    await mirror.settle();
    expect(read('one/SKILL.md')).toContain('\nlicense: MIT\nmetadata:\n  author: me\n  instar-id: ');
    expect(read('one/SKILL.md')).toContain('Better.');
  });

  it('writes nothing while folder and library agree', async () => {
    await publish(library, addSkill('a', textOf('one')));
    const mirror = await openMirror(dir, library, { pollMs: 5 });
    plant(dir, { 'two/SKILL.md': skillText('two') });
    await mirror.settle();
    const before = [
      library.generation,
      statSync(at('one/SKILL.md')).mtimeMs,
      statSync(at('.mirror.json')).mtimeMs,
    ];
    await sleep(100);
    await mirror.settle();
    expect([
      library.generation,
      statSync(at('one/SKILL.md')).mtimeMs,
      statSync(at('.mirror.json')).mtimeMs,
    ]).toEqual(before);
  });

  it('gives skills of one name and two scopes a folder each, and does not confuse them', async () => {
    await publish(
      library,
      addSkill('a', textOf('deploy', 'Here.', { scope: { project: 'p' } })),
      addSkill('b', textOf('deploy', 'Anywhere.')),
    );
    const mirror = await openMirror(dir, library);
    const second = Object.keys(filesIn(dir)).find((path) => path.startsWith('deploy--')) ?? '';
    change(second, 'Here.', 'Only here.');
    await mirror.settle();
    expect(library.lesson('a')?.text).toMatchObject({ name: 'deploy', content: 'Only here.' });
    await publish(library, { op: 'retire', id: 'b', reason: 'old' });
    await mirror.settle();
    expect(Object.keys(filesIn(dir))).toEqual(['deploy/SKILL.md']);
    expect(read('deploy/SKILL.md')).toContain('Only here.');
  });
});

describe('an edit in the skills folder', () => {
  it("of a skill is a revision by file with the same evidence, on trial (not live); the file's bytes stay", async () => {
    await publish(library, addSkill('a', textOf('one')));
    const mirror = await openMirror(dir, library);
    change('one/SKILL.md', 'Do it.', 'Do it well.');
    const bytes = read('one/SKILL.md');
    await mirror.settle();
    expect(library.lesson('a')).toMatchObject({
      revision: 2,
      state: 'trial',
      text: { content: 'Do it well.', taint: ['tool'], evidence: { turns: ['turn_1'], learner: 'file' } },
    });
    expect(library.history('a').at(-1)?.by).toEqual({ kind: 'file', name: 'skills folder' });
    expect(read('one/SKILL.md')).toBe(bytes);
    change('one/SKILL.md', 'Do it well.', 'Do it very well.');
    await mirror.settle();
    expect(library.lesson('a')).toMatchObject({ revision: 3, text: { content: 'Do it very well.' } });
  });

  it('is noticed without a call', async () => {
    await publish(library, addSkill('a', textOf('one')));
    await openMirror(dir, library);
    change('one/SKILL.md', 'Do it.', 'First.');
    await until(() => library.lesson('a')?.text.content === 'First.');
    // First an editor that renames over the file, then one that writes into it.
    writeFileSync(at('one/.swap'), read('one/SKILL.md').replace('First.', 'Second.'));
    renameSync(at('one/.swap'), at('one/SKILL.md'));
    await until(() => library.lesson('a')?.text.content === 'Second.');
    change('one/SKILL.md', 'Second.', 'Third.');
    await until(() => library.lesson('a')?.text.content === 'Third.');
    plant(dir, { 'two/SKILL.md': skillText('two') });
    await until(() => library.find('two')?.state === 'proposed');
    rmSync(at('one'), { recursive: true });
    await until(() => library.lesson('a')?.state === 'retired');
  });

  it('is noticed by polling where the file system reports no changes', async () => {
    const watch = () => ({ follow: () => false, close: () => undefined });
    await openMirror(dir, library, { watch, pollMs: 10 });
    plant(dir, { 'two/SKILL.md': skillText('two') });
    await until(() => library.find('two')?.state === 'proposed');
  });

  it('is noticed also between a scan and the watch that it sets up', async () => {
    let isFirst = true;
    const watch = () => ({
      follow: () => {
        if (isFirst) plant(dir, { 'two/SKILL.md': skillText('two') });
        const isNew = isFirst;
        isFirst = false;
        return isNew;
      },
      close: () => undefined,
    });
    // No other cause of a pass: no `settle`, and no poll within a minute.
    const mirror = createSkillMirror({
      dir,
      library,
      clock: systemClock,
      newId: (prefix) => `w${prefix}`,
      lint: () => [],
      onFault: () => undefined,
      quietMs: 10,
      pollMs: 60_000,
      watch,
    });
    onTestFinished(() => mirror.close());
    await until(() => library.find('two')?.state === 'proposed');
  });

  it('that adds a folder proposes a skill with the source `told` (it is not live), and the file stays unchanged', async () => {
    const mirror = await openMirror(dir, library);
    const text =
      '---\r\nname: My Skill\r\ndescription: >-\r\n  When it\r\n  rains.\r\ntags: [wet]\r\n---\r\nTake an umbrella.\r\n';
    plant(dir, { 'my-skill/SKILL.md': text, 'my-skill/scripts/run.sh': '#' });
    await mirror.settle();
    expect(lessonOf(library, 'my-skill')).toMatchObject({
      kind: 'skill',
      state: 'proposed',
      reason: 'a new file in the skills folder',
      text: {
        description: 'When it rains.',
        content: 'Take an umbrella.',
        note: { keywords: ['wet'], source: 'told' },
        evidence: { learner: 'file' },
        taint: [],
      },
    });
    expect(read('my-skill/SKILL.md')).toBe(text);
    expect(mirror.faults()).toEqual([]);
  });

  it('that deletes a folder or its file retires the skill once', async () => {
    await publish(
      library,
      addSkill('a', textOf('one')),
      addSkill('b', textOf('two')),
      addSkill('c', textOf('three')),
    );
    const mirror = await openMirror(dir, library);
    rmSync(at('one'), { recursive: true });
    unlinkSync(at('two/SKILL.md'));
    await mirror.settle();
    expect(library.lessons().map(({ state }) => state)).toEqual(['retired', 'retired', 'live']);
    expect(library.lesson('a')?.reason).toBe('its folder was deleted');
    expect(library.history('a')).toHaveLength(2);
  });

  it('that puts a deleted folder back proposes the same skill again (it is not live)', async () => {
    await publish(library, addSkill('a', textOf('one')));
    const mirror = await openMirror(dir, library);
    cpSync(at('one'), join(dir, '..', 'bin'), { recursive: true });
    rmSync(at('one'), { recursive: true });
    await mirror.settle();
    cpSync(join(dir, '..', 'bin'), at('one'), { recursive: true });
    await mirror.settle();
    expect(library.lesson('a')).toMatchObject({
      state: 'proposed',
      reason: 'its file was put into the skills folder',
    });
    expect(existsSync(at('one/SKILL.md'))).toBe(true);
    await publish(library, { op: 'move', id: 'a', to: 'live' });
    await mirror.settle();
    expect(read('one/SKILL.md')).toContain('instar-state: "live"');
  });

  it('that renames a folder or the skill in its file renames both', async () => {
    await publish(library, addSkill('a', textOf('one')), addSkill('b', textOf('two')));
    const mirror = await openMirror(dir, library);
    renameSync(at('one'), at('uno'));
    change('two/SKILL.md', 'name: two', 'name: due');
    await mirror.settle();
    expect(library.lessons().map(({ state, text }) => [state, text.name])).toEqual([
      ['trial', 'uno'],
      ['trial', 'due'],
    ]);
    expect(Object.keys(filesIn(dir))).toEqual(['due/SKILL.md', 'uno/SKILL.md']);
    expect(read('uno/SKILL.md')).toContain('name: uno');
  });

  it('that copies a folder proposes a second skill with the name of the folder', async () => {
    await publish(library, addSkill('a', textOf('one')));
    const mirror = await openMirror(dir, library);
    cpSync(at('one'), at('one-more'), { recursive: true });
    await mirror.settle();
    const copy = lessonOf(library, 'one-more');
    expect(library.lesson('a')).toMatchObject({ revision: 1, state: 'live', text: { name: 'one' } });
    expect(copy).toMatchObject({ state: 'proposed', text: { content: 'Do it.' } });
    expect(read('one-more/SKILL.md')).toContain(`instar-id: "${copy.id}"`);
  });

  it('is read when the file has settled (not while it is being written)', async () => {
    await publish(library, addSkill('a', textOf('one')));
    const clock = createManualClock(systemClock.now());
    const mirror = await openMirror(dir, library, { clock, pollMs: 5 });
    const whole = read('one/SKILL.md').replace('Do it.', 'First this.\nThen that.');
    writeFileSync(at('one/SKILL.md'), '');
    await sleep(30);
    writeFileSync(at('one/SKILL.md'), whole.slice(0, whole.indexOf('\nThen')));
    await sleep(30);
    // Some editors remove the file for a moment.
    renameSync(at('one/SKILL.md'), at('one/SKILL.md~'));
    await sleep(30);
    writeFileSync(at('one/SKILL.md'), whole);
    const time = setInterval(() => clock.advance(5), 1);
    onTestFinished(() => clearInterval(time));
    await mirror.settle();
    expect(library.history('a').map(({ text }) => text.content)).toEqual([
      'Do it.',
      'First this.\nThen that.',
      // Back on trial.
      'First this.\nThen that.',
    ]);
    expect(mirror.told).toEqual([]);
  });

  it('that makes a file unreadable is reported once, and published when the file is corrected', async () => {
    await publish(library, addSkill('a', textOf('one')));
    const mirror = await openMirror(dir, library);
    plant(dir, { 'one/SKILL.md': 'name: one\n', 'two/SKILL.md': skillText('two', 'x'.repeat(9000)) });
    await mirror.settle();
    await publish(library, { op: 'move', id: 'a', to: 'trial' }, { op: 'move', id: 'a', to: 'live' });
    await mirror.settle();
    expect(mirror.told).toEqual([
      { file: at('one/SKILL.md'), why: 'has no front matter: its first line is not ---' },
      { file: at('two/SKILL.md'), why: 'has a text of 9000 bytes; a lesson may have at most 8192' },
    ]);
    expect(mirror.faults()).toEqual(mirror.told);
    expect(read('one/SKILL.md')).toBe('name: one\n');
    expect(library.lesson('a')).toMatchObject({ revision: 1, state: 'live' });
    plant(dir, { 'one/SKILL.md': skillText('one', 'Corrected.'), 'two/SKILL.md': skillText('two') });
    await mirror.settle();
    expect(mirror.faults()).toEqual([]);
    expect(library.lesson('a')?.text.content).toBe('Corrected.');
    expect(library.find('two')).toBeDefined();
  });

  it('that the library refuses is reported with the reason, and not published again and again', async () => {
    const mirror = await openMirror(dir, library);
    plant(dir, {
      'one/SKILL.md': skillText('one', 'x', 'y'.repeat(600)),
      'two/SKILL.md': skillText('two', 'a\u200bb'),
    });
    await mirror.settle();
    const said = mirror.faults().map(({ why }) => why);
    expect(said).toEqual([
      expect.stringContaining('the description has 600 characters'),
      expect.stringContaining('the content contains U+200B'),
    ]);
    await mirror.settle();
    expect(mirror.told).toHaveLength(2);
    expect(library.lessons()).toEqual([]);
  });

  it('that adds a link to a folder is not followed or written through', async () => {
    const outside = scratch();
    plant(outside, { 'SKILL.md': skillText('one', 'Elsewhere.') });
    mkdirSync(dir);
    symlinkSync(outside, at('one'));
    await publish(library, addSkill('a', textOf('one')));
    const mirror = await openMirror(dir, library);
    expect(mirror.faults()).toEqual([{ file: at('one/SKILL.md'), why: 'is a link, which is not followed' }]);
    expect(library.lesson('a')).toMatchObject({ revision: 1, state: 'live' });
    expect(readFileSync(join(outside, 'SKILL.md'), 'utf8')).toBe(skillText('one', 'Elsewhere.'));
  });

  it('with findings waits beside the skill, which stays as it is; the file is written again', async () => {
    await publish(library, addSkill('a', textOf('one')));
    const lint = (words: string) => (words.includes('curl') ? ['it contains a command'] : []);
    const mirror = await openMirror(dir, library, { lint });
    const before = read('one/SKILL.md');
    for (let time = 0; time < 2; time++) {
      change('one/SKILL.md', 'Do it.', 'Run curl first.');
      await mirror.settle();
      expect(library.lesson('a')).toMatchObject({ revision: 1, state: 'live', text: { content: 'Do it.' } });
      expect(library.lessons().filter(({ state }) => state === 'proposed')).toMatchObject([
        {
          reason: 'it contains a command',
          text: {
            name: 'one-revised',
            content: 'Run curl first.',
            note: { relations: [{ type: 'revises', to: 'a' }] },
          },
        },
      ]);
      expect(read('one/SKILL.md')).toBe(before);
    }
  });

  it.each(['pinned', 'frozen'] as const)(
    'of a %s skill waits, however clean, and its deleted file comes back (it does not retire)',
    async (mark) => {
      await publish(library, addSkill('a', textOf('one')), { op: 'mark', id: 'a', [mark]: true });
      const mirror = await openMirror(dir, library);
      change('one/SKILL.md', 'Do it.', 'Do it well.');
      await mirror.settle();
      expect(library.lesson('a')).toMatchObject({ revision: 1, state: 'live', [mark]: true });
      expect(lessonOf(library, 'one-revised')).toMatchObject({
        state: 'proposed',
        reason: `the lesson is ${mark}: a person decides about changes`,
      });
      rmSync(at('one'), { recursive: true });
      await mirror.settle();
      expect(library.lesson('a')?.state).toBe('live');
      expect(read('one/SKILL.md')).toContain('Do it.');
    },
  );

  it('that changes the scope in the file waits (it does not widen what is in use)', async () => {
    await publish(library, addSkill('a', textOf('one', 'Do it.', { scope: { agent: 'x' } })));
    const mirror = await openMirror(dir, library);
    change('one/SKILL.md', '{\\"agent\\":\\"x\\"}', '{}');
    await mirror.settle();
    expect(library.lesson('a')).toMatchObject({ revision: 1, text: { scope: { agent: 'x' } } });
    expect(lessonOf(library, 'one-revised')).toMatchObject({ state: 'proposed', text: { scope: {} } });
  });

  it('of a file that waits revises the proposal, and deleting it retires the proposal', async () => {
    const lint = (words: string) => (words.includes('curl') ? ['it contains a command'] : []);
    const mirror = await openMirror(dir, library, { lint });
    plant(dir, { 'two/SKILL.md': skillText('two', 'Run curl.') });
    await mirror.settle();
    const { id, reason } = lessonOf(library, 'two');
    expect(reason).toBe('a new file in the skills folder; it contains a command');
    change('two/SKILL.md', 'Run curl.', 'Run it.');
    await mirror.settle();
    expect(library.lesson(id)).toMatchObject({
      revision: 2,
      state: 'proposed',
      text: { content: 'Run it.' },
    });
    expect(library.lesson(id)?.reason).not.toContain('command');
    expect(mirror.faults()).toEqual([]);
    rmSync(at('two'), { recursive: true });
    await mirror.settle();
    expect(library.lesson(id)?.state).toBe('retired');
  });

  it('that deletes the whole folder loses no skill: it is written again', async () => {
    await publish(library, addSkill('a', textOf('one')), addSkill('b', textOf('two')));
    const mirror = await openMirror(dir, library);
    rmSync(dir, { recursive: true });
    await mirror.settle();
    rmSync(dir, { recursive: true });
    mkdirSync(dir);
    await mirror.settle();
    expect(Object.keys(filesIn(dir))).toEqual(['one/SKILL.md', 'two/SKILL.md']);
    expect(library.lessons().every(({ state, revision }) => state === 'live' && revision === 1)).toBe(true);
  });
});

describe('a failing mirror', () => {
  it('reports a failed write and tries again', async () => {
    mkdirSync(dir);
    plant(dir, { one: 'a file in the way' });
    await publish(library, addSkill('a', textOf('one')), addSkill('b', textOf('two')));
    const mirror = await openMirror(dir, library);
    expect(mirror.faults()).toEqual([
      {
        file: at('one/SKILL.md'),
        why: expect.stringMatching(/^cannot be written \(E\w+\); it will be tried again$/),
      },
    ]);
    expect(existsSync(at('two/SKILL.md'))).toBe(true);
    rmSync(at('one'));
    await mirror.settle();
    expect(mirror.faults()).toEqual([]);
    expect(existsSync(at('one/SKILL.md'))).toBe(true);
  });

  it('reports a folder that it cannot create and tries again', async () => {
    writeFileSync(dir, 'a file in the way');
    await publish(library, addSkill('a', textOf('one')));
    const mirror = await openMirror(dir, library);
    expect(mirror.told).toEqual([
      { file: dir, why: 'cannot be synchronised (EEXIST); it will be tried again' },
    ]);
    rmSync(dir);
    await mirror.settle();
    expect(Object.keys(filesIn(dir))).toEqual(['one/SKILL.md']);
  });

  it('reports a failed publish, keeps the edit, and tries again', async () => {
    let isFull = false;
    library = await openMemoryLibrary(createMemoryStore(), systemClock, (fact) => {
      if (isFull) throw new StoreError('full', 'the disk is full');
      return fact;
    });
    await publish(library, addSkill('a', textOf('one')));
    const mirror = await openMirror(dir, library);
    isFull = true;
    change('one/SKILL.md', 'Do it.', 'Do it well.');
    await mirror.settle();
    expect(mirror.faults()).toEqual([
      { file: dir, why: 'cannot be synchronised (full); it will be tried again' },
    ]);
    expect(library.lesson('a')?.revision).toBe(1);
    isFull = false;
    await mirror.settle();
    expect(mirror.faults()).toEqual([]);
    expect(library.lesson('a')?.text.content).toBe('Do it well.');
  });

  it('continues when the listener for faults throws', async () => {
    plant(dir, { 'one/SKILL.md': 'broken' });
    const onFault = () => {
      throw new Error('listener');
    };
    await publish(library, addSkill('a', textOf('two')));
    const mirror = await openMirror(dir, library, { onFault });
    change('two/SKILL.md', 'Do it.', 'Do it well.');
    await mirror.settle();
    expect(library.lesson('a')?.text.content).toBe('Do it well.');
  });
});

describe('an edit that the library changes', () => {
  it('is written back to the file, here with a redacted secret', async () => {
    library = await openMemoryLibrary(createMemoryStore(), systemClock, (fact) =>
      JSON.parse(JSON.stringify(fact).replaceAll('hunter2', '[[secret]]')),
    );
    const mirror = await openMirror(dir, library);
    plant(dir, { 'one/SKILL.md': skillText('one', 'Use hunter2.') });
    await mirror.settle();
    expect(lessonOf(library, 'one').text.content).toBe('Use [[secret]].');
    expect(read('one/SKILL.md')).toContain('Use [[secret]].');
    expect(lessonOf(library, 'one').revision).toBe(1);
  });
});
