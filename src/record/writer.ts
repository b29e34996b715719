import { isDeepStrictEqual } from 'node:util';
import type { Replay } from '../../team/spool/replay-spool.ts';
import type { Spooling } from '../../team/spool/spooling.ts';
import { type AsyncStore, type Block, type NewFact, StoreError } from '../core/store.ts';
import { createPendingTurns, NOTHING_DONE, type PendingTurns } from './pending-turns.ts';
import { countUnreadable, type TurnEncoder } from './turn-encoder.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';
import { isFenced, type WriterJob, type WriterMessage } from './writer-messages.ts';

interface WriterOptions {
  /** Opens the store, also again after a failure; rejects with `StoreError`. */
  readonly open: () => Promise<AsyncStore>;
  /** Called once, before the first write but those of a replay. */
  readonly ready?: (store: AsyncStore) => Promise<void>;
  /** For a database that may be away; absent for a file. */
  readonly spooling?: Spooling;
  readonly keeper: TurnEncoder;
  readonly say: (word: WriterMessage) => void;
  readonly later: (ms: number, run: () => void) => void;
}

interface Writer {
  /** Opens the store; retries one that cannot be opened. */
  begin(): Promise<void>;
  take(jobs: readonly WriterJob[]): void;
  /** Writes what is waiting, if possible, and closes. */
  close(): Promise<void>;
}

/**
 * How long a turn that has ended waits for a group commit, which costs as much for hundreds of turns as for one. With the commit
 * it is durable within 50 ms of its last byte while this thread gets a core, and within half a second on a busy machine.
 */
const GROUP_MS = 35;
/** How long a turn that has only begun waits, with what it was shown: its end, or that of another one, takes them along. */
const START_MS = 250;
/** This much is worth a commit of its own. */
const FULL_BYTES = 2 * 1024 * 1024;
/** So much of so many turns at once is a flood: packing it would cost more than writing it. */
const FLOOD = { bytes: 512 * 1024, jobs: 8 };
const LONGEST_PAUSE_MS = 5000;
/** A database that has not answered for this long: turns are spooled, whatever it answers later. */
const PATIENCE_MS = 1000;

type Append = WriterJob & { readonly type: 'append' };
type Erase = WriterJob & { readonly type: 'erase' };
type Expire = WriterJob & { readonly type: 'expire' };
type AnswerValue = (WriterMessage & { readonly type: 'answer' })['value'];

/** A group whose commit is not answered yet. */
interface Flight {
  readonly jobs: readonly WriterJob[];
  readonly appends: readonly Append[];
  isSpooled: boolean;
}

interface WriterState {
  readonly options: WriterOptions;
  readonly connection: StoreConnection;
  readonly actions: ControlActions;
  /** One commit at a time. */
  readonly work: WorkQueue;
  readonly replay: Replay | undefined;
  readonly timer: FlushTimer;
  /** The turns of the next group. */
  readonly turns: PendingTurns;
  /** The appends of the next group. */
  appends: Append[];
  flight: Flight | undefined;
  /** A group will be written after what is written now. */
  isQueued: boolean;
  /** How long the waiting turns wait for a file that fails; 0 while it works. */
  pauseMs: number;
}

/**
 * The only writer of this process. Turns wait a moment and are committed in groups; control actions are committed
 * at once, together with the waiting turns, and answered only after the commit. One commit at a time: what comes meanwhile
 * is the next group. While the store fails, turns wait up to a limit and control actions are refused, because an
 * acknowledgement must never come before the data is durable.
 *
 * While a database is away, turns and what is said beside them go into the spool at once, and from there into the database
 * when it is back; what comes during the replay goes behind it. Control actions are refused as long as it is away; those that
 * need every earlier turn in the database (an erasure) also during the replay.
 */
export function createWriter(options: WriterOptions): Writer {
  const { spooling, say, later } = options;
  const connection = createConnection(options);
  const work = createWorkQueue({
    later,
    patienceMs: spooling && PATIENCE_MS,
    onOverdue: () => {
      if (state.flight !== undefined || turns.jobs.length > 0) spoolEarly(state);
    },
    onEnd: () => {
      if (spooling?.isOn()) replay?.beginSoon();
    },
  });
  const replay = spooling?.createReplay({
    open: connection.open,
    ready: connection.ready,
    failed: connection.failed,
    say,
    answered: connection.answered,
    later: (ms, step) => later(ms, () => void work.add(step)),
  });
  const turns = createPendingTurns(say);
  const timer = createFlushTimer(later, () => flush(state));
  const state: WriterState = {
    options,
    connection,
    actions: createControlActions(options, connection),
    work,
    replay,
    timer,
    turns,
    appends: [],
    flight: undefined,
    isQueued: false,
    pauseMs: 0,
  };

  return {
    begin: () => begin(state),
    take: (jobs) => {
      for (const job of jobs) takeJob(state, job);
      if (state.pauseMs === 0 && turns.bytes >= FULL_BYTES) flush(state);
      else if (jobs.some(({ type }) => type === 'end')) timer.soon();
      else if (state.appends.length + turns.jobs.length > 0) timer.late();
    },
    close: async () => {
      flush(state);
      await work.settled();
      if (spooling?.isOn()) spoolWaiting(state);
      await connection.close();
      spooling?.spool.close();
    },
  };
}

