import type { Appraisal, Signal, Verdict } from '../../core/evidence.ts';
import type { FailureCase, TurnMaterial } from '../../core/learn.ts';
import type { Scope } from '../../core/lesson.ts';

/** A turn of a session that went well. */
export interface SuccessfulTurn {
  readonly turn: string;
  readonly task: string;
  /** The assistant's text and calls, without tool results: those are untrusted. */
  readonly text: string;
  readonly material?: TurnMaterial;
  /** 0 to 1. */
  readonly reward?: number;
  /** What shows that it went well. */
  readonly signals?: readonly Signal[];
}

/** One tool call and its outcome. */
export interface ToolAttempt {
  readonly turn: string;
  readonly tool: string;
  /** Its arguments, as sent. */
  readonly input: string;
  readonly isOk: boolean;
  /** The error digest. */
  readonly digest?: string;
  /** What it was called for; the same number for all calls of one matter of the user. */
  readonly matter?: number;
  readonly task?: string;
  /** It only looked something up. */
  readonly isLook?: true;
  /** It failed for reasons that lie outside of the work: never part of what is learned. */
  readonly isOutage?: true;
  /** Why its outcome proves a result: checks passed, or a command exited with 0. */
  readonly proof?: 'checks passed' | 'exit code 0';
  /** The file that an edit changed. */
  readonly path?: string;
}

/** One session with failed and successful turns, or with work whose steps are worth keeping. */
export interface LiveMaterial {
  readonly session: string;
  readonly scope: Scope;
  /** The failed turns, in order. */
  readonly cases: readonly FailureCase[];
  /** The successful turns, in order. */
  readonly successes: readonly SuccessfulTurn[];
  /** In order; the material for learning without a model. */
  readonly tries?: readonly ToolAttempt[];
  /** The attempts of an episode: one failed and another one worked, however different they look. */
  readonly isReported?: true;
}

/** Everything that the learner is shown, in the form that the gate reads: a lesson may also take words from successful turns. */
export function shownCases({ session, scope, cases, successes }: LiveMaterial): readonly FailureCase[] {
  const last = cases.at(-1);
  const [at, generation] = [last?.at ?? 0, last?.generation ?? 0];
  const others = successes.map(
    ({ turn, task, text, material, reward, signals = [] }): FailureCase => ({
      turn,
      session,
      at,
      generation,
      scope,
      task,
      source: 'signal',
      passages: [{ origin: 'assistant', text }],
      ...(material === undefined ? {} : { material }),
      appraisal: {
        turn,
        verdict: 'success',
        signals,
        digests: [],
        ...(reward === undefined ? {} : { reward }),
      },
    }),
  );
  return [...cases, ...others];
}

/**
 * Whether a finished session shows a difference: failures next to successes. Limits, timeouts and unknown verdicts count as
 * neither.
 */
export const isWorthLearning = (appraisals: readonly Pick<Appraisal, 'verdict'>[]): boolean => {
  const has = (wanted: Verdict): boolean => appraisals.some(({ verdict }) => verdict === wanted);
  return has('failure') && has('success');
};

const FEWEST_FAILURES = 2;
const SHARE_OF_FAILURES = 0.5;

type TurnVerdict = Pick<Appraisal, 'verdict'>;

/** Why a session is worth practising on, by its turns in order; undefined when it is not. */
export function whyHard(appraisals: readonly TurnVerdict[]): string | undefined {
  const judged = appraisals.filter(({ verdict }) => verdict === 'failure' || verdict === 'success');
  const failures = judged.filter(({ verdict }) => verdict === 'failure').length;
  if (judged.at(-1)?.verdict === 'failure') return 'it ended with an unresolved failure';
  return failures >= FEWEST_FAILURES && failures >= judged.length * SHARE_OF_FAILURES
    ? `${failures} of ${judged.length} turns failed`
    : undefined;
}

export const isHard = (appraisals: readonly TurnVerdict[]): boolean => whyHard(appraisals) !== undefined;
