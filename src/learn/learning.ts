import type { Log } from '../base/log.ts';
import { createLruMap } from '../base/lru-map.ts';
import type { Budget, Prices } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import { JUDGE_SUBJECT, type StoredFact } from '../core/fact.ts';
import { errorMessage } from '../core/failure.ts';
import { compact } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import type { NewFact, Records } from '../core/store.ts';
import { appraiseSession } from '../evidence/appraise-session.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
import { isAboutEffects, type LessonEffects } from '../lessons/effect/lesson-effects.ts';
import type { FlowWatch } from './adapt/flow-events.ts';
import type { Observer } from './adapt/observer.ts';
import { endSession, queueEpisode } from './end-session.ts';
import {
  createPendingSessions,
  createUnknownCallers,
  findStart,
  type PendingSessions,
} from './follow-record.ts';
import { type FactFold, type LearningState, loadLearning, readLearningSwitch } from './learning-state.ts';
import type { LastReflection, LearningStatus } from './learning-status.ts';
import { createProjectLabels, IDLE_MS, listLearningWaits } from './learning-waits.ts';
import type { ObserveRules } from './lesson-use/observe-rules.ts';
import { createServingCost, type ServingCost } from './model-cost.ts';
import type { ReadingQueue } from './queued-items.ts';
import type { IndexMessages } from './recollect/index-messages.ts';
import type { WriteFacts } from './runner.ts';
import { createBusyMeter, createLane, createWakeTimer } from './wake-timer.ts';

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
  | 'judgements'
  | 'sampled'
  | 'block'
  | 'append'
>;

/** What looks at turns and sessions as they are followed, beside the learners. */
export interface LearningWatchers {
  /** Reports what happens as events. */
  readonly observer?: Observer;
  readonly flows?: FlowWatch;
  /** Is told of every fact that is followed. */
  readonly watch?: FactFold;
  /** Checks the answers of a session against the rules that they were given with. */
  readonly observeRules?: ObserveRules;
  /** Queues what people typed for a model that reads it. */
  readonly reading?: ReadingQueue;
  /** Indexes what people typed in a session that has ended, for later ones. */
  readonly indexMessages?: IndexMessages;
}

interface LearningOptions extends LearningWatchers {
  readonly records: LearningRecords;
  readonly effects: Pick<LessonEffects, 'add'>;
  /** A lesson of the library by its id. */
  readonly lessonOf?: (id: string) => Lesson | undefined;
  /** The learners that run with every look, also while learning is off. */
  readonly guard?: (write: WriteFacts) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
  /** The number of failures in one scope that starts a learner. */
  readonly failures: number;
  /** Grades a session's answers with the configured verifiers. */
  readonly verify: (session: string, wanted: readonly string[] | undefined) => Promise<readonly NewFact[]>;
  readonly evidence: EvidenceReader;
  /** Nothing is folded into it yet. */
  readonly state: LearningState;
  /** The first changes of the library, where they were read already. */
  readonly takeChanges?: () => readonly StoredFact[];
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
  readonly learn: (write: WriteFacts) => Promise<unknown>;
  /** The work that waits for models: new evidence does not wait for it. Never twice at a time. */
  readonly study: (write: WriteFacts) => Promise<unknown>;
  /** Resolves when no model's answer is outstanding. */
  readonly settled: () => Promise<void>;
  /** The last reflection over sessions and notes. */
  readonly reflection?: () => LastReflection | undefined;
  /** Called after each look and each run of the learners. */
  readonly onStatus: (status: LearningStatus) => void;
}

