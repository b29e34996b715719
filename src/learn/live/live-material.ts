import type { FailureCase } from '../../core/learn.ts';
import type { Scope } from '../../core/lesson.ts';

/** A turn of a session that went well. */
export interface Success {
  readonly turn: string;
  readonly task: string;
  /** The assistant's text and calls, without tool results: those are untrusted. */
  readonly text: string;
  /** 0 to 1. */
  readonly reward?: number;
}

/** One tool call and its outcome. */
export interface ToolTry {
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
  readonly successes: readonly Success[];
  /** In order; the material for learning without a model. */
  readonly tries?: readonly ToolTry[];
}

/** Everything that the learner is shown, in the form that the gate reads: a lesson may also take words from successful turns. */
export function shownCases({ session, scope, cases, successes }: LiveMaterial): readonly FailureCase[] {
  const last = cases.at(-1);
  const [at, generation] = [last?.at ?? 0, last?.generation ?? 0];
  const others = successes.map(
    ({ turn, task, text, reward }): FailureCase => ({
      ...{ turn, session, at, generation, scope, task, source: 'signal' },
      passages: [{ origin: 'assistant', text }],
      appraisal: {
        ...{ turn, verdict: 'success', signals: [], digests: [] },
        ...(reward === undefined ? {} : { reward }),
      },
    }),
  );
  return [...cases, ...others];
}
