import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { TrainingTask } from '../../src/core/task-source.ts';
import { type RewardWeights, TASK_ALONE } from '../../src/evidence/shape-reward.ts';
import { groupOf } from '../../train/rollout.ts';
import {
  type AnsweredRollout,
  isShaping,
  meanParts,
  shapeAttempts,
  type WindowShaping,
  withShapedRollouts,
} from '../../train/shape-rollouts.ts';
import { attempt } from './attempts.ts';

const { signal } = new AbortController();
const TASK: TrainingTask = {
  id: 'recorded/s1',
  recall: { task: 'How much is 3 times 3?', agent: 'ada' },
  open: () => Promise.reject(new Error('not attempted here')),
};
/** An attempt that was answered in so many tokens. */
const answered = (id: string, reward: number, tokens: number, answer: string): AnsweredRollout => {
  const made = attempt(id, { reward, task: TASK.id });
  const ids = Array.from({ length: tokens }, () => 2);
  const segments = made.segments.map((one) =>
    one.kind === 'reply' ? { ...one, ids, logprobs: ids.map(() => -1) } : one,
  );
  return { ...made, segments, answer };
};
const GROUP = [
  answered('a', 1, 10, 'neun'),
  answered('b', 1, 30, 'It is nine.'),
  answered('c', 0, 20, 'acht'),
];

const shapingBy = (over: Partial<RewardWeights>, told?: () => JsonObject) => {
  const asked: JsonObject[] = [];
  const shaping: WindowShaping = {
    weights: () => ({ ...TASK_ALONE, ...over }),
    rule: async (request) => {
      asked.push(request);
      if (told === undefined) throw new Error('the learning thread is not running');
      return told();
    },
  };
  const rollOut = withShapedRollouts(
    async () => GROUP,
    (group) => shapeAttempts(group, shaping, signal),
  );
  const policy = { version: 0, sampler: '' };
  return { asked, shaping, make: () => rollOut(policy, TASK, 3, { seed: 's', signal }) };
};
const GERMAN = {
  judge: 'p/judge',
  rulings: [
    { score: 1, isBroken: false },
    { score: 0, isBroken: false },
    { score: 1, isBroken: false },
  ],
};

describe('the rewards of a training window', () => {
  it('are the task’s alone with the weights of today: nothing is shaped, and nobody is asked', () => {
    expect(isShaping(undefined)).toBe(false);
    expect(isShaping(shapingBy({}).shaping)).toBe(false);
    expect(isShaping(shapingBy({ efficiency: 0.2 }).shaping)).toBe(true);
    expect(meanParts(GROUP)).toBeUndefined();
  });

  it('pay the shorter of two right answers more, and a short wrong one nothing; no judge is asked for that', async () => {
    const { make, asked } = shapingBy({ efficiency: 1 });
    const made = await make();
    const [short, long, wrong] = made.map(({ reward }) => reward);
    expect(short).toBe(0.875);
    expect(long).toBe(0.625);
    expect(wrong).toBe(0);
    expect(asked).toEqual([]);
    expect(made[0]?.parts).toEqual([
      { part: 'task', value: 1, by: 'verifier' },
      { part: 'efficiency', value: 0.75, by: 'usage' },
    ]);
  });

  it('count how far answers keep the identity, as the judge of the agent says, and name it in the group', async () => {
    const { make, asked } = shapingBy({ identity: 1 }, () => GERMAN);
    const made = await make();
    expect(made.map(({ reward }) => reward)).toEqual([1, 0.5, 0.5]);
    expect(asked).toEqual([
      { do: 'rule', agent: 'ada', task: TASK.recall.task, answers: ['neun', 'It is nine.', 'acht'] },
    ]);
    expect(made[1]?.parts).toContainEqual({ part: 'identity', value: 0, by: 'p/judge' });
    expect(meanParts(made)).toEqual({ task: 2 / 3, identity: 2 / 3 });
    const group = groupOf(made);
    expect(group.ok).toBe(true);
    // Words of an answer are not kept with its tokens.
    expect(JSON.stringify(group)).not.toContain('neun');
  });

  it('are nothing for an answer that breaks the core', async () => {
    const rulings = [
      { score: 1, isBroken: false },
      { score: 0, isBroken: true },
      { score: 1, isBroken: false },
    ];
    const { make } = shapingBy({ identity: 0.1 }, () => ({ judge: 'p/judge', rulings }));
    expect((await make())[1]?.reward).toBe(0);
  });

  it.each([
    ['no judge answers', undefined],
    [
      'the judge has no answer for one of them',
      () => ({ ...GERMAN, rulings: [GERMAN.rulings[0] ?? null, null, null] }),
    ],
    ['the agent has no identity', () => ({ rulings: [] })],
  ])('stay the task’s own where %s', async (_, told) => {
    const made = await shapingBy({ identity: 1 }, told).make();
    expect(made.map(({ reward }) => reward)).toEqual([1, 1, 0]);
    expect(meanParts(made)).toEqual({ task: 2 / 3 });
  });
});
