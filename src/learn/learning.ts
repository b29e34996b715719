import type { Log } from '../base/log.ts';
import { createLruMap } from '../base/lru-map.ts';
import type { Budget, Prices } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import { JUDGE_SUBJECT, type StoredFact } from '../core/fact.ts';
import { compact } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import type { NewFact, Records } from '../core/store.ts';
import { appraiseSession } from '../evidence/appraise-session.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
import type { LessonEffects } from '../lessons/effect/lesson-effects.ts';
import type { FlowWatch } from './adapt/flow-events.ts';
import type { LimitWatch } from './adapt/limit-watch.ts';
import type { Observer } from './adapt/observer.ts';
import { endSession } from './end-session.ts';
import type { WriteFacts } from './evolve-step.ts';
import type { LastReflection } from './identity/reflect.ts';
import { createLane } from './lane.ts';
import { createLearningState, type FactFold, type LearningState, loadLearning } from './learning-state.ts';
import type { LearningStatus } from './learning-status.ts';
import { readLearningSwitch } from './learning-switch.ts';
import { createProjectLabels, IDLE_MS, listLearningWaits } from './learning-waits.ts';
import { findStart } from './look-back.ts';
import { createPendingSessions } from './pending-sessions.ts';
import { createServingCost } from './serving-cost.ts';
import { createUnknownCallers } from './unknown-callers.ts';
import { createBusyMeter, createWakeTimer } from './wake-timer.ts';

/** The reads of the record that learning needs, and its one way to write to it. */
export type LearningRecords = Pick<
  Records,
  | 'facts'
  | 'factsOf'
  | 'newestOf'
  | 'totals'
  | 'session'
  | 'turns'
  | 'turn'
  | 'rewards'
  | 'events'
  | 'recalls'
  | 'block'
  | 'append'
>;

interface LearningOptions {
  readonly records: LearningRecords;
  readonly effects: Pick<LessonEffects, 'add'>;
  /** A lesson of the library by its id. */
  readonly lessonOf?: (id: string) => Lesson | undefined;
  /** Reports what happens as events. */
  readonly observer?: Observer;
  readonly flows?: FlowWatch;
  /** Takes learned limits back that cut requests off: with every look, also while learning is off. */
  readonly limits?: LimitWatch;
  readonly clock: Clock;
  readonly log: Log;
  /** The number of failures in one scope that starts a learner. */
  readonly failures: number;
  /** Grades a session's answers with the configured verifiers. */
  readonly verify: (session: string, wanted: readonly string[] | undefined) => Promise<readonly NewFact[]>;
  readonly evidence: EvidenceReader;
  /** The training samples, folded from the same facts. */
  readonly buffer: FactFold;
  /** Several processes write the record, and learning may have been another one's. */
  readonly isShared?: boolean | undefined;
  readonly prices: Prices;
  /** When the daemon started. */
  readonly since: number;
  /** Of the learners' model calls. */
  readonly budget: Pick<Budget, 'spent'>;
  /** Called when the log has changes of the library. `isErased`: texts in it may have been erased. */
  readonly libraryChanged: (isErased: boolean) => Promise<void>;
  /** Learns from what is new. Called after each look, which does not wait for it; never twice at a time. */
  readonly learn: (state: LearningState, write: WriteFacts) => Promise<void>;
  /** The work that waits for models: new evidence does not wait for it. Never twice at a time. */
  readonly study: (state: LearningState, write: WriteFacts) => Promise<void>;
  /** Resolves when no model's answer is outstanding. */
  readonly settled: () => Promise<void>;
  /** The last reflection over sessions and notes. */
  readonly reflection?: () => LastReflection | undefined;
  /** Called after each look and each run of the learners. */
  readonly onStatus: (status: LearningStatus) => void;
}

