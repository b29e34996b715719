import { hash } from 'node:crypto';
import { type Clock, systemClock } from '../core/clock.ts';
import { compact } from '../core/json.ts';
import type { Speaker } from '../core/speak.ts';
import { readThrown } from './read-thrown.ts';
import { createStageContext, type StageContext } from './stage-context.ts';
import type { Finding, Report, StageOutcome, StageStatus } from './stage-outcome.ts';

export interface PipelineOptions {
  readonly name: string;
  /** The id of this run. Reporting the same run again after a crash adds nothing. */
  readonly run: string;
  /** The agent that the lessons belong to; all runs of a pipeline share it. */
  readonly agent: string;
  readonly report: Report;
  readonly domain?: string;
  readonly project?: string;
  /** Attempts after the first one. Default: 1. */
  readonly retries?: number;
  readonly clock?: Clock;
  /** Aborts every stage. */
  readonly signal?: AbortSignal;
}

/** How a stage ended, with the outcome of each of its attempts in order. */
export type StageEnd<T> =
  | { readonly ok: true; readonly value: T; readonly outcomes: readonly StageOutcome[] }
  | { readonly ok: false; readonly outcomes: readonly StageOutcome[] };

export interface StageOptions {
  readonly retries?: number;
}

export interface Pipeline {
  readonly name: string;
  readonly run: string;
  /**
   * Runs one stage. The value that `work` returns is the result; what it throws is the reason why the attempt failed,
   * and it is retried while attempts are left and the signal is not aborted. Each attempt has its own session and is
   * reported before the next one starts. Never rejects. Running a stage again by name continues its attempt count.
   */
  stage<T>(
    name: string,
    work: (context: StageContext) => T | Promise<T>,
    options?: StageOptions,
  ): Promise<StageEnd<T>>;
}

const RUN_KIND = 'pipeline';
const DEFAULT_RETRIES = 1;
const NEVER = new AbortController().signal;

/** Wraps the stages of an existing pipeline: sessions, retries and reports for each attempt. */
export function createPipeline(options: PipelineOptions): Pipeline {
  const { name, run, agent, domain, project, report, clock = systemClock, signal = NEVER } = options;
  const attempts = new Map<string, number>();

  const attemptOnce = async <T>(
    stage: string,
    work: (context: StageContext) => T | Promise<T>,
    reasons: readonly Finding[],
  ): Promise<{ readonly outcome: StageOutcome; readonly value?: T }> => {
    const attempt = (attempts.get(stage) ?? 0) + 1;
    attempts.set(stage, attempt);
    const session = sessionOf([name, run, stage, String(attempt)]);
    const speaker: Speaker = compact({ session, agent, runKind: RUN_KIND, domain, project });
    const { context, notes } = createStageContext({ stage, attempt, reasons, speaker, signal });
    const startedAt = clock.monotonic();
    const end = (failures: readonly Finding[]): StageOutcome => ({
      ...compact({ pipeline: name, run, agent, domain, stage, attempt }),
      status: statusOf(failures, [...notes.refines.flat(), ...notes.warnings]),
      failures,
      refines: [...notes.refines],
      warnings: [...notes.warnings],
      durationMs: clock.monotonic() - startedAt,
      session,
      turns: [...notes.turns],
    });
    try {
      const value = await work(context);
      return { outcome: end([]), value };
    } catch (error) {
      return { outcome: end(readThrown(error, notes.turns.at(-1), signal.aborted)) };
    }
  };

  return {
    name,
    run,
    stage: async <T>(
      stage: string,
      work: (context: StageContext) => T | Promise<T>,
      { retries = options.retries ?? DEFAULT_RETRIES }: StageOptions = {},
    ): Promise<StageEnd<T>> => {
      const outcomes: StageOutcome[] = [];
      for (let left = retries + 1; left > 0 && !signal.aborted; left--) {
        const reasons = outcomes.flatMap(({ failures }) => failures);
        const { outcome, value } = await attemptOnce(stage, work, reasons);
        outcomes.push(outcome);
        await report(outcome);
        if (outcome.status !== 'failed') return { ok: true, value: value as T, outcomes };
      }
      return { ok: false, outcomes };
    },
  };
}

const statusOf = (failures: readonly Finding[], found: readonly Finding[]): StageStatus =>
  failures.length > 0 ? 'failed' : found.length > 0 ? 'warned' : 'ok';

/** A valid header value. */
const FIT = /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/;

function sessionOf(parts: readonly string[]): string {
  const plain = parts.join(':');
  return FIT.test(plain) ? plain : `pipeline-${hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32)}`;
}
