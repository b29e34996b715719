import { isDeepStrictEqual } from 'node:util';
import type { Spooling } from '../../team/spool/spooling.ts';
import { type AsyncStore, type Block, type NewFact, StoreError } from '../core/store.ts';
import { createPendingTurns, NOTHING_DONE } from './pending-turns.ts';
import { countUnreadable, type TurnEncoder } from './turn-encoder.ts';
import { createWorkQueue } from './work-queue.ts';
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
 * How long a turn that has ended waits for a group commit: it is durable within 50 ms of its last byte, and a commit costs as much
 * for hundreds of turns as for one.
 */
const GROUP_MS = 35;
/** How long a turn that has only begun waits: its end, or that of another one, takes it along. */
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

/** A group whose commit is not answered yet. */
interface Flight {
  readonly jobs: readonly WriterJob[];
  readonly asked: readonly Append[];
  isSpooled: boolean;
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
export function createWriter({ open, ready, spooling, keeper, say, later }: WriterOptions): Writer {
  const waiting = createPendingTurns(say);
  let store: AsyncStore | undefined;
  let isReady = false;
  /** What is wrong with the store, or with the spool where there is one. */
  let problem: string | undefined;
  let told: WriterMessage = { type: 'state', degraded: undefined };
  /** Appends of the next group. */
  let asking: Append[] = [];
  /** When the next group is due; the timer with the number `timer` begins it, and the ones before it do nothing. */
  let scheduled: 'soon' | 'late' | undefined;
  let timer = 0;
  /** A group will be written after what is written now. */
  let isQueued = false;
  let pauseMs = 0;
  let flight: Flight | undefined;

  const work = createWorkQueue({
    later,
    patienceMs: spooling && PATIENCE_MS,
    onOverdue: () => {
      if (flight !== undefined || waiting.jobs.length > 0) spoolEarly();
    },
    onEnd: () => {
      if (spooling?.isOn()) replay?.beginSoon();
    },
  });
  const { add: inTurn, isOverdue, settled } = work;

  const tell = (): void => {
    const word = {
      type: 'state' as const,
      degraded: problem ?? spooling?.full(),
      ...(spooling === undefined ? {} : { spool: spooling.describe() }),
    };
    if (isDeepStrictEqual(word, told)) return;
    told = word;
    say(word);
  };

  const ensureOpen = async (): Promise<AsyncStore> => {
    store ??= await open();
    return store;
  };
  const ensureReady = async (): Promise<AsyncStore> => {
    const target = await ensureOpen();
    if (!isReady) await ready?.(target);
    isReady = true;
    return target;
  };

  const failed = async (error: unknown): Promise<StoreError> => {
    const fault = error instanceof StoreError ? error : new StoreError('io', String(error));
    // An invalid job does not mean that the store has failed, nor does one whose right another process has.
    if ((fault !== error && store !== undefined) || fault.code === 'fenced') return fault;
    if (spooling === undefined) problem = fault.message;
    else spooling.failed(fault);
    tell();
    keeper.forget();
    if (fault.code === 'io' || fault.code === 'corrupt') {
      const broken = store;
      store = undefined;
      await broken?.close().catch(() => undefined); // It has failed already.
    }
    return fault;
  };

  /** Everything that waits in one transaction. False when a file refuses an invalid job: then each is written by itself. */
  const writeTogether = async (asked: readonly Append[]): Promise<boolean> => {
    const group = waiting.take();
    if (group.jobs.length + asked.length === 0) return true;
    const mine: Flight = { jobs: group.jobs, asked, isSpooled: false };
    flight = mine;
    try {
      const turns = { ...keeper.batch(group.jobs), isHurried: isFlood(group) };
      const facts = asked.flatMap(cleaned);
      const blocks = asked.flatMap(cleanedBlocks);
      const appended = await (await ensureReady()).append(
        asked.length === 0
          ? turns
          : { ...turns, facts: [...turns.facts, ...facts], blocks: [...(turns.blocks ?? []), ...blocks] },
      );
      flight = undefined;
      pauseMs = 0;
      problem = undefined;
      spooling?.answered();
      if (!mine.isSpooled) waiting.settle(group.jobs, countUnreadable(turns.facts));
      tell();
      let from = turns.facts.length;
      for (const job of asked) {
        say({ type: 'answer', id: job.id, value: appended.slice(from, from + job.facts.length) });
        from += job.facts.length;
      }
      return true;
    } catch (error) {
      flight = undefined;
      if (!mine.isSpooled) waiting.putBack(group.jobs);
      const isStale = error instanceof StoreError && error.code === 'stale';
      // Another process erased something: bodies are encoded again, with all their parts.
      if (isStale) keeper.forget();
      // What came since must not overtake what is in the spool.
      if (isStale && !mine.isSpooled) return writeTogether(asked);
      const fault = error instanceof StoreError && !isStale ? error : undefined;
      if (fault !== undefined) await failed(fault);
      else if (spooling === undefined) return false;
      // From the spool an invalid job is written by itself, in its place.
      else spooling.slow();
      for (const job of asked)
        if (fault !== undefined && (spooling === undefined || !job.isPatient)) refuse(job, fault);
        else if (!(mine.isSpooled && job.isPatient)) asking.push(job);
      if (spooling !== undefined) spoolWaiting();
      else if (waiting.jobs.length > 0) {
        waiting.putOff();
        pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 || 100);
        retryIn(pauseMs);
      }
      return true;
    }
  };