export interface Learning {
  readonly state: LearningState;
  /** New facts were recorded: the ends of `turns` turns, or without a number facts that are learned from at once. */
  wake(turns?: number): void;
  /** Resolves when everything recorded so far has been read, and the status was reported. */
  look(): Promise<void>;
  /** Resolves when there is nothing left to do for now, or after a failure. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const PAGE = 500;
const IDLE_LOOK_MS = 60_000;
const MOST_TURNS = 20_000;
const RETRY_MS = 10_000;
/** The time slices, under load and without, and the pause after one: under load learning falls behind, not serving. */
const AT_ONCE_MS = 50;
const AT_REST_MS = 1000;
const REST_MS = 450;
/**
 * From one look to the next while turns alone arrive: what was said in a pause is looked at at once, what arrives in a hurry together.
 * What somebody waits for, such as feedback, is looked at at once, always.
 */
const PACE_MS = 1000;

/**
 * Follows the record and learns from it, off the request path: appraises turns when their outcome is known, scores
 * sessions that have ended, and runs learners when there is something to learn. Its state can be rebuilt from facts.
 */
export async function startLearning(options: LearningOptions): Promise<Learning> {
  const { records, clock, log, lessonOf, flows } = options;
  const state = createLearningState([options.buffer]);
  state.turn(await readLearningSwitch(records));
  for (const test of await records.events(JUDGE_SUBJECT)) state.calibration.test(test);
  const loaded = await loadLearning(state, records);
  const labelOf = createProjectLabels(records);
  const unknown = createUnknownCallers(clock.now());
  const sessionOf = createLruMap<string, string>(MOST_TURNS);
  const serving = createServingCost(options.prices, options.since);
  const meter = createBusyMeter(clock);
  let cursor = await findStart(records, loaded, options.isShared);
  const alarm = createWakeTimer(clock, () => {
    queue = queue.then(() => run(false));
  });
  let queue: Promise<void> = Promise.resolve();
  let problem: string | undefined;
  /** A reward was recorded and has not been read yet: catch up even under load. */
  let isAsked = false;
  let isLooking = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isTelling = false;
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
    serving.add(stored);
    unknown.add(stored);
    options.observer?.note(stored);
    options.limits?.add(stored);
    if (fact.type === 'turn-start') sessionOf.set(fact.turn, fact.session);
    if (fact.type === 'session-erased') options.evidence.forget(fact.session);
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
    const isErased = page.some(({ fact }) => fact.type === 'session-erased');
    if (isErased || page.some(({ fact }) => fact.type === 'library-changed'))
      await options.libraryChanged(isErased);
    return page.length === PAGE;
  };

  /** Folds what was written, between two looks. Without it the learners would find the same work again, and pay for it twice. */
  const catchUp = async (): Promise<void> => {
    const done = queue.then(async () => {
      while (await follow());
    });
    queue = done.catch(() => undefined);
    await done;
  };
  const lookAt = async (session: string): Promise<readonly NewFact[]> => {
    const turns = pending.get(session);
    const wanted = turns && [...turns];
    const graded = await options.verify(session, wanted);
    const appraised = await appraiseSession(session, wanted, { ...options, state, now: clock.now() });
    return [...graded, ...appraised];
  };
  /** Sessions with rewards first; the others only within the time slice. A session stays pending until its facts are written. */
  const look = async (): Promise<void> => {
    const until = clock.monotonic() + (meter.isBusy() ? AT_ONCE_MS : AT_REST_MS);
    let isBehind = false;
    for (;;) {
      do isBehind = await follow();
      while (isBehind && (isAsked || !meter.isBusy()) && clock.monotonic() < until);
      isAsked &&= isBehind;
      await options.limits?.withdraw();
      const facts = [...((await options.observer?.take()) ?? [])];
      const looked = new Set<string>();
      const over = new Set<string>();
      const isDue = (session: string): boolean => pending.has(session) && !looked.has(session);
      for (const session of spoken) {
        if (!isDue(session)) continue;
        facts.push(...(await lookAt(session)));
        looked.add(session);
      }
      for (const session of meter.isBusy() ? [] : [...pending.keys()]) {
        if (!isDue(session) || clock.monotonic() >= until) continue;
        facts.push(...(await lookAt(session)));
        looked.add(session);
      }
      for (const session of ended) {
        if (isDue(session)) continue;
        const made = await endSession(session, records, options.evidence, clock.now(), lessonOf, flows);
        facts.push(...made, ...((await options.observer?.session(session, made, clock.now())) ?? []));
        over.add(session);
      }
      if (facts.length > 0) {
        const appended = await records.append(facts);
        appended.forEach(({ seq, isNew }, index) => {
          const fact = facts[index];
          if (isNew && fact?.fact.type === 'session-scored') options.effects.add({ seq, ...fact });
        });
      }
      for (const session of looked) waiting.done(session);
      for (const session of over) ended.delete(session);
      // The new facts may be what the learners need next.
      if (facts.length > 0) isBehind = await follow();
      if (facts.length === 0 || isBehind || pending.size > 0) break;
    }
    if (isBehind || pending.size > 0) wake(REST_MS);
  };

