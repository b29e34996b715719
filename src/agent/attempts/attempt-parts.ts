import type { Spending } from '../../core/budget.ts';
import type { ChatMessage } from '../../core/chat.ts';
import type { Failure } from '../../core/failure.ts';
import type { TrajectoryStep } from '../../core/learn.ts';
import type { AttemptOutcome, MakeAttempt, PracticeTask } from '../../core/practice.ts';
import type { SampledTurn } from '../../core/training.ts';
import type { Submission, Verification } from '../../core/verifier.ts';

/** Grades what an attempt left behind, by the task's own check. Never rejects. `does-not-apply`: it has nothing that the check is about. */
export type VerifyAttempt = (
  task: PracticeTask,
  submission: Submission,
  signal: AbortSignal,
) => Promise<Verification | { readonly status: 'does-not-apply' }>;

/** The steps of a conversation, digested. */
export type ReadSteps = (messages: readonly ChatMessage[]) => readonly TrajectoryStep[];

/** Why an attempt came to no end of its own. */
export type AttemptFault = Omit<Extract<AttemptOutcome, { readonly is: 'infrastructure' }>, 'is'>;

/** An attempt that was made, before it is graded. */
export interface MadeAttempt {
  readonly by: string;
  /** The last answer in words. */
  readonly output: string;
  /** The conversation, with every call and its result. */
  readonly messages: readonly ChatMessage[];
  readonly used: Partial<Spending>;
  readonly sampled?: readonly SampledTurn[];
  /** It was not the agent that failed. */
  readonly fault?: AttemptFault;
  /** What the grade should say besides, such as that time ran out. */
  readonly remarks?: readonly string[];
}

const LIMITED: ReadonlySet<Failure['kind']> = new Set(['rate-limited', 'overloaded']);
const LASTING: ReadonlySet<Failure['kind']> = new Set([
  'bad-request',
  'unauthorized',
  'forbidden',
  'not-found',
  'too-large',
]);

/** A model's failure as a fault: a provider that is limited may be asked later, one that refuses the key may not. */
export function faultOf(failure: Failure): AttemptFault {
  const { kind, message, retryAfterMs, final } = failure;
  const isLasting = LASTING.has(kind) || final === true;
  return {
    why: `${kind}: ${message.slice(0, 500)}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(LIMITED.has(kind) && !isLasting ? { isLimited: true as const } : {}),
    ...(isLasting ? { isLasting: true as const } : {}),
  };
}

/** The conversation became longer than the model reads: after the first reply that is the agent's own doing. */
export const isTooLong = ({ kind, code, message }: Failure): boolean =>
  kind === 'too-large' ||
  code === 'context_length_exceeded' ||
  (kind === 'bad-request' && /too long|context.{0,20}(?:length|window)|maximum.{0,20}tokens/i.test(message));

/** Token ids are text to whoever has the vocabulary: those of an attempt that met a secret are not kept. */
export const withoutSecrets =
  (make: MakeAttempt, hasSecret: (text: string) => boolean): MakeAttempt =>
  async (order, signal) => {
    const { sampled, ...attempt } = await make(order, signal);
    const isKept = sampled !== undefined && !hasSecret(JSON.stringify([order.task, order.shown, attempt]));
    return isKept ? { ...attempt, sampled } : attempt;
  };
