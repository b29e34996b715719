import type { FailureCase } from '../../core/learn.ts';
import type { Scope } from '../../core/lesson.ts';

/** A turn of a session that went well. */
export interface Success {
  readonly turn: string;
  readonly task: string;
  /** What the assistant said and called. Not what tools answered: those are others' words. */
  readonly text: string;
  /** 0 to 1. */
  readonly reward?: number;
}

/** One call of a tool, and what came of it. */
export interface ToolTry {
  readonly turn: string;
  readonly tool: string;
  /** Its arguments, as they were given. */
  readonly input: string;
  readonly isOk: boolean;
  /** What went wrong, without the free text around it. */
  readonly digest?: string;
}

/** One session that held both: something that failed and something that worked. */
export interface LiveMaterial {
  readonly session: string;
  readonly scope: Scope;
  /** What failed, in order. */
  readonly cases: readonly FailureCase[];
  /** What worked, in order. */
  readonly successes: readonly Success[];
  /** In order; what there is to learn from without a model. */
  readonly tries?: readonly ToolTry[];
}

/**
 * Everything that is shown to who learns from a session, as the gate reads it: a lesson may have its words from what went
 * well, too.
 */
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