  /** Not the alarm of new facts: a pause is nothing that `settle` waits for. */
  const later = createWakeTimer(clock, () => wake(0));
  /** Set when facts were written whose fold the learners have to see before they run again. */
  const write: WriteFacts = async (facts) => {
    if (isClosed || facts.length === 0) return;
    await records.append(facts);
    await catchUp();
    wake(0);
  };
  const setAlarm = (): void => {
    const now = clock.now();
    const { support, queuePauses, evolver } = state;
    const next = [support.nextTry(now), queuePauses.next(now), evolver.next(now)].flatMap((at) => at ?? []);
    if (next.length > 0 && !isClosed) later.set(Math.min(...next) - now);
  };
  /** The lanes mostly end together: one report says it all. */
  const tell = (): void => {
    if (isTelling) return;
    isTelling = true;
    setImmediate(() => {
      isTelling = false;
      report().catch(failed);
    });
  };
  const learning = createLane(async () => {
    await options.learn(state, write);
    setAlarm();
  }, tell);
  const studying = createLane(async () => {
    await options.study(state, write);
    setAlarm();
  }, tell);
  const countPending = (): number =>
    pending.size +
    ended.size +
    [alarm.isSet, isLooking, learning.isRunning, studying.isRunning].filter(Boolean).length;
  const status = async (): Promise<LearningStatus> => {
    const { totals, support, queue: waitingItems, undecided, calibration } = state;
    const { failures, successes, cycles, published, queued } = totals;
    const spent = options.budget.spent();
    const waits = await listLearningWaits({
      state,
      failures: options.failures,
      now: clock.now(),
      open: waiting.open(),
      anonymous: unknown.count(),
      labelOf,
    });
    return {
      appraised: { failures, successes },
      support: support.size,
      waiting: waitingItems.size,
      cycles: { run: cycles, published, queued },
      cost: {
        learning: {
          usdToday: spent.usd,
          tokensToday: spent.tokens,
          unpricedTokensToday: spent.unpriced,
          callsToday: spent.calls,
        },
        serving: { ...serving.total(), models: serving.models() },
      },
      judge: {
        waiting: undecided.size,
        ...calibration.status(),
        ...(state.judgeFault === undefined ? {} : { fault: state.judgeFault }),
      },
      waits,
      on: state.switch.isOn,
      threshold: options.failures,
      pending: countPending(),
      ...compact({ reflection: options.reflection?.() }),
      ...(problem === undefined ? {} : { problem }),
    };
  };
  const report = async (): Promise<void> => options.onStatus(await status());
  const failed = (error: unknown): void => {
    if (isClosed) return;
    problem = error instanceof Error ? error.message : String(error);
    log.warn({ err: error }, 'learning failed and will be retried');
    wake(RETRY_MS);
    void report();
  };
  const run = async (isAwaited = true): Promise<void> => {
    isLooking = true;
    lookedAt = clock.monotonic();
    try {
      await look();
      problem = undefined;
      if (isAwaited) await report();
      learning.run(failed);
      studying.run(failed);
    } catch (error) {
      failed(error);
    } finally {
      isLooking = false;
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
    if (facts.length === 0) return;
    await records.append(facts);
    wake(0);
  };
  const idle = setInterval(() => void endIdle().catch(failed), IDLE_LOOK_MS);
  idle.unref();
  wake(0);

  return {
    state,
    wake: (turns) => {
      if (turns === undefined) isAsked = true;
      else meter.count(turns);
      if (turns === undefined) wake(0);
      else wake(meter.isBusy() ? REST_MS : Math.max(0, lookedAt + PACE_MS - clock.monotonic()));
    },
    look: () => {
      queue = queue.then(() => run());
      return queue;
    },
    settle: async () => {
      for (;;) {
        alarm.clear();
        queue = queue.then(() => run());
        await queue;
        await learning.settled();
        await studying.settled();
        await options.settled();
        // After a failure it tries again later: waiting for that could take forever.
        if (!alarm.isSet || problem !== undefined) return report();
      }
    },
    close: async () => {
      isClosed = true;
      alarm.clear();
      later.clear();
      clearInterval(idle);
      await queue;
      await learning.settled();
      await studying.settled();
      await options.settled();
    },
  };
}
