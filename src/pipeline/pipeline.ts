import { hash } from 'node:crypto';
import { type Clock, systemClock } from '../core/clock.ts';
import { errorMessage, type Failure } from '../core/failure.ts';
import type { CallerIdentity } from '../core/gateway-client.ts';
import { asString, compact, isObject } from '../core/json.ts';
import { measuredStages, measurePipeline, type PipelineFigures, reportedStage } from './pipeline-figures.ts';
import {
  type FindingCause,
  outageOf,
  type StageFinding,
  type StageOutcome,
  type StageReport,
  type StageStatus,
} from './stage-outcome.ts';

/** Ends an attempt, with its findings. Thrown by `fail` and `interrupt`. */
class StageFailure extends Error {
  readonly findings: readonly StageFinding[];

  constructor(findings: readonly StageFinding[]) {
    super(findings.map(({ reason }) => reason).join('; '));
    this.name = 'StageFailure';
    this.findings = findings;
  }
}

export interface PipelineOptions {
  readonly name: string;
  /** The id of this run. Reporting the same run again after a crash adds nothing. */
  readonly run: string;
  /** The agent that the lessons belong to; all runs of a pipeline share it. */
  readonly agent: string;
  readonly report: StageReport;
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

interface StageOptions {
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
    work: (context: StageContext) => Promise<T>,
    options?: StageOptions,
  ): Promise<StageEnd<T>>;
  /**
   * How robust this run was so far: completion, retry rate, refine cycles and the robustness score. `planned`: names of all stages, so
   * that those which were never reached count as not completed.
   */
  figures(planned?: readonly string[]): PipelineFigures;
}

const RUN_KIND = 'pipeline';
const DEFAULT_RETRIES = 1;
const NEVER = new AbortController().signal;

/** Wraps the stages of an existing pipeline: sessions, retries and reports for each attempt. */
export function createPipeline(options: PipelineOptions): Pipeline {
  const { name, run, agent, domain, project, report, clock = systemClock, signal = NEVER } = options;
  const attempts = new Map<string, number>();
  const ended: StageOutcome[] = [];

  const attemptOnce = async <T>(
    stage: string,
    work: (context: StageContext) => Promise<T>,
    reasons: readonly StageFinding[],
  ): Promise<{ readonly outcome: StageOutcome; readonly value?: T }> => {
    const attempt = (attempts.get(stage) ?? 0) + 1;
    attempts.set(stage, attempt);
    const session = sessionOf([name, run, stage, String(attempt)]);
    const speaker: CallerIdentity = compact({ session, agent, runKind: RUN_KIND, domain, project });
    const { context, notes } = createStageContext({ stage, attempt, reasons, speaker, signal });
    const startedAt = clock.monotonic();
    const end = (failures: readonly StageFinding[]): StageOutcome => ({
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
      work: (context: StageContext) => Promise<T>,
      { retries = options.retries ?? DEFAULT_RETRIES }: StageOptions = {},
    ): Promise<StageEnd<T>> => {
      const outcomes: StageOutcome[] = [];
      for (let left = retries + 1; left > 0 && !signal.aborted; left--) {
        const reasons = outcomes.flatMap(({ failures }) => failures);
        const { outcome, value } = await attemptOnce(stage, work, reasons);
        outcomes.push(outcome);
        ended.push(outcome);
        await report(outcome);
        if (outcome.status !== 'failed') return { ok: true, value: value as T, outcomes };
      }
      return { ok: false, outcomes };
    },
    figures: (planned) => measurePipeline(measuredStages(ended.map(reportedStage), planned)),
  };
}

const statusOf = (failures: readonly StageFinding[], found: readonly StageFinding[]): StageStatus =>
  failures.length > 0 ? 'failed' : found.length > 0 ? 'warned' : 'ok';

/** A valid header value. */
const FIT = /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/;

function sessionOf(parts: readonly string[]): string {
  const plain = parts.join(':');
  return FIT.test(plain) ? plain : `pipeline-${hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32)}`;
}

/** The context of one attempt; valid for that attempt only. */
export interface StageContext {
  readonly stage: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** Why the attempts before this one failed, oldest first. */
  readonly reasons: readonly StageFinding[];
  readonly session: string;
  /** The identity for model calls: they are recorded under the stage and get its lessons. */
  readonly speaker: CallerIdentity;
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
interface StageNotes {
  readonly turns: readonly string[];
  readonly warnings: readonly StageFinding[];
  readonly refines: readonly (readonly StageFinding[])[];
}

type ContextOptions = Pick<StageContext, 'stage' | 'attempt' | 'reasons' | 'speaker' | 'signal'>;

/** A context, and the notes made through it. */
function createStageContext(options: ContextOptions): {
  readonly context: StageContext;
  readonly notes: StageNotes;
} {
  const turns: string[] = [];
  const warnings: StageFinding[] = [];
  const refines: (readonly StageFinding[])[] = [];
  const find = (said: string | readonly string[], detail: string | undefined): readonly StageFinding[] => {
    const cause: FindingCause = 'work';
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

const headersOf = ({
  session,
  agent,
  runKind,
  domain,
  project,
}: CallerIdentity): Readonly<Record<string, string>> =>
  compact({
    'x-instar-session': session,
    'x-instar-agent': agent,
    'x-instar-run-kind': runKind,
    'x-instar-domain': domain,
    'x-instar-project': project,
  }) as Record<string, string>;

const LONGEST_REASON = 500;
const DEEPEST_CAUSE = 4;

const OUTAGE_NAMES = new Set([
  'AbortError',
  'TimeoutError',
  'APIConnectionError',
  'APIConnectionTimeoutError',
]);
/** Error codes of Node and undici. */
const OUTAGE_CODES =
  /^(?:ECONN(?:RESET|REFUSED|ABORTED)|E?TIMED?OUT|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|ENET(?:UNREACH|DOWN|RESET)|EHOSTUNREACH|ABORT_ERR|UND_ERR_\w{1,40})$/;
/** Time-outs, rate limits and server errors. */
const isOutageStatus = (status: unknown): boolean =>
  typeof status === 'number' &&
  (status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600));

/** Whether an error or its cause is about the network, a rate limit or an abort. */
function isOutageError(error: unknown, depth = 0): boolean {
  if (!isObject(error) || depth > DEEPEST_CAUSE) return false;
  return (
    OUTAGE_NAMES.has(asString(error.name) ?? '') ||
    OUTAGE_CODES.test(asString(error.code) ?? '') ||
    isOutageStatus(error.status) ||
    isOutageStatus(error.statusCode) ||
    isOutageError(error.cause, depth + 1)
  );
}

/** The error of a stage as findings about its last turn. */
function readThrown(error: unknown, turn: string | undefined, isAborted: boolean): readonly StageFinding[] {
  if (error instanceof StageFailure) return error.findings;
  const said = errorMessage(error);
  const about = turn === undefined ? {} : { turn };
  const reason = said.trim().slice(0, LONGEST_REASON) || 'it threw an error without a message';
  const cause = isAborted || isOutageError(error) ? 'infrastructure' : 'thrown';
  return [{ cause, reason, ...about }];
}
