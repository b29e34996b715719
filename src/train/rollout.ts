import type { RewardSource } from '../core/fact.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';

/** Under what tokens came to be. Versions of a policy only grow: weights that were rolled back leave a gap. */
export interface Stamp {
  readonly generation: number;
  readonly policy: number;
}

/** All that the policy was shown before a reply: the ids as they were sent, never text that was tokenised anew. */
export interface PromptSegment extends Stamp {
  readonly kind: 'prompt';
  readonly ids: readonly number[];
}

/** What the policy said, its last token included. */
export interface ReplySegment extends Stamp {
  readonly kind: 'reply';
  readonly ids: readonly number[];
  /** What the sampler gave each id, of the whole distribution at temperature 1. */
  readonly logprobs: readonly number[];
  /** Drawn at another temperature or from a part of the vocabulary: it is context for what follows, and trains nothing. */
  readonly isBent?: boolean;
}

export type Segment = PromptSegment | ReplySegment;

/** One attempt at a task: prompts and replies in the order in which they happened. */
export interface Rollout {
  /** Never given twice: what weights have learned from is remembered by it. */
  readonly id: string;
  readonly task: string;
  readonly segments: readonly Segment[];
  readonly reward: number;
  readonly rewardSource: RewardSource;
  /** The task is done in full, whatever the reward says besides. */
  readonly isComplete?: boolean;
}

/** Attempts at the same task by the same policy under the same generation: only such can be ranked against each other. */
export interface Group extends Stamp {
  readonly task: string;
  readonly rollouts: readonly Rollout[];
}

/** The group that these attempts make, or why they make none. */
export function groupOf(rollouts: readonly Rollout[]): Group | Refusal {
  const [first, ...others] = rollouts;
  const stamp = first?.segments[0];
  if (first === undefined || others.length === 0) return refuse('too-few', 'one attempt is no group');
  if (stamp === undefined) return refuse('unusable-rollout', `${first.id} has no tokens`);
  const { task } = first;
  const { policy, generation } = stamp;
  if (new Set(rollouts.map(({ id }) => id)).size < rollouts.length)
    return refuse('trained-before', `an attempt at ${task} is there twice`);
  for (const rollout of rollouts) {
    if (rollout.task !== task) return refuse('mixed-task', `${rollout.id} is not an attempt at ${task}`);
    const fault = rolloutFault(rollout, { policy, generation });
    if (fault !== undefined) return fault;
  }
  return { task, policy, generation, rollouts };
}

/** A group that someone else put together is looked at as if it came from a stranger. */
export function groupFault(group: Group): Refusal | undefined {
  const made = groupOf(group.rollouts);
  if (isRefusal(made)) return made;
  const { task, policy, generation } = made;
  if (task !== group.task) return refuse('mixed-task', `attempts at ${task} are called ${group.task}`);
  if (policy !== group.policy) return refuse('mixed-policy', `version ${policy} is called ${group.policy}`);
  if (generation !== group.generation)
    return refuse('mixed-generation', `generation ${generation} is called ${group.generation}`);
  return undefined;
}

export function rolloutFault({ id, segments, reward }: Rollout, stamp: Stamp): Refusal | undefined {
  if (!Number.isFinite(reward)) return refuse('unusable-rollout', `the reward of ${id} is not a number`);
  if (segments[0]?.kind !== 'prompt' || segments[0].ids.length === 0)
    return refuse('unusable-rollout', `${id} does not begin with a prompt`);
  for (const segment of segments) {
    if (segment.policy !== stamp.policy)
      return refuse('mixed-policy', `${id} has tokens of versions ${stamp.policy} and ${segment.policy}`);
    if (segment.generation !== stamp.generation)
      return refuse(
        'mixed-generation',
        `${id} has tokens of generations ${stamp.generation} and ${segment.generation}`,
      );
    if (segment.kind === 'reply' && !isMeasured(segment))
      return refuse('unusable-rollout', `${id} has sampled tokens without a log-probability`);
  }
  return undefined;
}

const isMeasured = ({ ids, logprobs }: ReplySegment): boolean =>
  ids.length === logprobs.length && logprobs.every((value) => Number.isFinite(value) && value <= ROUNDING);

/** Single precision may leave a certain token a hair above certainty. */
const ROUNDING = 1e-4;
