import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../../src/core/fact.ts';
import type { PracticeTask } from '../../../../src/core/practice.ts';
import { createMinedTasks, type MiningRefusal } from '../../../../src/learn/practice/sources/mined-tasks.ts';
import { createRecordedWork, type RecordedWork, type WorkStep } from './recorded-work.ts';

const { signal } = new AbortController();
const RED: WorkStep = { run: 'npm test', out: 'Tests: 1 failed, 3 passed, 4 total', exit: 1 };
const GREEN: WorkStep = { run: 'npm test', out: 'Tests: 4 passed, 4 total' };
const EDIT: WorkStep = { edit: '/home/u/app/src/date.js' };
const ASK: WorkStep = { user: 'The date parser returns the wrong month, please fix it' };
const DONE: WorkStep = { agent: 'The month counted from zero; it counts from one now.' };
const PROVEN = [ASK, RED, EDIT, GREEN, DONE];

async function mine(
  work: RecordedWork,
): Promise<{ readonly tasks: readonly PracticeTask[]; readonly refused: readonly MiningRefusal[] }> {
  const refused: MiningRefusal[] = [];
  const { records, evidence } = work;
  const source = createMinedTasks({
    records,
    evidence,
    lessons: () => [],
    onRefused: (one) => void refused.push(one),
  });
  return { tasks: await source.find({ count: 100 }, signal), refused };
}

const snapshot = (session: string, turn: string, commit = 'a'.repeat(40)): Fact => ({
  type: 'workspace-snapshotted',
  session,
  turn,
  repository: '/home/u/app',
  commit,
});

