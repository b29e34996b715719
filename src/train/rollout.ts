import type { RewardSource } from '../core/fact.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';

/** Which weights made the tokens, under which lessons. Versions only grow: rolled-back weights leave a gap. */
export interface Stamp {
  readonly generation: number;
  readonly policy: number;
}

/** The whole prompt before a reply, in the ids that were sent, never re-tokenized from text. */
export interface PromptSegment extends Stamp {
  readonly kind: 'prompt';
  readonly ids: readonly number[];
}

/** What the policy sampled, including the last token. */
export interface ReplySegment extends Stamp {
  readonly kind: 'reply';
  readonly ids: readonly number[];
  /** The sampler's log-probability of each id, from the full distribution at temperature 1. */
  readonly logprobs: readonly number[];
  /** Sampled at another temperature or with a truncated vocabulary: it is context for later tokens and does not train. */
  readonly isBent?: boolean;
}

export type Segment = PromptSegment | ReplySegment;

/** One attempt at a task: prompts and replies in order. */
export interface Rollout {
  /** Unique: the run remembers by it what it was trained on. */
  readonly id: string;
  readonly task: string;
  readonly segments: readonly Segment[];
  readonly reward: number;
  readonly rewardSource: RewardSource;
  /** The task is done in full, whatever the reward includes besides. */
  readonly isComplete?: boolean;
}

/** Attempts at the same task by the same policy under the same generation: only these are comparable. */
export interface Group extends Stamp {
  readonly task: string;
  readonly rollouts: readonly Rollout[];
}

/** The attempts as a group, or why they are not one. */
export function groupOf(rollouts: readonly Rollout[]): Group | Refusal {
  const [first, ...others] = rollouts;
  const stamp = first?.segments[0];
  if (first === undefined || others.length === 0)
    return refuse('too-few', 'a group needs at least two attempts');
  if (stamp === undefined) return refuse('unusable-rollout', `${first.id} has no tokens`);
  const { task } = first;
  const { policy, generation } = stamp;
  if (new Set(rollouts.map(({ id }) => id)).size < rollouts.length)
    return refuse('trained-before', `the group contains an attempt at ${task} twice`);
  for (const rollout of rollouts) {
    if (rollout.task !== task) return refuse('mixed-task', `${rollout.id} is not an attempt at ${task}`);
    const fault = rolloutFault(rollout, { policy, generation });
    if (fault !== undefined) return fault;
  }
  return { task, policy, generation, rollouts };
}

/** Checks a group that another component put together as if it were untrusted input. */
export function groupFault(group: Group): Refusal | undefined {
  const made = groupOf(group.rollouts);
  if (isRefusal(made)) return made;
  const { task, policy, generation } = made;
  if (task !== group.task)
    return refuse('mixed-task', `the group says ${group.task}, its attempts are at ${task}`);
  if (policy !== group.policy)
    return refuse('mixed-policy', `the group says version ${group.policy}, its attempts are by ${policy}`);
  if (generation !== group.generation)
    return refuse(
      'mixed-generation',
      `the group says generation ${group.generation}, its attempts are of ${generation}`,
    );
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

/** In single precision a certain token may have a log-probability slightly above 0. */
const ROUNDING = 1e-4;
