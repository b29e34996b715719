import { describe, expect, it } from 'vitest';
import { groupFault, groupOf, type RolloutSegment } from '../../train/rollout.ts';
import { attempt, groupFrom } from './attempts.ts';

const stamp = { policy: 0, generation: 0 };
const withReply = (logprobs: readonly number[]): readonly RolloutSegment[] => [
  { kind: 'prompt', ids: [1], ...stamp },
  { kind: 'reply', ids: [2, 3], logprobs, ...stamp },
];

describe('a group', () => {
  it('is attempts at one task by one policy under one generation', () => {
    expect(groupOf([attempt('a'), attempt('b')])).toMatchObject({
      ok: true,
      group: { task: 'one', policy: 0, generation: 0 },
    });
  });

  it.each([
    ['another task', [attempt('a'), attempt('b', { task: 'two' })], 'mixed-task'],
    ['another policy', [attempt('a'), attempt('b', { policy: 1 })], 'mixed-policy'],
    ['another generation', [attempt('a'), attempt('b', { generation: 1 })], 'mixed-generation'],
    ['nothing to compare with', [attempt('a')], 'too-few'],
    ['the same attempt twice', [attempt('a'), attempt('a')], 'trained-before'],
    ['a reward that is no number', [attempt('a'), attempt('b', { reward: Number.NaN })], 'unusable-rollout'],
    ['no prompt', [attempt('a'), attempt('b', { segments: [] })], 'unusable-rollout'],
    ['too few log-probs', [attempt('a'), attempt('b', { segments: withReply([-1]) })], 'unusable-rollout'],
    [
      'a log-prob of nothing',
      [attempt('a'), attempt('b', { segments: withReply([-1, Number.NaN]) })],
      'unusable-rollout',
    ],
    [
      'a probability over 1',
      [attempt('a'), attempt('b', { segments: withReply([-1, 0.5]) })],
      'unusable-rollout',
    ],
  ])('is refused with %s, by name', (_, rollouts, refused) => {
    expect(groupOf(rollouts)).toMatchObject({ refused });
  });

  it('is refused when weights were switched within an attempt (not ranked across versions)', () => {
    const segments: readonly RolloutSegment[] = [
      ...withReply([-1, -1]),
      { kind: 'prompt', ids: [1, 2, 3, 4], policy: 1, generation: 0 },
    ];
    expect(groupOf([attempt('a'), attempt('b', { segments })])).toMatchObject({ refused: 'mixed-policy' });
  });

  it('is checked again by the code that receives it', () => {
    const group = groupFrom([attempt('a'), attempt('b')]);
    expect(groupFault(group)).toBeUndefined();
    expect(groupFault({ ...group, generation: 7 })).toMatchObject({ refused: 'mixed-generation' });
    expect(groupFault({ ...group, policy: 7 })).toMatchObject({ refused: 'mixed-policy' });
    expect(groupFault({ ...group, task: 'two' })).toMatchObject({ refused: 'mixed-task' });
  });
});
