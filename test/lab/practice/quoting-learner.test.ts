import { describe, expect, it } from 'vitest';
import { createQuotingLearner } from '../../../lab/suites/quoting-learner.ts';
import { createIds } from '../../../src/base/ids.ts';
import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Attempt, AttemptGroup, PracticeTask } from '../../../src/core/practice.ts';
import { createRunBudget } from '../../../src/cost/run-budget.ts';
import { createAsk } from '../../../src/learn/ask.ts';
import { casesOf } from '../../../src/learn/practice/attempt-cases.ts';
import { draftText } from '../../../src/learn/practice/draft-proposals.ts';
import { tellAttempt } from '../../../src/learn/practice/grade-groups.ts';
import { proposeOperations } from '../../../src/learn/practice/propose-operations.ts';
import { findAdvantage, type GroupExperience } from '../../../src/learn/practice/semantic-advantage.ts';
import { openLessons } from '../../../src/lessons/open-lessons.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';

const signal = new AbortController().signal;
const task: PracticeTask = {
  id: 'task-1',
  root: 'task-1',
  origin: 'curated',
  prompt: 't0101, May 27, 2021, 17:19, from Hedda. In library/plover.json set share to 33 %.',
  domain: 'work',
  check: { kind: 'module', file: 'check.mjs' },
};
const ask = createAsk({
  model: createQuotingLearner(),
  name: 'quoting-learner',
  price: { from: 'local', price: { input: 0, output: 0 }, isLocal: true },
  budget: createRunBudget({ limits: {}, setting: 'test' }),
  clock: systemClock,
});

const groupOf = (...attempts: readonly (readonly [number, ...string[]])[]): AttemptGroup => ({
  id: 'group-1',
  task,
  generation: 0,
  gradedBy: 'verifier',
  attempts: attempts.map(
    ([reward, ...reasons], place): Attempt => ({
      id: `attempt:${place}`,
      task: task.id,
      by: 'nano@0',
      generation: 0,
      lessons: [],
      outcome: { is: 'graded', reward, reasons },
      output: 'Done.',
      steps: [],
      used: NOTHING_SPENT,
    }),
  ),
});

/** What the pipeline concludes from a group, with the learner behind its real questions. */
async function learn(group: AttemptGroup): Promise<GroupExperience | undefined> {
  const summaries = group.attempts.map((attempt) => ({
    reward: attempt.outcome.is === 'graded' ? attempt.outcome.reward : 0,
    summary: tellAttempt(attempt, task),
  }));
  const answer = await findAdvantage({ group, summaries, cases: casesOf(group, 1) }, ask, signal);
  if (!answer.ok) throw new Error(answer.why);
  return answer.value;
}

const COPY = 'Make a copy with +bak behind the name; then change it.';
const SORT = 'Sort the tags of every file.';

describe('the quoting learner', () => {
  it('quotes what worse attempts were told and the best one was not, never what all were told', async () => {
    const found = await learn(groupOf([0.3, SORT, COPY], [0.6, SORT], [0.3, SORT, COPY]));
    expect(found?.insight).toBe(COPY);
    expect(found?.situation).not.toContain(SORT);
    expect(found?.quotes).toEqual([{ turn: 'attempt:0', text: COPY }]);
  });

  it('quotes the line that most of the worse attempts were told', async () => {
    const found = await learn(groupOf([0.3, SORT], [0.3, COPY], [1], [0.3, COPY]));
    expect(found?.insight).toBe(COPY);
  });

  it('concludes nothing where only the work at hand was wrong, or everybody was told the same', async () => {
    const finding = 'There are mistakes in t0101: I saw 3 as share in library/plover.json.';
    expect(await learn(groupOf([0, finding], [1]))).toBeUndefined();
    expect(await learn(groupOf([0, SORT, finding], [0.5, SORT]))).toBeUndefined();
  });

  it.each([
    ['new words become a note', 'Every name goes in small letters.', { op: 'ADD' }],
    ['known words change nothing', COPY, { op: 'NONE' }],
    [
      'other words with the same mark go beside the note',
      'Before any edit, cp the file to a/b.json+bak.',
      {
        op: 'UPDATE',
        ids: ['exp_copy'],
        content: `${COPY}\nBefore any edit, cp the file to a/b.json+bak.`,
      },
    ],
  ])('%s', async (_, words, expected) => {
    const { library } = await openLessons({
      records: toRecords(createMemoryStore(), systemClock.now),
      clock: systemClock,
      newId: createIds(systemClock),
      onFault: (error) => {
        throw error;
      },
    });
    const draft = async (line: string) => {
      const group = groupOf([0, line], [1]);
      const experience = await learn(group);
      if (experience === undefined) throw new Error('nothing was learned');
      const free = { ok: false, why: '', isRetryable: false, cause: 'reply' } as const;
      const cost = { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0, unpriced: 0 };
      return { experience, text: draftText(experience, group, 60, { ...free, cost }) };
    };
    const known = await draft(COPY);
    await library.publish({
      id: 'first',
      by: { kind: 'learner', name: 'practice' },
      reason: 'practice',
      changes: [{ op: 'add', id: 'exp_copy', kind: 'experience', state: 'trial', text: known.text }],
    });
    const wanted = await draft(words);
    const placed = await proposeOperations({
      ...wanted,
      task,
      library,
      similar: undefined,
      ask,
      signal,
    });
    expect(placed.ok ? placed.value.operations : placed).toEqual([expected]);
  });
});
