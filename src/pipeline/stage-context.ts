import type { Failure } from '../core/failure.ts';
import { compact } from '../core/json.ts';
import type { Speaker } from '../core/speak.ts';
import { StageFailure } from './stage-failure.ts';
import { type Cause, type Finding, outageOf } from './stage-outcome.ts';

/** The context of one attempt; valid for that attempt only. */
export interface StageContext {
  readonly stage: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** Why the attempts before this one failed, oldest first. */
  readonly reasons: readonly Finding[];
  readonly session: string;
  /** The identity for model calls: they are recorded under the stage and get its lessons. */
  readonly speaker: Speaker;
  /** The same as request headers, for any model client. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Sets the last turn, from the `x-instar-turn` header: later findings are about it. */
  heard(turn: string | undefined): void;
  /** Reports something to improve; the stage continues. One reason or several. */
  warn(reason: string | readonly string[], detail?: string): void;
  /** Reports one refine cycle: the work is sent back within this attempt. */
  refine(reason: string | readonly string[], detail?: string): void;
  /** Ends the attempt: the work failed the check. */
  fail(reason: string | readonly string[], detail?: string): never;
  /** Ends the attempt: a model call failed, which is not the work's fault. */
  interrupt(failure: Failure): never;
}

/** The findings and turns of an attempt so far. */
export interface Notes {
  readonly turns: readonly string[];
  readonly warnings: readonly Finding[];
  readonly refines: readonly (readonly Finding[])[];
}

export type ContextOptions = Pick<StageContext, 'stage' | 'attempt' | 'reasons' | 'speaker' | 'signal'>;

/** A context, and the notes made through it. */
export function createStageContext(options: ContextOptions): {
  readonly context: StageContext;
  readonly notes: Notes;
} {
  const turns: string[] = [];
  const warnings: Finding[] = [];
  const refines: (readonly Finding[])[] = [];
  const find = (said: string | readonly string[], detail: string | undefined): readonly Finding[] => {
    const cause: Cause = 'work';
    return (typeof said === 'string' ? [said] : said).map((reason) =>
      compact({ cause, reason, detail, turn: turns.at(-1) }),
    );
  };
  const context: StageContext = {
    ...options,
    session: options.speaker.session,
    headers: headersOf(options.speaker),
    heard: (turn) => {
      if (turn !== undefined && turn !== turns.at(-1)) turns.push(turn);
    },
    warn: (reason, detail) => void warnings.push(...find(reason, detail)),
    refine: (reason, detail) => void refines.push(find(reason, detail)),
    fail: (reason, detail) => {
      throw new StageFailure(find(reason, detail));
    },
    interrupt: (failure) => {
      throw new StageFailure([compact({ ...outageOf(failure), turn: turns.at(-1) })]);
    },
  };
  return { context, notes: { turns, warnings, refines } };
}

const headersOf = ({ session, agent, runKind, domain, project }: Speaker): Readonly<Record<string, string>> =>
  compact({
    'x-instar-session': session,
    'x-instar-agent': agent,
    'x-instar-run-kind': runKind,
    'x-instar-domain': domain,
    'x-instar-project': project,
  }) as Record<string, string>;
