import type { Appraisal, Verdict } from '../../core/evidence.ts';
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
}

/** One session with both failed and successful turns. */
export interface LiveMaterial {
  readonly session: string;
  readonly scope: Scope;
  /** The failed turns, in order. */
  readonly cases: readonly FailureCase[];
  /** The successful turns, in order. */
  readonly successes: readonly SuccessfulTurn[];
  /** In order; the material for learning without a model. */
  readonly tries?: readonly ToolAttempt[];
}

/** Everything that the learner is shown, in the form that the gate reads: a lesson may also take words from successful turns. */
export function shownCases({ session, scope, cases, successes }: LiveMaterial): readonly FailureCase[] {
  const last = cases.at(-1);
  const [at, generation] = [last?.at ?? 0, last?.generation ?? 0];
  const others = successes.map(
    ({ turn, task, text, material, reward }): FailureCase => ({
      ...{ turn, session, at, generation, scope, task, source: 'signal' },
      passages: [{ origin: 'assistant', text }],
      ...(material === undefined ? {} : { material }),
      appraisal: {
        ...{ turn, verdict: 'success', signals: [], digests: [] },
        ...(reward === undefined ? {} : { reward }),
      },
    }),
  );
  return [...cases, ...others];
}

/**
 * Whether a finished session is worth learning from: only failures next to successes show a difference. Limits, timeouts and
 * unknown verdicts count as neither.
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