describe('tasks mined from the record', () => {
  it('are requests that ended with proof: the check is the command that passed after the edits', async () => {
    const work = createRecordedWork();
    const [first = ''] = work.record('s1', PROVEN);
    work.add(snapshot('s1', first));
    const { tasks } = await mine(work);
    expect(tasks).toMatchObject([
      {
        ...{
          origin: 'mined',
          prompt: 'The date parser returns the wrong month, please fix it',
          isApproximate: true,
        },
        check: { kind: 'command', command: 'npm test' },
        reference: 'The month counted from zero; it counts from one now.',
        workspace: { kind: 'git', repository: '/home/u/app', commit: 'a'.repeat(40) },
        from: { session: 's1', turn: first },
        project: 'p1',
      },
    ]);
    expect(tasks[0]).not.toHaveProperty('isRecordOnly');
    expect((await mine(work)).tasks.map(({ id }) => id)).toEqual(tasks.map(({ id }) => id));
  });

  it('are not attempted when their project was not kept', async () => {
    const work = createRecordedWork();
    const [first = ''] = work.record('s1', PROVEN);
    expect((await mine(work)).tasks).toMatchObject([{ isRecordOnly: true }]);
    work.add({
      type: 'workspace-snapshotted',
      session: 's1',
      turn: first,
      skipped: 'its diff contains a secret',
    });
    expect((await mine(work)).tasks).toMatchObject([{ isRecordOnly: true }]);
  });

  it('are requests that the user corrected: the words are a criterion, letter by letter', async () => {
    const work = createRecordedWork();
    work.record('s1', [
      { user: 'Which date format do the release notes use?' },
      { agent: 'They use 16 Nov 2026.' },
      { user: 'No, we use ISO dates here.' },
      { agent: 'Then it is 2026-11-16.' },
    ]);
    const { tasks } = await mine(work);
    expect(tasks).toHaveLength(1);
    expect(tasks[0]?.check).toMatchObject({ kind: 'rubric' });
    expect(JSON.stringify(tasks[0]?.check)).toContain('No, we use ISO dates here.');
    expect(tasks[0]?.prompt).toBe('Which date format do the release notes use?');
  });

  it.each<[string, readonly WorkStep[], object?]>([
    [
      'what a user told, with no request in it',
      [
        { user: 'Our invoices are due within 14 days.' },
        { agent: 'Noted: 30 days.' },
        { user: 'No, that is wrong: 14 days.' },
        { agent: 'Noted: 14 days.' },
      ],
    ],
    [
      'a routine answer',
      [{ user: 'What does the readme say about tests?' }, { agent: 'That there are tests.' }],
    ],
    ['green tests without an edit', [ASK, GREEN, DONE]],
    ['an edit after the last green test', [ASK, GREEN, EDIT, DONE]],
    [
      'a mail that a stranger wrote',
      [
        { user: 'Do what this mail says.\n\nFrom: a@b.example\nSubject: dates\n\n> fix the date parser' },
        RED,
        EDIT,
        GREEN,
        DONE,
      ],
    ],
    [
      'a paste',
      [
        {
          user: 'Fix the date parser as written here:\n<document>\nPlease change the month of every date in the parser to one.\n</document>',
        },
        RED,
        EDIT,
        GREEN,
        DONE,
      ],
    ],
    ['an anonymous caller', PROVEN, { caller: 'anonymous' }],
    ['a caller whose credential nobody accepted', PROVEN, { caller: 'unverified' }],
    ['a practice session', PROVEN, { runKind: 'practice' }],
    ['a scheduled run', PROVEN, { runKind: 'cron' }],
    ['thanks', [{ user: 'thanks!' }, RED, EDIT, GREEN, DONE]],
  ])('are not made of %s', async (_, steps, options) => {
    const work = createRecordedWork();
    work.record('s1', steps, options);
    expect((await mine(work)).tasks).toEqual([]);
  });

  it('are not made of evidence that speaks against itself, and the reason is told', async () => {
    const work = createRecordedWork();
    work.record('s1', [...PROVEN, { user: 'No, that is wrong. Undo it.' }, { agent: 'Okay.' }]);
    const turns = work.record('s2', [
      { user: 'Rename the cache option of the parser' },
      RED,
      EDIT,
      RED,
      { agent: 'Renamed.' },
    ]);
    work.add({ type: 'reward-given', turn: turns.at(-1) ?? '', source: 'person', score: 1 });
    const { tasks, refused } = await mine(work);
    expect(tasks).toEqual([]);
    expect(refused.map(({ why }) => why).sort()).toEqual([
      'a person was content, and a check had failed',
      'the checks passed, and a person said that it is wrong',
    ]);
  });

  it('begin with the state before the request, also for the second request of a session', async () => {
    const work = createRecordedWork();
    const second: readonly WorkStep[] = [
      { user: 'Next, add a parser for clock times beside it' },
      RED,
      EDIT,
      GREEN,
      DONE,
    ];
    const turns = work.record('s1', [...PROVEN, ...second]);
    work.add(snapshot('s1', turns[0] ?? ''), snapshot('s1', turns[4] ?? '', 'b'.repeat(40)));
    const { tasks } = await mine(work);
    expect(tasks.map(({ workspace }) => workspace?.kind === 'git' && workspace.commit[0])).toEqual([
      'a',
      'b',
    ]);
    expect(tasks[0]).not.toHaveProperty('history');
    expect(tasks[1]?.history?.[0]).toEqual({
      role: 'user',
      text: 'The date parser returns the wrong month, please fix it',
    });
  });

  it('are graded by the right answer where an application reported it, and then not approximate', async () => {
    const work = createRecordedWork();
    const [turn = ''] = work.record('s1', [
      { user: 'How many invoices are open in March?' },
      { agent: '12' },
    ]);
    work.add(
      { type: 'event-reported', kind: 'expected', session: 's1', data: { turn, expected: '14' } },
      { type: 'reward-given', turn, source: 'person', score: -1 },
    );
    const { tasks } = await mine(work);
    expect(tasks).toMatchObject([{ check: { kind: 'exact', expected: '14' }, reference: '14' }]);
    expect(tasks[0]).not.toHaveProperty('isApproximate');
  });

  it('of the same request in two sessions are one task', async () => {
    const work = createRecordedWork();
    work.record('s1', PROVEN);
    work.record('s2', PROVEN);
    expect((await mine(work)).tasks).toHaveLength(1);
  });
});
