import type { Failure } from '../core/failure.ts';
import { compact } from '../core/json.ts';
import type { Speaker } from '../core/speak.ts';
import { StageFailure } from './stage-failure.ts';
import { type Cause, type Finding, outageOf } from './stage-outcome.ts';

/** What a stage is given for one attempt. Good for that attempt only. */
export interface StageContext {
  readonly stage: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** Why the attempts before this one failed, oldest first. */
  readonly reasons: readonly Finding[];
  readonly session: string;
  /** Who speaks in this attempt. With it a model call is recorded under the stage and gets the lessons for it. */
  readonly speaker: Speaker;
  /** The same as request headers, for whatever client a stage calls its model with. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The turn that was answered last, as `x-instar-turn` names it: what is found from now on is about it. */
  heard(turn: string | undefined): void;
  /** Something to do better next time, though the stage goes on. One reason or several. */
  warn(reason: string | readonly string[], detail?: string): void;
  /** The work is sent back and will be tried again within this attempt: one refine cycle. */
  refine(reason: string | readonly string[], detail?: string): void;
  /** Ends the attempt: the work is not good enough. */
  fail(reason: string | readonly string[], detail?: string): never;
  /** Ends the attempt: a model call failed, which says nothing about the work. */
  interrupt(failure: Failure): never;
}

/** What an attempt has noted so far. */
export interface Notes {
  readonly turns: readonly string[];
  readonly warnings: readonly Finding[];
  readonly refines: readonly (readonly Finding[])[];
}

export type ContextOptions = Pick<StageContext, 'stage' | 'attempt' | 'reasons' | 'speaker' | 'signal'>;

/** A context, and what is noted through it. */
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