export interface Learning {
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
  const { records, clock } = options;
  const follower = await openFollower(options);
  const meter = createBusyMeter(clock);
  const look = createLook(options, follower, meter);
  const queue = createQueue();
  let isLooking = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  const alarm = createWakeTimer(clock, () => void queue.add(() => run(false)));
  function wake(delayMs = 0): void {
    if (!isClosed) alarm.set(delayMs);
  }
  const failed = (error: unknown): void => {
    if (isClosed) return;
    status.fail(error);
    wake(RETRY_MS);
    void status.report();
  };
  const lanes = createLanes(options, {
    /** Folds what was written, between two looks. Without it the learners would find the same work again, and pay for it twice. */
    write: async (facts) => {
      if (isClosed || facts.length === 0) return;
      await records.append(facts);
      await queue.add(follower.followAll);
      wake(0);
    },
    wake,
    ended: createOnce(() => status.report().catch(failed)),
  });
  const underWay = (): number => lanes.running() + Number(alarm.isSet) + Number(isLooking);
  const status = createStatusReport(options, follower, underWay);
  const run = async (isAwaited = true): Promise<void> => {
    isLooking = true;
    lookedAt = clock.monotonic();
    try {
      if (await look.run()) wake(REST_MS);
      status.recover();
      if (isAwaited) await status.report();
      lanes.run(failed);
    } catch (error) {
      failed(error);
    } finally {
      isLooking = false;
    }
  };
  const runNow = (): Promise<void> => queue.add(() => run());
  const idle = setInterval(
    () => void endIdle(options, follower.waiting, wake).catch(failed),
    IDLE_LOOK_MS,
  ).unref();
  wake(0);
  return {
    wake: (turns) => {
      if (turns === undefined) {
        look.hurry();
        return wake(0);
      }
      meter.count(turns);
      wake(meter.isBusy() ? REST_MS : Math.max(0, lookedAt + PACE_MS - clock.monotonic()));
    },
    look: runNow,
    settle: async () => {
      for (;;) {
        alarm.clear();
        await runNow();
        await lanes.settled();
        // After a failure it tries again later: waiting for that could take forever.
        if (!alarm.isSet || status.hasProblem()) return status.report();
      }
    },
    close: async () => {
      isClosed = true;
      alarm.clear();
      clearInterval(idle);
      await queue.add(async () => undefined);
      await lanes.close();
    },
  };
}

/** What learning says of itself. A problem stays until a look succeeds. */
function createStatusReport(options: LearningOptions, follower: Follower, underWay: () => number) {
  let problem: string | undefined;
  return {
    fail: (error: unknown): void => {
      problem = errorMessage(error);
      options.log.warn({ err: error }, 'learning failed and will be retried');
    },
    recover: (): void => {
      problem = undefined;
    },
    hasProblem: (): boolean => problem !== undefined,
    report: async (): Promise<void> =>
      options.onStatus({ ...(await readStatus(options, follower, underWay)), ...compact({ problem }) }),
  };
}

/** Work that is done one after another; a failure is its own caller's. */
function createQueue(): { add(work: () => Promise<void>): Promise<void> } {
  let last: Promise<void> = Promise.resolve();
  return {
    add: (work) => {
      const done = last.then(work);
      last = done.catch(() => undefined);
      return done;
    },
  };
}

/** Reads what the record holds of learning. */
async function openFollower(options: LearningOptions): Promise<Follower> {
  const { records, state, isShared, takeChanges } = options;
  state.turn(await readLearningSwitch(records));
  for (const test of await records.events(JUDGE_SUBJECT)) state.calibration.test(test);
  return createFollower(
    options,
    await findStart(records, await loadLearning(state, records, takeChanges?.()), isShared),
  );
}

interface Follower {
  /** Reads one page of new facts. True: there are more. */
  follow(): Promise<boolean>;
  followAll(): Promise<void>;
  readonly waiting: PendingSessions;
  readonly serving: ServingCost;
  /** Turns whose caller nobody knows. */
  readonly unknown: ReturnType<typeof createUnknownCallers>;
  readonly labelOf: ReturnType<typeof createProjectLabels>;
}

