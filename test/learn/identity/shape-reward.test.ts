import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import type { Json } from '../../../src/core/json.ts';
import type { Attempt, AttemptGroup } from '../../../src/core/practice.ts';
import { efficiencyOf, shapeReward, TASK_ALONE } from '../../../src/evidence/shape-reward.ts';
import { findBrokenRule, isMechanicalRule } from '../../../src/evidence/verifiers/mechanical-rules.ts';
import type { RewardShaping } from '../../../src/learn/identity/reward-shaping.ts';
import { shapeGroup } from '../../../src/learn/identity/shape-group.ts';
import { createPracticeUnits } from '../../../src/learn/practice/practice-units.ts';
import { taskOf } from '../practice/scripted-practice.ts';

const NEVER = new AbortController().signal;
const share = fc.double({ min: 0, max: 1, noNaN: true });
const weights = fc.record({ task: share, identity: share, efficiency: share });
const unitsOf = (kept: Map<string, Json>) =>
  createPracticeUnits({
    journal: {
      read: async (unit) => kept.get(unit),
      write: async (unit, value) => void kept.set(unit, value),
    },
    ask: undefined,
    learner: 'none',
    clock: { now: () => 0, monotonic: () => 0 },
  });
const attemptWith = (reward: number, tokens: number, output: string, at: number): Attempt => ({
  id: `a${at}`,
  task: 't',
  by: 'p/m',
  generation: 1,
  lessons: [],
  outcome: { is: 'graded', reward, reasons: ['checked'] },
  output,
  steps: [],
  used: { ...NOTHING_SPENT, tokens },
});
const groupOf = (made: readonly (readonly [number, number, string])[]): AttemptGroup => ({
  id: 'g',
  task: taskOf('daily', { agent: 'ada' }),
  generation: 1,
  gradedBy: 'verifier',
  attempts: made.map(([reward, tokens, output], at) => attemptWith(reward, tokens, output, at)),
});
const shaping = (over: Partial<RewardShaping>): RewardShaping => ({
  weights: TASK_ALONE,
  core: () => [],
  judged: () => ['Answer in German.'],
  judge: {
    model: 'p/judge',
    rule: async (_, __, reply) => ({
      score: reply.includes('ß') ? 1 : 0,
      reason: 'it is English',
      isBroken: !reply.includes('ß'),
    }),
  },
  ...over,
});
const made = fc.array(fc.tuple(share, fc.nat(100_000), fc.constantFrom('Spaß!', 'Fun.', '')), {
  minLength: 1,
  maxLength: 8,
});

describe('a reward', () => {
  it('stays within 0 and 1 for all weights and parts, and is the task’s own with 1, 0 and 0', () => {
    fc.assert(
      fc.property(
        weights,
        share,
        fc.option(share, { nil: undefined }),
        fc.option(share, { nil: undefined }),
        (by, task, identity, efficiency) => {
          const parts = {
            task,
            ...(identity === undefined ? {} : { identity }),
            ...(efficiency === undefined ? {} : { efficiency }),
          };
          const reward = shapeReward(parts, by);
          expect(reward).toBeGreaterThanOrEqual(0);
          expect(reward).toBeLessThanOrEqual(1);
          expect(shapeReward(parts, TASK_ALONE)).toBe(task);
          expect(shapeReward({ task }, by)).toBe(task);
        },
      ),
    );
  });

  it('pays for efficiency only as far as the task is done', () => {
    expect(efficiencyOf(0, 100)).toBe(1);
    expect(efficiencyOf(100, 100)).toBe(0.5);
    expect(efficiencyOf(900, 100)).toBe(0);
    const by = { task: 1, identity: 0, efficiency: 1 };
    expect(shapeReward({ task: 0, efficiency: 1 }, by)).toBe(0);
    expect(shapeReward({ task: 1, efficiency: 1 }, by)).toBe(1);
    expect(shapeReward({ task: 1, efficiency: 0 }, by)).toBe(0.5);
  });
});

