import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../core/clock.ts';
import { createFailure, errorMessage, type Failure, failureKindOf } from '../core/failure.ts';
import { asObject, asString, compact, type JsonObject, parseJson } from '../core/json.ts';
import { parseRetryAfter, type RetryRule, retryDelayMs } from '../core/retry.ts';
import {
  isOutage,
  outcomeKey,
  type StageFinding,
  type StageOutcome,
  type StageReport,
  type StageVerdict,
  stageVerdicts,
} from './stage-outcome.ts';

/** A report that could not be delivered; the stage continues without it. */
export interface ReportProblem {
  readonly path: string;
  readonly outcome: StageOutcome;
  readonly failure: Failure;
}

interface HttpReportOptions {
  /** The gateway's base URL: `http://127.0.0.1:4600`. */
  readonly url: string;
  /**
   * The key that the pipeline asks models with, made with `instar team keys create NAME --may feedback`: without that right the
   * verdicts of its checks count as weak signals only.
   */
  readonly key: string;
  readonly fetch?: typeof globalThis.fetch;
  readonly onProblem: (problem: ReportProblem) => void;
  /** Retries for a gateway that is busy or unreachable. */
  readonly retry?: RetryRule;
  readonly wait?: (ms: number) => Promise<unknown>;
  readonly clock?: Clock;
}

const RETRY: RetryRule = { retries: 3, baseMs: 200, longestMs: 5000 };
const LONGEST_POST_MS = 15_000;
const LONGEST_ANSWER = 2000;

/** How much an attempt can teach, 0 to 100: a failure most, a success little, an outage nothing. */
const WORTH = { failed: 90, warned: 70, ok: 20 } as const;

/**
 * Reports to a gateway: each attempt as an event, and the stage's verdicts on its turns as feedback, which learning uses.
 * The gateway stores each before it responds, so nothing is lost once this resolves.
 */
export function createHttpReport(options: HttpReportOptions): StageReport {
  const {
    key,
    fetch = globalThis.fetch,
    onProblem,
    retry = RETRY,
    wait = sleep,
    clock = systemClock,
  } = options;
  const base = options.url.replace(/\/+$/, '');

  const post = async (path: string, body: JsonObject, idempotency: string): Promise<Failure | undefined> => {
    try {
      const response = await fetch(`${base}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          'idempotency-key': idempotency,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(LONGEST_POST_MS),
      });
      const text = await response.text();
      return response.ok ? undefined : failureOf(response, text, clock.now());
    } catch (error) {
      return createFailure('unreachable', errorMessage(error));
    }
  };

  /** Posts have idempotency keys, so every one can be retried. */
  const send = async (path: string, body: JsonObject, idempotency: string): Promise<Failure | undefined> => {
    for (let tries = 1; ; tries++) {
      const failure = await post(path, body, idempotency);
      if (failure === undefined) return undefined;
      const pause = retryDelayMs(retry, asRetryable(failure), tries, () => 1);
      if (pause === undefined) return failure;
      await wait(pause);
    }
  };

  return async (outcome) => {
    const name = outcomeKey(outcome);
    const posts: readonly (readonly [path: string, body: JsonObject, key: string])[] = [
      ['/v1/events', eventOf(outcome), name],
      ...stageVerdicts(outcome).map(
        (verdict, nth) => ['/v1/feedback', compact({ ...verdict }), `${name}-${nth}`] as const,
      ),
    ];
    for (const [path, body, idempotency] of posts) {
      const failure = await send(path, body, idempotency);
      if (failure !== undefined) onProblem({ path, outcome, failure });
    }
  };
}

/** A turn may not be recorded yet, so "not found" is retried like a busy gateway. */
const asRetryable = (failure: Failure): Failure =>
  failure.kind === 'not-found' ? { ...failure, kind: 'overloaded' } : failure;

function failureOf(response: Response, text: string, now: number): Failure {
  const said = asString(asObject(asObject(parseJson(text)).error).message) ?? text.slice(0, LONGEST_ANSWER);
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after') ?? undefined, now);
  return createFailure(
    failureKindOf(response.status),
    said,
    compact({ status: response.status, retryAfterMs }) as Partial<Failure>,
  );
}

function eventOf(outcome: StageOutcome): JsonObject {
  const { agent, session, status, failures, refines, warnings, turns, durationMs, ...name } = outcome;
  return {
    kind: 'pipeline_stage',
    agent,
    runKind: 'pipeline',
    session,
    score: isOutage(outcome) ? 0 : WORTH[status],
    ...name,
    status,
    isOutage: isOutage(outcome),
    failures: failures.map(toJson),
    refines: refines.map((cycle) => cycle.map(toJson)),
    warnings: warnings.map(toJson),
    turns,
    durationMs: Math.round(durationMs),
  };
}

const toJson = (finding: StageFinding): JsonObject => compact({ ...finding });

interface MemoryReport {
  readonly report: StageReport;
  /** Every attempt once, in the order of the reports. */
  outcomes(): readonly StageOutcome[];
  /** The feedback that a gateway would have received. */
  verdicts(): readonly StageVerdict[];
}

/** Keeps outcomes in memory, to be read after the run. */
export function createMemoryReport(): MemoryReport {
  const kept = new Map<string, StageOutcome>();
  return {
    report: async (outcome) => {
      const key = outcomeKey(outcome);
      if (!kept.has(key)) kept.set(key, outcome);
    },
    outcomes: () => [...kept.values()],
    verdicts: () => [...kept.values()].flatMap(stageVerdicts),
  };
}