/** Reads the facts after `cursor` into the state and the views of learning. */
function createFollower(options: LearningOptions, start: number): Follower {
  const { records, state } = options;
  const unknown = createUnknownCallers(options.clock.now());
  const serving = createServingCost(options.prices, options.since);
  const sessionOf = createLruMap<string, string>(MOST_TURNS);
  const waiting = createPendingSessions(async (turn) => {
    const session = sessionOf.get(turn) ?? (await records.turn(turn))?.session;
    if (session !== undefined) sessionOf.set(turn, session);
    return session;
  });
  let cursor = start;
  const note = async (stored: StoredFact): Promise<void> => {
    const { fact } = stored;
    serving.add(stored);
    unknown.add(stored);
    options.observer?.note(stored);
    options.watch?.add(stored);
    if (fact.type === 'turn-start') sessionOf.set(fact.turn, fact.session);
    if (fact.type === 'session-erased') options.evidence.forget(fact.session);
    await waiting.note(stored);
    // What a model read in a session that is over may change what the end of the session means.
    if (fact.type === 'message-read' && (await records.session(fact.session))?.endedAt !== undefined)
      waiting.ended.add(fact.session);
  };
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
  return {
    follow,
    followAll: async () => {
      while (await follow());
    },
    waiting,
    serving,
    unknown,
    labelOf: createProjectLabels(records),
  };
}

interface Look {
  /** Appraises what is new. True: there is more, after a rest. */
  run(): Promise<boolean>;
  /** Somebody waits, as for feedback: catch up even under load. */
  hurry(): void;
}

function createLook(
  options: LearningOptions,
  { follow, waiting }: Follower,
  meter: ReturnType<typeof createBusyMeter>,
): Look {
  const { records, clock, state } = options;
  const { pending, spoken, ended } = waiting;
  let isHurried = false;
  const appraise = async (session: string): Promise<readonly NewFact[]> => {
    const turns = pending.get(session);
    const wanted = turns && [...turns];
    const graded = await options.verify(session, wanted);
    const now = clock.now();
    const appraised = await appraiseSession(session, wanted, { ...options, state, now });
    const observed = (await options.observeRules?.(session, wanted, now)) ?? [];
    const unread = (await options.reading?.changed(session, wanted, now)) ?? [];
    const episode = wanted === undefined ? await queueEpisode(session, records, now) : [];
    return [...graded, ...appraised, ...observed, ...unread, ...episode];
  };
  /** Sessions with rewards first; the others only within the time slice. A session stays pending until its facts are written. */
  const lookOnce = async (until: number): Promise<number> => {
    const facts = [...((await options.observer?.take()) ?? [])];
    const looked = new Set<string>();
    const over = new Set<string>();
    const isDue = (session: string): boolean => pending.has(session) && !looked.has(session);
    for (const session of [...spoken, ...(meter.isBusy() ? [] : pending.keys())]) {
      if (!isDue(session) || (!spoken.has(session) && clock.monotonic() >= until)) continue;
      facts.push(...(await appraise(session)));
      looked.add(session);
    }
    for (const session of ended) {
      if (isDue(session)) continue;
      const made = await endSession(session, options, clock.now());
      facts.push(...made, ...((await options.observer?.session(session, made, clock.now())) ?? []));
      over.add(session);
    }
    await appendLooked(facts, options);
    for (const session of looked) waiting.done(session);
    // What was learned of them does not wait for the index.
    for (const session of over) {
      await options.indexMessages?.(session, clock.now());
      ended.delete(session);
    }
    return facts.length;
  };
  return {
    hurry: () => {
      isHurried = true;
    },
    run: async () => {
      const until = clock.monotonic() + (meter.isBusy() ? AT_ONCE_MS : AT_REST_MS);
      for (;;) {
        let isBehind = false;
        do isBehind = await follow();
        while (isBehind && (isHurried || !meter.isBusy()) && clock.monotonic() < until);
        isHurried &&= isBehind;
        await options.guard?.(async (facts) => void (await records.append(facts)));
        const count = await lookOnce(until);
        // The new facts may be what the learners need next.
        if (count > 0) isBehind = await follow();
        if (count === 0 || isBehind || pending.size > 0) return isBehind || pending.size > 0;
      }
    },
  };
}