describe('a group', () => {
  it('is the same object with the weights of today, whatever a judge would say, and nothing is journaled', async () => {
    await fc.assert(
      fc.asyncProperty(made, async (list) => {
        const kept = new Map<string, Json>();
        const group = groupOf(list);
        expect(await shapeGroup(group, shaping({}), unitsOf(kept), 'u', NEVER)).toBe(group);
        expect(kept.size).toBe(0);
      }),
    );
  });

  it('keeps its rewards within 0 and 1 for all weights', async () => {
    await fc.assert(
      fc.asyncProperty(made, weights, async (list, by) => {
        const { attempts } = await shapeGroup(
          groupOf(list),
          shaping({ weights: by }),
          unitsOf(new Map()),
          'u',
          NEVER,
        );
        for (const { outcome } of attempts) {
          if (outcome.is !== 'graded') throw new Error('it lost its grade');
          expect(outcome.reward >= 0 && outcome.reward <= 1).toBe(true);
        }
      }),
    );
  });

  it('says what each part is and who said it; a part that one attempt lacks counts for none', async () => {
    const by = { task: 1, identity: 1, efficiency: 0 };
    const kept = new Map<string, Json>();
    const group = groupOf([
      [1, 10, 'Spaß!'],
      [1, 10, 'Fun.'],
    ]);
    const { attempts } = await shapeGroup(group, shaping({ weights: by }), unitsOf(kept), 'u', NEVER);
    expect(attempts.map(({ outcome }) => outcome)).toMatchObject([
      {
        reward: 1,
        parts: [
          { part: 'task', by: 'verifier' },
          { part: 'identity', value: 1, by: 'p/judge' },
        ],
      },
      { reward: 0.5, reasons: ['checked', 'made of task 1.00 (verifier), identity 0.00 (p/judge)'] },
    ]);
    expect(JSON.stringify(kept.get('u'))).toContain('p/judge');
    const silent = shaping({
      weights: by,
      judge: {
        model: 'p/judge',
        rule: async (_, __, reply) =>
          reply === 'Fun.' ? undefined : { score: 1, reason: '', isBroken: false },
      },
    });
    const without = await shapeGroup(group, silent, unitsOf(new Map()), 'u', NEVER);
    expect(without.attempts.map(({ outcome }) => outcome.is === 'graded' && outcome.reward)).toEqual([1, 1]);
  });

  it('is no success where an answer breaks the core: by a check, or by every vote of the judge', async () => {
    const core = shaping({ core: () => ['Never use emojis.'] });
    const group = groupOf([
      [1, 10, 'Done 🎉'],
      [1, 10, 'Done.'],
    ]);
    const { attempts } = await shapeGroup(group, core, unitsOf(new Map()), 'u', NEVER);
    expect(attempts.map(({ outcome }) => outcome)).toMatchObject([
      {
        reward: 0,
        reasons: [expect.stringContaining('“Never use emojis.”: the answer has “🎉”'), 'checked'],
      },
      { reward: 1, reasons: ['checked'] },
    ]);
    const judged = shaping({
      weights: { task: 1, identity: 0.01, efficiency: 0 },
      core: () => ['Answer in German.'],
    });
    const ruled = await shapeGroup(group, judged, unitsOf(new Map()), 'u', NEVER);
    expect(ruled.attempts.map(({ outcome }) => outcome.is === 'graded' && outcome.reward)).toEqual([0, 0]);
  });
});

describe('a line that a machine can check', () => {
  it.each([
    ['Never use emojis.', 'Done 🎉', 'Done.'],
    ['No emojis!', 'Done ✅', 'Done © 2026, 1️ of 3'.replace('\u{FE0F}', '')],
    ['- Do not use exclamation marks.', 'Done!', 'Run `test!` now.'],
    ['Never use em dashes.', 'Done — at last.', 'Done - at last.'],
    ['Never say "obviously".', 'That is Obviously so.', 'That is obvious.'],
    ['Never use the word “synergy”.', 'More synergy.', 'More ```synergy```.'],
    ['Answer in at most 5 words.', 'One two three four five six.', 'One two three four five.'],
  ])('%s', (line, broken, kept) => {
    expect(findBrokenRule([line], broken)).toMatchObject({ line });
    expect(findBrokenRule([line], kept)).toBeUndefined();
  });

  it.each([
    'Answer in German.',
    'Never deceive the user.',
    'Never use emojis unless the user does.',
    'Use emojis when you like.',
    'Never use exclamation marks in headings.',
    'Never say "done" before the tests pass.',
    'Be brief.',
  ])('is not: %s', (line) => expect(isMechanicalRule(line)).toBe(false));
});
