import { isObject } from '../../core/json.ts';
import type { Attempt, AttemptGroup, AttemptOutcome } from '../../core/practice.ts';
import type { PracticeUnits } from '../practice/practice-units.ts';
import type { IdentityJudge } from './open-identity-judge.ts';

/** How much each part of a reward counts: α, β and γ. Only their ratio matters. */
export interface RewardWeights {
  readonly task: number;
  readonly identity: number;
  readonly efficiency: number;
}

/** What a reward is made of, 0 to 1 each. A part that is not known has no weight. */
interface RewardParts {
  readonly task: number;
  readonly identity?: number | undefined;
  readonly efficiency?: number | undefined;
}

/** Whether the task's own reward is all. */
const isTaskAlone = ({ identity, efficiency }: RewardWeights): boolean => identity === 0 && efficiency === 0;

/** The weighted mean of the parts. Efficiency counts as far as the task was done: an attempt that gives up at once is no efficient one. */
export function weighReward({ task, identity, efficiency }: RewardParts, weights: RewardWeights): number {
  const terms = [
    [weights.task, task],
    ...(identity === undefined ? [] : [[weights.identity, identity] as const]),
    ...(efficiency === undefined ? [] : [[weights.efficiency, task * efficiency] as const]),
  ] as const;
  const total = terms.reduce((sum, [weight]) => sum + weight, 0);
  if (total === 0) return task;
  return Math.min(1, terms.reduce((sum, [weight, value]) => sum + weight * value, 0) / total);
}

/** Of what was used against the median: 1 for nothing, a half for as much, 0 for twice as much or more. */
export function efficienciesOf(used: readonly number[]): readonly (number | undefined)[] {
  const sorted = used.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const median = ((sorted[middle] ?? 0) + (sorted[sorted.length % 2 === 0 ? middle - 1 : middle] ?? 0)) / 2;
  return used.map((one) => (median > 0 ? Math.max(0, 1 - one / (2 * median)) : undefined));
}

export interface RewardWeighing {
  readonly weights: RewardWeights;
  /** Absent: how far an answer keeps the identity does not count. */
  readonly judge?: IdentityJudge | undefined;
  /** The lines of an agent's identity that the judge is shown. */
  readonly linesOf: (agent: string | undefined) => readonly string[];
}

type Graded = Extract<AttemptOutcome, { readonly is: 'graded' }>;
type GradedAttempt = Attempt & { readonly outcome: Graded };

/** What the journal keeps of a group, for its report. Plain data. */
export interface WeighedGroup {
  readonly task: string;
  readonly rewards: readonly number[];
  /** What each reward is made of, for people. */
  readonly parts: readonly string[];
}

export const isWeighedGroup = (value: unknown): value is WeighedGroup =>
  isObject(value) && Array.isArray(value.rewards) && Array.isArray(value.parts);

interface WeighingPlace {
  readonly units: PracticeUnits;
  readonly unit: string;
  /** The recorded sessions that the group's words come from. */
  readonly sessions: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * The rewards of a group made of the parts that the owner weighs: lessons and weights are learned from these. A part that is not known of
 * every attempt counts for none of them. Real work is graded as its record tells.
 */
export async function weighGroup(
  group: AttemptGroup,
  weighing: RewardWeighing,
  { units, unit, sessions, signal }: WeighingPlace,
): Promise<AttemptGroup> {
  const graded = group.attempts.filter((one): one is GradedAttempt => one.outcome.is === 'graded');
  const isWhole = graded.length > 0 && graded.length === group.attempts.length;
  if (isTaskAlone(weighing.weights) || group.gradedBy === 'recorded' || !isWhole) return group;
  const weighed = await units.value<WeighedGroup>(unit, {
    is: isWeighedGroup,
    sessions,
    make: () => weighAttempts(group, graded, { ...weighing, sessions }, signal),
    keep: () => !signal.aborted,
  });
  if (weighed === undefined) return group;
  const { rewards, parts } = weighed.value;
  return {
    ...group,
    attempts: graded.map((attempt, at) => {
      const { outcome } = attempt;
      const reasons = [...outcome.reasons, parts[at] ?? ''];
      return { ...attempt, outcome: { ...outcome, reward: rewards[at] ?? outcome.reward, reasons } };
    }),
  };
}

async function weighAttempts(
  group: AttemptGroup,
  graded: readonly GradedAttempt[],
  { weights, judge, linesOf, sessions }: RewardWeighing & Pick<WeighingPlace, 'sessions'>,
  signal: AbortSignal,
): Promise<WeighedGroup> {
  const { task, gradedBy } = group;
  const lines = linesOf(task.agent);
  const isJudged = weights.identity > 0 && judge !== undefined && lines.length > 0;
  const rulings = await Promise.all(
    (isJudged ? graded : []).map(({ output }) =>
      judge?.rule({ lines, task: task.prompt, reply: output, sessions }, signal),
    ),
  );
  const isKnown = rulings.length > 0 && rulings.every((ruling) => ruling !== undefined);
  const efficiencies = efficienciesOf(graded.map(({ used, steps }) => used.tokens || steps.length));
  const made = graded.map(({ outcome }, at) => {
    const identity = isKnown ? rulings[at]?.score : undefined;
    const efficiency = weights.efficiency > 0 ? efficiencies[at] : undefined;
    return { task: outcome.reward, identity, efficiency };
  });
  const by = { task: gradedBy, identity: judge?.model ?? '', efficiency: 'tokens' };
  return {
    task: task.id,
    rewards: made.map((parts) => weighReward(parts, weights)),
    parts: made.map((parts) => sayParts(parts, weights, by)),
  };
}

/** `made of task 1.00 × 0.6 (verifier), efficiency 0.40 × 0.2 (tokens)`. */
const sayParts = (
  parts: RewardParts,
  weights: RewardWeights,
  by: Readonly<Record<keyof RewardWeights, string>>,
): string =>
  `made of ${(['task', 'identity', 'efficiency'] as const)
    .flatMap((part) => {
      const value = parts[part];
      return value === undefined ? [] : [`${part} ${value.toFixed(2)} × ${weights[part]} (${by[part]})`];
    })
    .join(', ')}`;
