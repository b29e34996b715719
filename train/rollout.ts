import type { TrainingSource } from '../src/evidence/checked-turns.ts';

/** Why something is not trained on: a name for counting, a text for people. */
export interface BatchRefusal {
  readonly refused: BatchRefusalName;
  readonly why: string;
}

export type BatchRefusalName =
  /** The attempts are not all at one task, by one policy, under one generation. */
  | 'mixed-task'
  | 'mixed-policy'
  | 'mixed-generation'
  /** A single attempt has nothing to be compared with. */
  | 'too-few'
  /** Sampled tokens without log-probabilities, or a reward that is not a number. */
  | 'unusable-rollout'
  /** Made under the prompts of another generation. */
  | 'other-generation'
  /** Sampled by weights that are too many updates old, or that are not an ancestor of those in training. */
  | 'stale-policy'
  /** The run has already trained on it. */
  | 'trained-before'
  /** The engine does not have the loss. */
  | 'unknown-loss'
  /** Sampler and trainer disagree about the sampled tokens. */
  | 'diverged'
  /** The engine returned NaN or infinity. */
  | 'not-finite';

export const refuseBatch = (refused: BatchRefusalName, why: string): BatchRefusal => ({ refused, why });

/** Which weights made the tokens, under which lessons. Versions only grow: rolled-back weights leave a gap. */
interface RolloutStamp {
  readonly generation: number;
  readonly policy: number;
}

/** The whole prompt before a reply, in the ids that were sent, never re-tokenized from text. */
interface PromptSegment extends RolloutStamp {
  readonly kind: 'prompt';
  readonly ids: readonly number[];
}

/** What the policy sampled, including the last token. */
interface ReplySegment extends RolloutStamp {
  readonly kind: 'reply';
  readonly ids: readonly number[];
  /** The sampler's log-probability of each id, from the full distribution at temperature 1. */
  readonly logprobs: readonly number[];
  /** Sampled at another temperature or with a truncated vocabulary: it is context for later tokens and does not train. */
  readonly isBent?: boolean;
}

export type RolloutSegment = PromptSegment | ReplySegment;

/** One attempt at a task: prompts and replies in order. */
export interface Rollout {
  /** Unique: the run remembers by it what it was trained on. */
  readonly id: string;
  readonly task: string;
  readonly segments: readonly RolloutSegment[];
  readonly reward: number;
  readonly rewardSource: TrainingSource;
  /** The lessons whose checks gave the reward; absent: another source. */
  readonly rules?: readonly string[];
  /** The task is done in full, whatever the reward includes besides. */
  readonly isComplete?: boolean;
}

/** Attempts at the same task by the same policy under the same generation: only these are comparable. */
export interface Group extends RolloutStamp {
  readonly task: string;
  readonly rollouts: readonly Rollout[];
}

type GroupResult = { readonly ok: true; readonly group: Group } | ({ readonly ok: false } & BatchRefusal);

/** The attempts as a group, or why they are not one. */
export function groupOf(rollouts: readonly Rollout[]): GroupResult {
  const refuse = (refused: BatchRefusalName, why: string): GroupResult => ({ ok: false, refused, why });
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
    if (fault !== undefined) return { ok: false, ...fault };
  }
  return { ok: true, group: { task, policy, generation, rollouts } };
}

/** Checks a group that another component put together as if it were untrusted input. */
export function groupFault(group: Group): BatchRefusal | undefined {
  const made = groupOf(group.rollouts);
  if (!made.ok) return refuseBatch(made.refused, made.why);
  const { task, policy, generation } = made.group;
  if (task !== group.task)
    return refuseBatch('mixed-task', `the group says ${group.task}, its attempts are at ${task}`);
  if (policy !== group.policy)
    return refuseBatch(
      'mixed-policy',
      `the group says version ${group.policy}, its attempts are by ${policy}`,
    );
  if (generation !== group.generation)
    return refuseBatch(
      'mixed-generation',
      `the group says generation ${group.generation}, its attempts are of ${generation}`,
    );
  return undefined;
}

export function rolloutFault(
  { id, segments, reward }: Rollout,
  stamp: RolloutStamp,
): BatchRefusal | undefined {
  if (!Number.isFinite(reward)) return refuseBatch('unusable-rollout', `the reward of ${id} is not a number`);
  if (segments[0]?.kind !== 'prompt' || segments[0].ids.length === 0)
    return refuseBatch('unusable-rollout', `${id} does not begin with a prompt`);
  for (const segment of segments) {
    if (segment.policy !== stamp.policy)
      return refuseBatch(
        'mixed-policy',
        `${id} has tokens of versions ${stamp.policy} and ${segment.policy}`,
      );
    if (segment.generation !== stamp.generation)
      return refuseBatch(
        'mixed-generation',
        `${id} has tokens of generations ${stamp.generation} and ${segment.generation}`,
      );
    if (segment.kind === 'reply' && !isMeasured(segment))
      return refuseBatch('unusable-rollout', `${id} has sampled tokens without a log-probability`);
  }
  return undefined;
}

const isMeasured = ({ ids, logprobs }: ReplySegment): boolean =>
  ids.length === logprobs.length && logprobs.every((value) => Number.isFinite(value) && value <= ROUNDING);

/** In single precision a certain token may have a log-probability slightly above 0. */
const ROUNDING = 1e-4;
