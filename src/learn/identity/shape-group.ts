import { isObject } from '../../core/json.ts';
import type { Library } from '../../core/library.ts';
import type {
  Attempt,
  AttemptGroup,
  AttemptOutcome,
  MakeAttempt,
  PracticeTask,
} from '../../core/practice.ts';
import { isTaskAlone, shapeRewards } from '../../evidence/shape-reward.ts';
import { findBrokenRule } from '../../evidence/verifiers/mechanical-rules.ts';
import { sessionsOfGroup } from '../practice/attempt-batch.ts';
import type { PracticeUnits } from '../practice/practice-units.ts';
import type { SessionAttempts } from '../practice/session-parts.ts';
import { coreLines } from './identity-lines.ts';
import type { RewardShaping } from './reward-shaping.ts';

type Graded = Extract<AttemptOutcome, { readonly is: 'graded' }>;
type GradedAttempt = Attempt & { readonly outcome: Graded };

/** Plain data: what a journal keeps of a group. */
interface ShapedGroup {
  readonly outcomes: readonly { readonly id: string; readonly outcome: Graded }[];
}

/** Where the journal keeps the shaped rewards of a group. */
export const shapedUnit = (step: number | string, task: string): string => `shaped/${step}/${task}`;

/** An answer that breaks a line of the core with certainty is no success, whatever a verifier says. */
function constrainOutcome(outcome: AttemptOutcome, output: string, core: readonly string[]): AttemptOutcome {
  if (outcome.is !== 'graded' || outcome.reward === 0) return outcome;
  const broken = findBrokenRule(core, output);
  return broken === undefined
    ? outcome
    : { ...outcome, reward: 0, reasons: [brokenReason(broken.line, broken.why), ...outcome.reasons] };
}

/** Attempts whose answers are held to the core of their agent's identity. */
export function holdToCore(attempts: SessionAttempts, library: Pick<Library, 'lessons'>): SessionAttempts {
  const held =
    (make: MakeAttempt): MakeAttempt =>
    async (order, signal) => {
      const made = await make(order, signal);
      const outcome = constrainOutcome(made.outcome, made.output, coreLines(library, order.task.agent));
      return outcome === made.outcome ? made : { ...made, outcome };
    };
  return {
    ...attempts,
    make: held(attempts.make),
    ...(attempts.serving === undefined ? {} : { serving: held(attempts.serving) }),
  };
}

const brokenReason = (line: string, why: string): string =>
  `it breaks the core of the identity, “${line}”: ${why}`;

/**
 * The rewards of a group with the parts that the owner weighs: the task's, how far the answers keep the identity, and what they
 * used. A part that is not known of every attempt counts for none of them. With the task's weight alone the group stays as it is,
 * but for answers that break the core. What each part is, and who said it, is in the journal.
 */
export async function shapeGroup(
  group: AttemptGroup,
  shaping: RewardShaping,
  units: PracticeUnits,
  unit: string,
  signal: AbortSignal,
): Promise<AttemptGroup> {
  const { task } = group;
  const core = shaping.core(task.agent);
  const attempts = group.attempts.map((attempt): Attempt => {
    const outcome = constrainOutcome(attempt.outcome, attempt.output, core);
    return outcome === attempt.outcome ? attempt : { ...attempt, outcome };
  });
  const isChanged = attempts.some((attempt, at) => attempt !== group.attempts[at]);
  const held = isChanged ? { ...group, attempts } : group;
  // Real work is graded as its record tells.
  if (isTaskAlone(shaping.weights) || group.gradedBy === 'recorded') return held;
  const graded = attempts.filter((attempt): attempt is GradedAttempt => attempt.outcome.is === 'graded');
  if (graded.length === 0 || graded.length < attempts.length) return held;
  const shaped = await units.value<ShapedGroup>(unit, {
    is: isShaped,
    sessions: sessionsOfGroup(group),
    make: async () => {
      const outcomes = await shapeOutcomes(task, graded, held, shaping, signal);
      return { outcomes: outcomes.map((outcome, at) => ({ id: graded[at]?.id ?? '', outcome })) };
    },
    keep: () => !signal.aborted,
  });
  return { ...held, attempts: withShapedRewards(graded, shaped?.value) };
}

/** Attempts with the rewards that a journal keeps of them; as they are where it keeps none. */
export const withShapedRewards = (attempts: readonly Attempt[], kept: unknown): readonly Attempt[] =>
  isShaped(kept)
    ? attempts.map((attempt) => ({
        ...attempt,
        outcome: kept.outcomes.find(({ id }) => id === attempt.id)?.outcome ?? attempt.outcome,
      }))
    : attempts;

async function shapeOutcomes(
  task: PracticeTask,
  graded: readonly GradedAttempt[],
  group: AttemptGroup,
  { weights, judge, judged, core }: RewardShaping,
  signal: AbortSignal,
): Promise<readonly Graded[]> {
  const sessions = sessionsOfGroup(group);
  const lines = judged(task.agent);
  const hardLines = new Set(core(task.agent));
  const rulings =
    weights.identity === 0 || judge === undefined || lines.length === 0
      ? []
      : await Promise.all(
          graded.map(({ output }) => judge.rule(lines, task.prompt, output, sessions, signal)),
        );
  const isJudged = rulings.length === graded.length && rulings.every((ruling) => ruling !== undefined);
  const only = lines.length > 0 && lines.every((line) => hardLines.has(line));
  const rulingOf = (at: number) => (isJudged ? rulings[at] : undefined);
  // Every vote says so, and there are no lines but the core's that it could mean.
  const isBrokenAt = (at: number): boolean => rulingOf(at)?.isBroken === true && only;
  const shaped = shapeRewards(
    graded.map(({ outcome, used: { tokens }, steps }, at) => ({
      reward: outcome.reward,
      used: tokens > 0 ? tokens : steps.length,
      identity: rulingOf(at)?.score,
      isBroken: isBrokenAt(at),
    })),
    weights,
    { task: group.gradedBy, judge: judge?.model },
  );
  return graded.map(({ outcome }, at): Graded => {
    const { reward, parts } = shaped[at] ?? { reward: outcome.reward, parts: [] };
    const told = parts.map(({ part, value, by }) => `${part} ${value.toFixed(2)} (${by})`).join(', ');
    const reasons = [
      ...(isBrokenAt(at) ? [brokenReason(lines.join(' '), rulingOf(at)?.reason ?? '')] : []),
      ...outcome.reasons,
      `made of ${told}`,
    ];
    return { ...outcome, reward, reasons, parts };
  });
}

const isShaped = (value: unknown): value is ShapedGroup => isObject(value) && Array.isArray(value.outcomes);