async function appendLooked(
  facts: readonly NewFact[],
  { records, effects }: Pick<LearningOptions, 'records' | 'effects'>,
): Promise<void> {
  if (facts.length === 0) return;
  const appended = await records.append(facts);
  appended.forEach(({ seq, isNew }, index) => {
    const fact = facts[index];
    if (isNew && fact !== undefined && isAboutEffects(fact.fact)) effects.add({ seq, ...fact });
  });
}

interface Lanes {
  run(failed: (error: unknown) => void): void;
  /** How many are under way. */
  running(): number;
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface LanePorts {
  /** Facts whose fold the learners have to see before they run again. */
  readonly write: WriteFacts;
  readonly wake: () => void;
  readonly ended: () => void;
}

/** The learners, in two lanes beside each other: what must not wait for a model, and what asks one. */
function createLanes(
  { learn, study, settled, state, clock }: LearningOptions,
  { write, wake, ended }: LanePorts,
): Lanes {
  let isClosed = false;
  /** Not the alarm of new facts: a pause is nothing that `settle` waits for. */
  const later = createWakeTimer(clock, wake);
  const setAlarm = (since: number): void => {
    const { support, queuePauses, evolver } = state;
    const next = [support.nextTry(since), queuePauses.next(since), evolver.next(since)].flatMap(
      (at) => at ?? [],
    );
    if (next.length > 0 && !isClosed) later.set(Math.max(0, Math.min(...next) - clock.now()));
  };
  const lanes = [learn, study].map((work) =>
    createLane(async () => {
      // A pause may end while the work is under way, which has passed over it by then.
      const since = clock.now();
      await work(write);
      setAlarm(since);
    }, ended),
  );
  const allSettled = async (): Promise<void> => {
    for (const lane of lanes) await lane.settled();
    await settled();
  };
  return {
    run: (failed) => {
      for (const lane of lanes) lane.run(failed);
    },
    running: () => lanes.filter(({ isRunning }) => isRunning).length,
    settled: allSettled,
    close: async () => {
      isClosed = true;
      later.clear();
      await allSettled();
    },
  };
}

/** Calls together what is asked for in quick succession: the lanes mostly end together, and one report says it all. */
function createOnce(work: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    setImmediate(() => {
      isAsked = false;
      work();
    });
  };
}

/** Ends sessions that have been idle for half an hour. */
async function endIdle(
  { records, clock }: Pick<LearningOptions, 'records' | 'clock'>,
  waiting: PendingSessions,
  wake: () => void,
): Promise<void> {
  const now = clock.now();
  const facts = waiting.takeIdle(now - IDLE_MS).map((session) => ({
    at: now,
    fact: { type: 'session-end' as const, session, reason: 'idle' },
  }));
  if (facts.length === 0) return;
  await records.append(facts);
  wake();
}

/** `underWay`: how much is done at this moment. */
async function readStatus(
  { state, failures: threshold, clock, budget, reflection }: LearningOptions,
  { waiting, unknown, labelOf, serving }: Follower,
  underWay: () => number,
): Promise<LearningStatus> {
  const { totals, support, queue, undecided, calibration, judgeFault } = state;
  const { failures, successes, cycles, published, queued } = totals;
  const spent = budget.spent();
  const waits = await listLearningWaits({
    state,
    failures: threshold,
    now: clock.now(),
    open: waiting.open(),
    anonymous: unknown.count(),
    labelOf,
  });
  return {
    appraised: { failures, successes },
    support: support.size,
    waiting: queue.size,
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
    judge: { waiting: undecided.size, ...calibration.status(), ...compact({ fault: judgeFault }) },
    waits,
    on: state.switch.isOn,
    threshold,
    pending: waiting.pending.size + waiting.ended.size + underWay(),
    ...compact({ reflection: reflection?.() }),
  };
}