  const replay = spooling?.createReplay({
    open: ensureOpen,
    ready: ensureReady,
    failed,
    say,
    answered: () => {
      spooling.answered();
      tell();
    },
    later: (ms, step) => later(ms, () => void inTurn(step)),
  });

  const writeGroup = async (): Promise<void> => {
    isQueued = false;
    if (spooling?.isOn()) return spoolWaiting();
    // It takes what waits now; what comes meanwhile needs a timer of its own.
    scheduled = undefined;
    const asked = asking;
    asking = [];
    if (await writeTogether(asked)) return;
    await writeOneByOne();
    for (const job of asked) await answer(job, append);
  };
  const flush = (): void => {
    if (isOverdue()) spoolEarly();
    else if (spooling?.isOn() && !replay?.isLastStep()) spoolWaiting();
    else if (!isQueued) {
      isQueued = true;
      void inTurn(writeGroup);
    }
  };

  /** An invalid job must not block the others forever. */
  const writeOneByOne = async (): Promise<void> => {
    keeper.forget();
    const left = await waiting.settleEach(async (job) => {
      try {
        const turn = keeper.batch([job]);
        await (await ensureReady()).append(turn);
        const unreadable = countUnreadable(turn.facts);
        if (unreadable > 0) say({ ...NOTHING_DONE, unreadable });
        return 'written';
      } catch (error) {
        return error instanceof StoreError ? 'waits' : 'lost';
      }
    });
    if (left > 0) retryIn(LONGEST_PAUSE_MS);
  };

  /** The database does not answer: what it was given is spooled as well, before what came since. Written twice it counts once. */
  const spoolEarly = (): void => {
    spooling?.slow();
    if (flight !== undefined && !flight.isSpooled) {
      const said = flight.asked.filter(({ isPatient }) => isPatient);
      flight.isSpooled = spool(flight.jobs, said);
    }
    spoolWaiting();
  };
  const spoolWaiting = (): void => {
    // Behind a group that could not be spooled: order matters more than time.
    if (flight !== undefined && !flight.isSpooled) retryIn(PATIENCE_MS);
    else spoolAll();
  };
  const spoolAll = (): void => {
    scheduled = undefined;
    const { jobs } = waiting.take();
    const said = asking.filter(({ isPatient }) => isPatient);
    const actions = asking.filter(({ isPatient }) => !isPatient);
    asking = [];
    if (!spool(jobs, said)) {
      waiting.putBack(jobs);
      waiting.putOff();
      for (const job of said) refuse(job, new StoreError('full', problem ?? ''));
      retryIn(LONGEST_PAUSE_MS);
    }
    for (const job of actions) act(job);
  };
  /** False when the spool fails, too. */
  const spool = (jobs: readonly WriterJob[], said: readonly Append[]): boolean => {
    if (spooling === undefined) return false;
    try {
      const { lost, refused, unreadable } = spooling.keep(jobs, said);
      waiting.settleSpooled(jobs, lost, unreadable);
      for (const job of said)
        if (refused.includes(job)) refuse(job, new StoreError('full', spooling.full() ?? 'it is invalid'));
        else say({ type: 'answer', id: job.id, value: [] });
      problem = undefined;
      tell();
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      problem = `${spooling.describe()?.reason ?? 'the database was away'}, and what happens meanwhile cannot be kept in this home: ${error.message}`;
      tell();
      return false;
    }
  };