/** The store: opened when it is needed, and again after a failure. What is wrong with it is said once. */
interface StoreConnection {
  open(): Promise<AsyncStore>;
  /** Open, and past the first work of this process. */
  ready(): Promise<AsyncStore>;
  /** The database has answered. */
  answered(): void;
  /** As `answered`, and what was wrong is over. */
  recovered(): void;
  failed(error: unknown): Promise<StoreError>;
  /** What is wrong with the store, or with the spool where there is one. */
  problem(): string | undefined;
  setProblem(problem: string | undefined): void;
  close(): Promise<void>;
}

function createConnection({ open, ready, spooling, keeper, say }: WriterOptions): StoreConnection {
  let store: AsyncStore | undefined;
  let isReady = false;
  let problem: string | undefined;
  let lastState: WriterMessage = { type: 'state', degraded: undefined };

  const sayState = (): void => {
    const state = {
      type: 'state' as const,
      degraded: problem ?? spooling?.full(),
      ...(spooling === undefined ? {} : { spool: spooling.describe() }),
    };
    if (isDeepStrictEqual(state, lastState)) return;
    lastState = state;
    say(state);
  };
  const ensureOpen = async (): Promise<AsyncStore> => {
    store ??= await open();
    return store;
  };
  const answered = (): void => {
    spooling?.answered();
    sayState();
  };

  return {
    open: ensureOpen,
    ready: async () => {
      const target = await ensureOpen();
      if (!isReady) await ready?.(target);
      isReady = true;
      return target;
    },
    answered,
    recovered: () => {
      problem = undefined;
      answered();
    },
    failed: async (error) => {
      const fault = error instanceof StoreError ? error : new StoreError('io', String(error));
      // An invalid job does not mean that the store has failed, nor does one whose right another process has.
      if ((fault !== error && store !== undefined) || fault.code === 'fenced') return fault;
      if (spooling === undefined) problem = fault.message;
      else spooling.failed(fault);
      sayState();
      keeper.forget();
      if (fault.code === 'io' || fault.code === 'corrupt') {
        const broken = store;
        store = undefined;
        await broken?.close().catch(() => undefined); // It has failed already.
      }
      return fault;
    },
    problem: () => problem,
    setProblem: (next) => {
      problem = next;
      sayState();
    },
    close: async () => {
      await store?.close();
      store = undefined;
    },
  };
}

/** When the next group is due. */
interface FlushTimer {
  /** For turns that have ended. */
  soon(): void;
  /** For turns that have only begun, and patient appends. An earlier flush replaces a later one. */
  late(): void;
  /** The store fails: what came meanwhile waits as long as the rest. */
  retryIn(ms: number): void;
  /** What waits is taken now; what comes meanwhile needs a timer of its own. */
  clear(): void;
}

function createFlushTimer(later: WriterOptions['later'], flushNow: () => void): FlushTimer {
  let due: 'soon' | 'late' | undefined;
  /** The number of the timer that counts: the ones before it do nothing. */
  let newest = 0;
  const schedule = (when: 'soon' | 'late', ms: number): void => {
    if (due === 'soon' || due === when) return;
    due = when;
    const mine = ++newest;
    later(ms, () => {
      if (mine === newest && due !== undefined) flushNow();
    });
  };
  return {
    soon: () => schedule('soon', GROUP_MS),
    late: () => schedule('late', START_MS),
    retryIn: (ms) => {
      due = undefined;
      schedule('soon', ms);
    },
    clear: () => {
      due = undefined;
    },
  };
}

/** What is answered only when it is durable. None of them rejects. */
interface ControlActions {
  refuse(job: Append | Erase | Expire, error: StoreError): void;
  /** `needsAll`: it needs all that came before in the store. */
  append(job: Append, needsAll?: boolean): Promise<void>;
  erase(job: Erase): Promise<void>;
  expire(job: Expire): Promise<void>;
}

