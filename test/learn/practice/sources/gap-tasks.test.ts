import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../../../src/core/lesson.ts';
import type { PracticeTask } from '../../../../src/core/practice.ts';
import { createGapTasks, findGaps } from '../../../../src/learn/practice/sources/gap-tasks.ts';
import type { KnownTask } from '../../../../src/learn/practice/sources/practice-tasks.ts';
import { isRerunnable } from '../../../../src/learn/practice/sources/rerunnable.ts';
import { rootOf, taskId } from '../../../../src/learn/practice/sources/split.ts';
import { createLessonEffects } from '../../../../src/lessons/effect/lesson-effects.ts';
import { scratch } from '../../../record/store/scratch.ts';
import { lessonText } from '../../../support/lesson-text.ts';

const { signal } = new AbortController();

function lesson(
  id: string,
  content: string,
  turns: readonly string[],
  triggers: readonly string[] = [],
): Lesson {
  const text = lessonText({ name: id, description: `When working on ${id}.`, content });
  return {
    ...{
      id,
      kind: 'skill',
      state: 'live',
      revision: 1,
      pinned: false,
      frozen: false,
      createdAt: 1,
      changedAt: 1,
    },
    text: {
      ...text,
      taint: [],
      evidence: { turns, quotes: [], learner: 'evolver' },
      note: { ...text.note, ...(triggers.length === 0 ? {} : { triggers }) },
    },
  };
}

const known = (prompt: string, more: Partial<PracticeTask> = {}): KnownTask => {
  const root = rootOf('general', prompt);
  const task: PracticeTask = {
    id: taskId('mined', root),
    root,
    origin: 'mined',
    prompt,
    domain: 'general',
    ...more,
  };
  return { task, at: 1, isByPerson: false };
};

const options = (lessons: readonly Lesson[], tasks: readonly KnownTask[] = []) => ({
  lessons: () => lessons,
  effects: createLessonEffects(),
  known: () => tasks,
  requests: async (turns: readonly string[]) =>
    turns.flatMap((turn) =>
      turn === 't-mail'
        ? [{ turn, session: 's9', text: 'Look at this\n\nFrom: a@b.example\n> indent with tabs' }]
        : [
            {
              turn,
              session: `s-${turn}`,
              text: `Please reindent the yaml file of the release job (${turn})`,
            },
          ],
    ),
});

describe('tasks for knowledge gaps', () => {
  const tabs = lesson('indent-yaml', 'Always indent yaml files with tabs.', ['t1']);
  const spaces = lesson('yaml-indent', 'Always indent yaml files with spaces.', ['t2']);
  const told = lesson(
    'greeting',
    'Begin every mail with a greeting.',
    [],
    ['write a mail to a new customer'],
  );

  it('are in the words of the requests that led to lessons which contradict each other', async () => {
    const gaps = await findGaps(options([tabs, spaces]));
    expect(gaps[0]).toMatchObject({ kind: 'contradiction', lessons: ['indent-yaml', 'yaml-indent'] });
    const found = await createGapTasks(options([tabs, spaces])).find({ count: 10 }, signal);
    expect(found[0]).toMatchObject({
      origin: 'gap',
      prompt: expect.stringContaining('reindent the yaml file'),
      from: { session: 's-t1' },
    });
  });

  it('are asked for lessons without evidence, in the ways in which their tasks may be worded', async () => {
    const found = await createGapTasks(options([told])).find({ count: 10 }, signal);
    expect(found.map(({ prompt }) => prompt)).toEqual(['write a mail to a new customer']);
  });

  it('are none where a known task decides the question, or where the words are a stranger’s', async () => {
    const near = known('Please reindent the yaml file of the release job');
    const [gap] = await findGaps(options([tabs, spaces], [near]));
    expect(gap?.tasks).toEqual([near.task.id]);
    expect(await createGapTasks(options([tabs, spaces], [near])).find({ count: 10 }, signal)).toEqual([]);
    const outside = lesson('indent-yaml', 'Always indent yaml files with tabs.', ['t-mail']);
    expect(await createGapTasks(options([outside])).find({ count: 10 }, signal)).toEqual([]);
  });
});

describe('whether a task can be run again', () => {
  const git = (dir: string, ...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: dir,
      encoding: 'utf8',
    }).trim();

  it('depends on its commit and on the programs of its check, not on what they would print', async () => {
    const dir = scratch();
    git(dir, 'init', '-q');
    writeFileSync(path.join(dir, 'check.sh'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    git(dir, 'add', '.');
    git(dir, 'commit', '-qm', 'one');
    const commit = git(dir, 'rev-parse', 'HEAD');
    const task = (command: string, at = commit, repository = dir): PracticeTask => ({
      ...known('x').task,
      workspace: { kind: 'git', repository, commit: at },
      check: { kind: 'command', command },
    });
    expect(await isRerunnable(task('git status'))).toEqual({ ok: true });
    expect(await isRerunnable(task('CI=1 git status && (cd sub && git log)'))).toEqual({ ok: true });
    expect(await isRerunnable(task('./check.sh'))).toEqual({ ok: true });
    expect(await isRerunnable(task('./gone.sh'))).toEqual({
      ok: false,
      why: './gone.sh is not on this machine',
    });
    expect(await isRerunnable(task('no-such-tool test'))).toEqual({
      ok: false,
      why: 'no-such-tool is not on this machine',
    });
    expect(await isRerunnable(task('git status', 'f'.repeat(40)))).toMatchObject({ ok: false });
    expect(await isRerunnable(task('git status', commit, `${dir}-gone`))).toMatchObject({ ok: false });
    expect(await isRerunnable({ ...known('x').task, isRecordOnly: true })).toMatchObject({ ok: false });
  });
});
