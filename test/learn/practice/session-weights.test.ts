import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { AttemptOrder, MakeAttempt, WeightsVerdict } from '../../../src/core/practice.ts';
import { openPracticeJournal, spentByUnits } from '../../../src/learn/practice/practice-units.ts';
import {
  describeWeights,
  measureWeights,
  type SessionTraining,
  weightsOf,
} from '../../../src/learn/practice/session-weights.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { attemptOf, taskOf } from './scripted-practice.ts';

const VERDICT: WeightsVerdict = {
  outcome: 'refused',
  why: 'worse by more than 2 points on 4 tasks',
  version: 3,
  pairs: 4,
  tasks: 4,
};
const tasks = [1, 2, 3, 4].map((nth) => taskOf(`gate-${nth}`));
const lessonsFor = async () => ({ text: '', lessons: [], generation: 0 });

/** Compares both versions on every task; `stopAt`: the process ends before that attempt. */
const trainingOf = (stopAt = Number.POSITIVE_INFINITY): SessionTraining => ({
  whyNotTrained: async () => undefined,
  trainOn: async () => undefined,
  finish: async function* (gate) {
    let made = 0;
    for (const task of gate.tasks) {
      for (const agent of ['candidate', 'live']) {
        if (made++ === stopAt) throw new Error('the process ended');
        const order: AttemptOrder = {
          id: `attempt:weights/${task.id}/${agent}`,
          task,
          agent,
          shown: await gate.lessonsFor({ task: task.prompt }),
          seed: task.id,
          temperature: 1,
          timeoutMs: gate.timeoutMs,
        };
        expect((await gate.attempt(order, new AbortController().signal)).outcome.is).toBe('graded');
      }
      yield { type: 'pair-weighed' };
    }
    return VERDICT;
  },
});

function openSession() {
  const store = createMemoryStore();
  const made: string[] = [];
  const attempt: MakeAttempt = async (order) => {
    made.push(order.id);
    return attemptOf(order);
  };
  const measure = async (training: SessionTraining, signal = new AbortController().signal) => {
    const journal = await openPracticeJournal({
      run: 'run',
      records: toRecords(store, systemClock.now),
      clock: systemClock,
    });
    const gate = { tasks, attempt, lessonsFor, timeoutMs: 1000 };
    const pairs: number[] = [];
    for await (const { pairs: so } of measureWeights(training, gate, journal, signal)) pairs.push(so);
    return { units: journal.units(), pairs };
  };
  return { measure, made };
}

describe('new weights of a session', () => {
  it('are measured once: a session that was killed meanwhile makes no attempt again, and pays for none twice', async () => {
    const whole = openSession();
    const { units, pairs } = await whole.measure(trainingOf());
    expect(pairs).toEqual([1, 2, 3, 4]);
    expect(whole.made).toHaveLength(8);
    const cut = openSession();
    await expect(cut.measure(trainingOf(5))).rejects.toThrow('the process ended');
    expect(cut.made).toHaveLength(5);
    const { units: after } = await cut.measure(trainingOf());
    expect(cut.made).toEqual(whole.made);
    expect(spentByUnits(after)).toEqual(spentByUnits(units));
    expect(weightsOf(after, undefined)?.verdict).toEqual(VERDICT);
    // A verdict stays.
    expect((await cut.measure(trainingOf())).pairs).toEqual([]);
    expect(cut.made).toHaveLength(8);
  });

  it('have no verdict while the measurement is stopped', async () => {
    const { measure } = openSession();
    const { units } = await measure(trainingOf(), AbortSignal.abort());
    expect(weightsOf(units, undefined)).toBeUndefined();
  });
});

describe('what a session says about weights', () => {
  it('is nothing without an engine, and the reason where the engine was busy', () => {
    expect(weightsOf(new Map(), undefined)).toBeUndefined();
    const busy = weightsOf(new Map(), 'weights are being trained already');
    expect(busy).toMatchObject({ steps: 0, groups: 0, notes: ['weights are being trained already'] });
    expect(busy && describeWeights(busy).said).toEqual(['weights are being trained already']);
  });

  it('counts updates, groups and refusals, and gives each reason once', () => {
    const refused = ['a', 'b'].map((group) => ({ group, why: 'another generation is in force' }));
    const units = new Map([
      ['trained/0', { groups: ['x', 'y', 'z'], trained: { groups: 3, version: 1, refused: [] } }],
      ['trained/1', { groups: ['a', 'b'], trained: { groups: 0, version: 1, refused } }],
      ['weights-verdict', { ...VERDICT }],
    ]);
    const weights = weightsOf(units, undefined);
    expect(weights).toMatchObject({ steps: 1, groups: 3, refused: 2, notes: [refused[0]?.why] });
    expect(weights && describeWeights(weights).said).toEqual([
      '1 update with 3 groups; 2 groups not used',
      'another generation is in force',
      'version 3 refused: worse by more than 2 points on 4 tasks (4 pairs on 4 tasks of the gate)',
    ]);
  });
});