function createControlActions(
  { spooling, keeper, say }: WriterOptions,
  connection: StoreConnection,
): ControlActions {
  const refuse: ControlActions['refuse'] = ({ id }, { code, message }) =>
    say({ type: 'refusal', id, code, message });
  const answer = async (
    job: Append | Erase | Expire,
    needsAll: boolean,
    act: (store: AsyncStore) => Promise<AnswerValue>,
  ): Promise<void> => {
    const refusal = spooling?.refusal(needsAll);
    if (refusal !== undefined) return refuse(job, refusal);
    try {
      say({ type: 'answer', id: job.id, value: await act(await connection.ready()) });
    } catch (error) {
      refuse(job, await connection.failed(error));
    }
  };
  return {
    refuse,
    append: (job, needsAll = false) =>
      answer(job, needsAll, (store) => store.append(encodeAppends([job], keeper))),
    // What waits in the spool may be of this session, and would come back after its erasure.
    erase: (job) => {
      keeper.forget();
      return answer(job, true, (store) => store.erase(job.session, job.at, job.reason));
    },
    expire: (job) =>
      answer(job, true, async (store) => {
        const count = await store.expire(job.before, job.at, job.limit, job.upTo);
        if (count > 0) keeper.forget();
        return count;
      }),
  };
}

const encodeAppends = (
  appends: readonly Append[],
  { clean }: TurnEncoder,
): { readonly facts: readonly NewFact[]; readonly blocks: readonly Block[] } => ({
  facts: appends.flatMap(({ facts }) => facts.map(clean.fact)),
  blocks: appends.flatMap(({ blocks }) => blocks.map(clean.block)),
});

const begin = (state: WriterState): Promise<void> => state.work.add(() => tryToOpen(state));

async function tryToOpen(state: WriterState): Promise<void> {
  const { connection, replay, options } = state;
  if (options.spooling?.isOn()) return replay?.step();
  try {
    await connection.ready();
    connection.recovered();
  } catch (error) {
    await connection.failed(error);
    if (options.spooling === undefined) options.later(LONGEST_PAUSE_MS, () => void begin(state));
  }
}

function takeJob(state: WriterState, job: WriterJob): void {
  const { work, actions, turns, options } = state;
  if (job.type === 'append') takeAppend(state, job);
  else if (job.type === 'erase')
    void work.add(async () => {
      if (state.pauseMs === 0) await writeGroup(state);
      await actions.erase(job);
    });
  else if (job.type === 'expire') void work.add(() => actions.expire(job));
  else if (job.type === 'keys') options.keeper.setKeys(job.keys);
  else if (job.type === 'start' || job.type === 'end') turns.add(job);
}

function takeAppend(state: WriterState, given: Append): void {
  const { work, actions } = state;
  const { spooling } = state.options;
  const job = spooling !== undefined && given.isPatient ? spooling.withKeys(given) : given;
  if (!job.isPatient && spooling?.isOn()) actDuringSpooling(state, job);
  // The waiting turns cannot be written now: an answer must not wait for them. What needs a right fails alone.
  else if (state.pauseMs > 0 || isFenced(job)) void work.add(() => actions.append(job));
  else state.appends.push(job);
  if (state.appends.length > 0 && !job.isPatient) flush(state);
}

/** Without facts it asks for all that came before. */
function actDuringSpooling({ options, actions, work }: WriterState, job: Append): void {
  const needsAll = job.facts.length === 0;
  const refusal = options.spooling?.refusal(needsAll);
  if (refusal !== undefined) actions.refuse(job, refusal);
  else void work.add(() => actions.append(job, needsAll));
}

function flush(state: WriterState): void {
  const { work, replay, options } = state;
  if (work.isOverdue()) spoolEarly(state);
  else if (options.spooling?.isOn() && !replay?.isLastStep()) spoolWaiting(state);
  else if (!state.isQueued) {
    state.isQueued = true;
    void work.add(() => writeGroup(state));
  }
}

async function writeGroup(state: WriterState): Promise<void> {
  state.isQueued = false;
  if (state.options.spooling?.isOn()) return spoolWaiting(state);
  state.timer.clear();
  const { appends } = state;
  state.appends = [];
  if (await writeTogether(state, appends)) return;
  await writeOneByOne(state);
  for (const job of appends) await state.actions.append(job);
}

/** Everything that waits in one transaction. False when a file refuses an invalid job: then each is written by itself. */
async function writeTogether(state: WriterState, appends: readonly Append[]): Promise<boolean> {
  const { turns, connection } = state;
  const { keeper, say } = state.options;
  const group = turns.take();
  if (group.jobs.length + appends.length === 0) return true;
  const flight: Flight = { jobs: group.jobs, appends, isSpooled: false };
  state.flight = flight;
  try {
    const batch = { ...keeper.batch(group.jobs), isHurried: isFlood(group) };
    const { facts, blocks } = encodeAppends(appends, keeper);
    const store = await connection.ready();
    const appended = await store.append(
      appends.length === 0
        ? batch
        : { ...batch, facts: [...batch.facts, ...facts], blocks: [...(batch.blocks ?? []), ...blocks] },
    );
    state.flight = undefined;
    state.pauseMs = 0;
    if (!flight.isSpooled) turns.settle(group.jobs, countUnreadable(batch.facts));
    connection.recovered();
    let from = batch.facts.length;
    for (const job of appends) {
      say({ type: 'answer', id: job.id, value: appended.slice(from, from + job.facts.length) });
      from += job.facts.length;
    }
    return true;
  } catch (error) {
    state.flight = undefined;
    if (!flight.isSpooled) turns.putBack(group.jobs);
    return afterFailedGroup(state, flight, error);
  }
}

