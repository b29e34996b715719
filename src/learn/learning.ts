import type { Log } from '../base/log.ts';
import { createLruMap } from '../base/lru-map.ts';
import type { Clock } from '../core/clock.ts';
import type { Fact, StoredFact } from '../core/fact.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { NewFact, Records } from '../core/store.ts';
import { appraiseSession } from '../evidence/appraise-session.ts';
import type { EvidenceReader } from '../evidence/session-evidence.ts';
import type { OpenLessons } from '../lessons/open-lessons.ts';
import { endSession } from './end-session.ts';
import { createLearningState, type FactFold, type LearningState, loadLearning } from './learning-state.ts';
import { createPrices } from './model-cost.ts';
import { createPendingSessions } from './pending-sessions.ts';
import { createBusyMeter, createWakeTimer } from './wake-timer.ts';

interface LearningOptions {
  readonly records: Records;
  readonly shelf: OpenLessons;
  readonly clock: Clock;
  readonly log: Log;
  /** Grades a session's answers with the configured verifiers. */
  readonly verify: (session: string, wanted: readonly string[] | undefined) => Promise<readonly NewFact[]>;
  readonly evidence: EvidenceReader;
  /** The training samples, folded from the same facts. */
  readonly buffer: FactFold & { counts(): JsonObject };
  /** Called for every new success. */
  readonly succeeded: (turn: string, task: string) => void;
  /** Runs the learners that are ready. Called after each look, which does not wait for it. */
  readonly learn: (state: LearningState) => Promise<readonly NewFact[]>;
}

export interface Learning {
  readonly state: LearningState;
  /** New facts were recorded. */
  wake(delayMs?: number): void;
  /** Resolves when there is nothing left to do for now. */
  settle(): Promise<void>;
  status(): JsonObject;
  close(): Promise<void>;
}

const PAGE = 500;
/** Facts read again at the start: a killed daemon may not have looked at its last turns. */
const LOOK_BACK = 500;
const IDLE_MS = 30 * 60_000;
const IDLE_LOOK_MS = 60_000;
const MOST_TURNS = 20_000;
const RETRY_MS = 10_000;
/** The time slice and the pause after it: under load learning falls behind, not serving. */
const AT_ONCE_MS = 50;
const REST_MS = 450;

/**
 * Follows the record and learns from it, off the request path: appraises turns when their outcome is known, scores
 * sessions that have ended, and runs learners when there is something to learn. Its state can be rebuilt from facts.
 */
