import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../core/clock.ts';
import { createFailure, type Failure, failureKindOf } from '../core/failure.ts';
import { asObject, asString, compact, type Json, type JsonObject, parseJson } from '../core/json.ts';
import { parseRetryAfter, type RetryRule, retryDelayMs } from '../core/retry.ts';
import { outcomeKey } from './outcome-key.ts';
import { isOutage, type Report, type StageOutcome } from './stage-outcome.ts';
import { verdictsOf } from './verdicts-of.ts';

/** Something that could not be told; the stage goes on without it. */
export interface ReportProblem {
  readonly path: string;
  readonly outcome: StageOutcome;
  readonly failure: Failure;
}

export interface HttpReportOptions {
  /** Where the gateway is: `http://127.0.0.1:4600`. */
  readonly url: string;
  /** Instar's key. */
  readonly key: string;
  readonly fetch?: typeof globalThis.fetch;
  readonly onProblem: (problem: ReportProblem) => void;
  /** How often and how long to wait for a gateway that is busy or away. */
  readonly retry?: RetryRule;
  readonly wait?: (ms: number) => Promise<unknown>;
  readonly clock?: Clock;
}

const RETRY: RetryRule = { retries: 3, baseMs: 200, longestMs: 5000 };
const LONGEST_POST_MS = 15_000;
const LONGEST_ANSWER = 2000;

/** How much there is to learn from an attempt, 0 to 100: what failed most, what went well hardly, an outage nothing. */
const WORTH = { failed: 90, warned: 70, ok: 20 } as const;

/**
 * Tells a gateway: each attempt as an event, and what the stage's check says of its turns as feedback, which is what is
 * learned from. The gateway keeps each before it answers, so that nothing is lost once this resolves.
 */
export function createHttpReport(options: HttpReportOptions): Report {
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
      return createFailure('unreachable', error instanceof Error ? error.message : String(error));
    }
  };

  /** Telling twice is telling once, so that every post may be tried again. */
  const tell = async (path: string, body: JsonObject, idempotency: string): Promise<Failure | undefined> => {
    for (let tries = 1; ; tries++) {
      const failure = await post(path, body, idempotency);
      if (failure === undefined) return undefined;
      const pause = retryDelayMs(retry, asPassing(failure), tries, () => 1);
      if (pause === undefined) return failure;
      await wait(pause);
    }
  };

  return async (outcome) => {
    const name = outcomeKey(outcome);
    const posts: readonly (readonly [path: string, body: JsonObject, key: string])[] = [
      ['/v1/events', eventOf(outcome), name],
      ...verdictsOf(outcome).map(
        (verdict, nth) => ['/v1/feedback', compact({ ...verdict }), `${name}-${nth}`] as const,
      ),
    ];
    for (const [path, body, idempotency] of posts) {
      const failure = await tell(path, body, idempotency);
      if (failure !== undefined) onProblem({ path, outcome, failure });
    }
  };
}

/** A turn may be younger than its record: not found yet is worth waiting for like a busy gateway. */
const asPassing = (failure: Failure): Failure =>
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
    failures: failures as unknown as Json,
    refines: refines as unknown as Json,
    warnings: warnings as unknown as Json,
    turns,
    durationMs: Math.round(durationMs),
  };
}