/** As `writeTogether`. */
async function afterFailedGroup(state: WriterState, flight: Flight, error: unknown): Promise<boolean> {
  const { turns, connection, actions, timer } = state;
  const { spooling, keeper } = state.options;
  const isStale = error instanceof StoreError && error.code === 'stale';
  // Another process erased something: bodies are encoded again, with all their parts.
  if (isStale) keeper.forget();
  // What came since must not overtake what is in the spool.
  if (isStale && !flight.isSpooled) return writeTogether(state, flight.appends);
  const fault = error instanceof StoreError && !isStale ? error : undefined;
  if (fault !== undefined) await connection.failed(fault);
  else if (spooling === undefined) return false;
  // From the spool an invalid job is written by itself, in its place.
  else spooling.slow();
  for (const job of flight.appends)
    if (fault !== undefined && (spooling === undefined || !job.isPatient)) actions.refuse(job, fault);
    else if (!(flight.isSpooled && job.isPatient)) state.appends.push(job);
  if (spooling !== undefined) spoolWaiting(state);
  else if (turns.jobs.length > 0) {
    turns.putOff();
    state.pauseMs = Math.min(LONGEST_PAUSE_MS, state.pauseMs * 2 || 100);
    timer.retryIn(state.pauseMs);
  }
  return true;
}

/** An invalid job must not block the others forever. */
async function writeOneByOne({ turns, connection, timer, options }: WriterState): Promise<void> {
  const { keeper, say } = options;
  keeper.forget();
  const left = await turns.settleEach(async (job) => {
    try {
      const turn = keeper.batch([job]);
      await (await connection.ready()).append(turn);
      const unreadable = countUnreadable(turn.facts);
      if (unreadable > 0) say({ ...NOTHING_DONE, unreadable });
      return 'written';
    } catch (error) {
      return error instanceof StoreError ? 'waits' : 'lost';
    }
  });
  if (left > 0) timer.retryIn(LONGEST_PAUSE_MS);
}

/** The database does not answer: what it was given is spooled as well, before what came since. Written twice it counts once. */
function spoolEarly(state: WriterState): void {
  const { flight } = state;
  state.options.spooling?.slow();
  if (flight !== undefined && !flight.isSpooled) {
    const patient = flight.appends.filter(({ isPatient }) => isPatient);
    flight.isSpooled = spool(state, flight.jobs, patient);
  }
  spoolWaiting(state);
}

function spoolWaiting(state: WriterState): void {
  const { flight, timer, turns, actions, connection } = state;
  // Behind a group that could not be spooled: order matters more than time.
  if (flight !== undefined && !flight.isSpooled) {
    timer.retryIn(PATIENCE_MS);
    return;
  }
  timer.clear();
  const { jobs } = turns.take();
  const patient = state.appends.filter(({ isPatient }) => isPatient);
  const urgent = state.appends.filter(({ isPatient }) => !isPatient);
  state.appends = [];
  if (!spool(state, jobs, patient)) {
    turns.putBack(jobs);
    turns.putOff();
    for (const job of patient) actions.refuse(job, new StoreError('full', connection.problem() ?? ''));
    timer.retryIn(LONGEST_PAUSE_MS);
  }
  for (const job of urgent) actDuringSpooling(state, job);
}

/** False when the spool fails, too. */
function spool(state: WriterState, jobs: readonly WriterJob[], appends: readonly Append[]): boolean {
  const { turns, actions, connection } = state;
  const { spooling, say } = state.options;
  if (spooling === undefined) return false;
  try {
    const { lost, refused, unreadable } = spooling.keep(jobs, appends);
    turns.settleSpooled(jobs, lost, unreadable);
    for (const job of appends)
      if (refused.includes(job))
        actions.refuse(job, new StoreError('full', spooling.full() ?? 'it is invalid'));
      else say({ type: 'answer', id: job.id, value: [] });
    connection.setProblem(undefined);
    return true;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const away = spooling.describe()?.reason ?? 'the database was away';
    connection.setProblem(
      `${away}, and what happens meanwhile cannot be kept in this home: ${error.message}`,
    );
    return false;
  }
}

const isFlood = ({ jobs, bytes }: { readonly jobs: readonly WriterJob[]; readonly bytes: number }): boolean =>
  jobs.length >= FLOOD.jobs && bytes >= FLOOD.bytes;