export async function startLearning(options: LearningOptions): Promise<Learning> {
  const { records, shelf, clock, log } = options;
  const state = createLearningState((at) => new Date(at).toDateString(), [options.buffer]);
  const loaded = await loadLearning(state, records);
  const sessionOf = createLruMap<string, string>(MOST_TURNS);
  const serving = createServingCost();
  const meter = createBusyMeter(clock);
  let cursor = Math.max(0, loaded - LOOK_BACK);
  const alarm = createWakeTimer(clock, () => {
    queue = queue.then(run);
  });
  let queue: Promise<void> = Promise.resolve();
  let learning: Promise<void> = Promise.resolve();
  let problem: string | undefined;
  /** A reward was recorded and has not been read yet: catch up even under load. */
  let isAsked = false;
  let isClosed = false;

  const findSession = async (turn: string): Promise<string | undefined> => {
    const known = sessionOf.get(turn) ?? (await records.turn(turn))?.session;
    if (known !== undefined) sessionOf.set(turn, known);
    return known;
  };

  const waiting = createPendingSessions(findSession);
  const { pending, spoken, ended } = waiting;
  const note = async (stored: StoredFact): Promise<void> => {
    const { fact } = stored;
    serving.add(fact);
    if (fact.type === 'turn-start') sessionOf.set(fact.turn, fact.session);
    await waiting.note(stored);
  };
  /** Reads one page of new facts. True: there are more. */
  const follow = async (): Promise<boolean> => {
    const page = await records.facts(cursor, PAGE);
    for (const stored of page) {
      state.add(stored);
      await note(stored);
      cursor = stored.seq;
    }
    return page.length === PAGE;
  };

  const lookAt = async (session: string): Promise<readonly NewFact[]> => {
    const turns = pending.get(session);
    const wanted = turns && [...turns];
    const graded = await options.verify(session, wanted);
    const said = await appraiseSession(session, wanted, { ...options, state, now: clock.now() });
    waiting.done(session);
    return [...graded, ...said];
  };
  /** Sessions with rewards first; the others only within the time slice. */
  const look = async (): Promise<void> => {
    const until = clock.monotonic() + AT_ONCE_MS;
    let isBehind = false;
    for (;;) {
      do isBehind = await follow();
      while (isBehind && (isAsked || !meter.isBusy()) && clock.monotonic() < until);
      isAsked &&= isBehind;
      const facts: NewFact[] = [];
      for (const session of spoken) if (pending.has(session)) facts.push(...(await lookAt(session)));
      for (const session of meter.isBusy() ? [] : [...pending.keys()])
        if (clock.monotonic() < until) facts.push(...(await lookAt(session)));
      for (const session of ended) {
        if (pending.has(session)) continue;
        facts.push(...(await endSession(session, records, options.evidence, clock.now())));
        ended.delete(session);
      }
      if (facts.length > 0) {
        const appended = await records.append(facts);
        appended.forEach(({ seq, isNew }, index) => {
          const fact = facts[index];
          if (isNew && fact?.fact.type === 'session-scored') shelf.effects.add({ seq, ...fact });
        });
        // The new facts may be what the learners need next.
        isBehind = await follow();
      }
      if (facts.length === 0 || isBehind || pending.size > 0) break;
    }
    if (isBehind || pending.size > 0) wake(REST_MS);
  };

  const learn = async (): Promise<void> => {
    const facts = await options.learn(state);
    if (facts.length === 0 || isClosed) return;
    await records.append(facts);
    wake(0);
  };
  const failed = (error: unknown): void => {
    problem = error instanceof Error ? error.message : String(error);
    log.warn({ err: error }, 'learning failed and will be retried');
    wake(RETRY_MS);
  };
  const run = async (): Promise<void> => {
    try {
      await look();
      problem = undefined;
      learning = learning.then(learn).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
  function wake(delayMs = 0): void {
    if (!isClosed) alarm.set(delayMs);
  }

  /** Ends sessions that have been idle for half an hour. */
  const endIdle = async (): Promise<void> => {
    const now = clock.now();
    const facts = waiting.takeIdle(now - IDLE_MS).map((session) => ({
      at: now,
      fact: { type: 'session-end' as const, session, reason: 'idle' },
    }));
    if (facts.length > 0) await records.append(facts);
    wake(0);
  };
  const idle = setInterval(() => void endIdle().catch(failed), IDLE_LOOK_MS);
  idle.unref();
  wake(0);

  return {
    state,
    wake: (delayMs = 0) => {
      if (delayMs > 0) meter.count();
      else isAsked = true;
      wake(delayMs > 0 && meter.isBusy() ? REST_MS : delayMs);
    },
    settle: async () => {
      for (;;) {
        alarm.clear();
        queue = queue.then(run);
        await queue;
        await learning;
        if (!alarm.isSet) return;
      }
    },
    status: () => {
      const judge = state.calibration.status();
      return {
        appraised: { failures: state.totals.failures, successes: state.totals.successes },
        support: state.support.size,
        waiting: state.queue.size,
        cycles: { run: state.totals.cycles, published: state.totals.published, queued: state.totals.queued },
        cost: {
          learning: { usdToday: state.totals.usdToday, tokensToday: state.totals.tokensToday },
          serving: { ...serving.total() },
        },
        buffer: options.buffer.counts(),
        judge: compact({ waiting: state.undecided.size, ...judge, interval: { ...judge.interval } }),
        ...(problem === undefined ? {} : { problem }),
      };
    },
    close: async () => {
      isClosed = true;
      alarm.clear();
      clearInterval(idle);
      await queue;
      await learning;
    },
  };
}

const MOST_OPEN = 10_000;
const MILLION = 1_000_000;

interface ServingCost {
  add(fact: Fact): void;
  /** Since the daemon started, at list prices, for comparison with the cost of learning. */
  total(): { readonly usd: number; readonly tokens: number };
}

function createServingCost(): ServingCost {
  const prices = createPrices();
  const policyOf = createLruMap<string, string>(MOST_OPEN);
  let usd = 0;
  let tokens = 0;
  return {
    add: (fact) => {
      if (fact.type === 'turn-start') policyOf.set(fact.turn, fact.policy);
      if (fact.type !== 'turn-end' || fact.usage === undefined) return;
      const { inputTokens, outputTokens } = fact.usage;
      const { input, output } = prices(fact.policy ?? policyOf.get(fact.turn) ?? '');
      tokens += inputTokens + outputTokens;
      usd += (inputTokens * input + outputTokens * output) / MILLION;
    },
    total: () => ({ usd, tokens }),
  };
}