  /** An earlier flush replaces a later one. */
  const schedule = (when: 'soon' | 'late', ms: number): void => {
    if (scheduled === 'soon' || scheduled === when) return;
    scheduled = when;
    const mine = ++timer;
    later(ms, () => {
      if (mine === timer && scheduled !== undefined) flush();
    });
  };

  /** The store fails: what came meanwhile waits as long as the rest. */
  const retryIn = (ms: number): void => {
    scheduled = undefined;
    schedule('soon', ms);
  };

  /** `needsAll`: it needs all that came before in the store. */
  const answer = async <T extends Append | Erase | Expire>(
    job: T,
    work: (target: AsyncStore, job: T) => Promise<Value>,
    needsAll = false,
  ): Promise<void> => {
    const refusal = spooling?.refusal(needsAll);
    if (refusal !== undefined) return refuse(job, refusal);
    try {
      say({ type: 'answer', id: job.id, value: await work(await ensureReady(), job) });
    } catch (error) {
      refuse(job, await failed(error));
    }
  };
  const refuse = ({ id }: Append | Erase | Expire, { code, message }: StoreError): void =>
    say({ type: 'refusal', id, code, message });
  const cleaned = ({ facts }: Append): readonly NewFact[] => facts.map(keeper.clean.fact);
  const cleanedBlocks = ({ blocks }: Append): readonly Block[] => blocks.map(keeper.clean.block);
  const append = (target: AsyncStore, job: Append): Promise<Value> =>
    target.append({ facts: cleaned(job), blocks: cleanedBlocks(job) });
  const erase = (job: Erase): Promise<void> =>
    inTurn(async () => {
      if (pauseMs === 0) await writeGroup();
      keeper.forget();
      // What waits in the spool may be of this session, and would come back after its erasure.
      await answer(job, (target, { session, at, reason }) => target.erase(session, at, reason), true);
    });
  const expire = async (target: AsyncStore, { before, at, limit, upTo }: Expire): Promise<Value> => {
    const count = await target.expire(before, at, limit, upTo);
    if (count > 0) keeper.forget();
    return count;
  };
  const ask = (given: Append): void => {
    const job = spooling !== undefined && given.isPatient ? spooling.withKeys(given) : given;
    if (!job.isPatient && spooling?.isOn()) act(job);
    // The waiting turns cannot be written now: an answer must not wait for them. What needs a right fails alone.
    else if (pauseMs > 0 || isFenced(job)) void inTurn(() => answer(job, append));
    else asking.push(job);
    if (asking.length > 0 && !job.isPatient) flush();
  };
  /** While the spool is on. Without facts it asks for all that came before. */
  const act = (job: Append): void => {
    const needsAll = job.facts.length === 0;
    const refusal = spooling?.refusal(needsAll);
    if (refusal !== undefined) refuse(job, refusal);
    else void inTurn(() => answer(job, append, needsAll));
  };

  const tryToOpen = async (): Promise<void> => {
    if (spooling?.isOn()) return replay?.step();
    try {
      await ensureReady();
      problem = undefined;
      spooling?.answered();
      tell();
    } catch (error) {
      await failed(error);
      if (spooling === undefined) later(LONGEST_PAUSE_MS, () => void begin());
    }
  };
  const begin = (): Promise<void> => inTurn(tryToOpen);

  return {
    begin,
    take: (jobs) => {
      for (const job of jobs) {
        if (job.type === 'append') ask(job);
        else if (job.type === 'erase') void erase(job);
        else if (job.type === 'expire') void inTurn(() => answer(job, expire, true));
        else if (job.type === 'keys') keeper.setKeys(job.keys);
        else if (job.type === 'start' || job.type === 'end') waiting.add(job);
      }
      if (pauseMs === 0 && waiting.bytes >= FULL_BYTES) flush();
      else if (asking.length > 0 || jobs.some(({ type }) => type === 'end')) schedule('soon', GROUP_MS);
      else if (waiting.jobs.length > 0) schedule('late', START_MS);
    },
    close: async () => {
      flush();
      await settled();
      if (spooling?.isOn()) spoolWaiting();
      await store?.close();
      store = undefined;
      spooling?.spool.close();
    },
  };
}

const isFlood = ({ jobs, bytes }: { readonly jobs: readonly WriterJob[]; readonly bytes: number }): boolean =>
  jobs.length >= FLOOD.jobs && bytes >= FLOOD.bytes;

type Value = (WriterMessage & { readonly type: 'answer' })['value'];
