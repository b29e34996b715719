import { type AsyncStore, type Block, type NewFact, StoreError } from '../core/store.ts';
import type { TurnEncoder } from './turn-encoder.ts';
import { copyOutOfRing, ringBytesOf, type WriterJob, type WriterMessage } from './writer-messages.ts';

interface WriterOptions {
  /** Opens the store, also again after a failure; rejects with `StoreError`. */
  readonly open: () => Promise<AsyncStore>;
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
const FULL_BYTES = 512 * 1024;
/** With this much waiting the writer is behind. */
const HURRY_BYTES = 2 * 1024 * 1024;
const LONGEST_PAUSE_MS = 5000;

type Append = WriterJob & { readonly type: 'append' };
type Erase = WriterJob & { readonly type: 'erase' };
type Expire = WriterJob & { readonly type: 'expire' };

/**
 * The only writer of this process. Turns wait a moment and are committed in groups; control actions are committed
 * at once, together with the waiting turns, and answered only after the commit. One commit at a time: what comes meanwhile
 * is the next group. While the store fails, turns wait up to a limit and control actions are refused, because an
 * acknowledgement must never come before the data is durable.
 */
export function createWriter({ open, keeper, say, later }: WriterOptions): Writer {
  const waiting = createPendingTurns(say);
  let store: AsyncStore | undefined;
  let degraded: string | undefined;
  /** Appends of the next group. */
  let asking: Append[] = [];
  /** When the next group is due; the timer with the number `timer` begins it, and the ones before it do nothing. */
  let scheduled: 'soon' | 'late' | undefined;
  let timer = 0;
  /** A group will be written after what is written now. */
  let isQueued = false;
  let pauseMs = 0;
  let last: Promise<void> = Promise.resolve();

  /** One after the other. `work` never rejects. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work);
    return last;
  };

  const tell = (problem: string | undefined): void => {
    if (problem === degraded) return;
    degraded = problem;
    say({ type: 'state', degraded });
  };

  const ensureOpen = async (): Promise<AsyncStore> => {
    store ??= await open();
    return store;
  };

  const failed = async (error: unknown): Promise<StoreError> => {
    // An invalid job does not mean that the store has failed.
    if (!(error instanceof StoreError) && store !== undefined) return new StoreError('io', String(error));
    const fault = error instanceof StoreError ? error : new StoreError('io', String(error));
    tell(fault.message);
    keeper.forget();
    if (fault.code === 'io' || fault.code === 'corrupt') {
      const broken = store;
      store = undefined;
      // It has failed already.
      await broken?.close().catch(() => undefined);
    }
    return fault;
  };

  /** Everything that waits in one transaction. False when one of the jobs is invalid: then each is written by itself. */
  const writeTogether = async (asked: readonly Append[]): Promise<boolean> => {
    const group = waiting.take();
    if (group.jobs.length + asked.length === 0) return true;
    try {
      const turns = { ...keeper.batch(group.jobs), isHurried: group.bytes >= HURRY_BYTES };
      const facts = asked.flatMap(cleaned);
      const blocks = asked.flatMap(cleanedBlocks);
      const appended = await (await ensureOpen()).append(
        asked.length === 0
          ? turns
          : { ...turns, facts: [...turns.facts, ...facts], blocks: [...(turns.blocks ?? []), ...blocks] },
      );
      pauseMs = 0;
      waiting.settle(group.jobs);
      countUnreadable(turns.facts);
      tell(undefined);
      let from = turns.facts.length;
      for (const job of asked) {
        say({ type: 'answer', id: job.id, value: appended.slice(from, from + job.facts.length) });
        from += job.facts.length;
      }
      return true;
    } catch (error) {
      waiting.putBack(group.jobs);
      if (!(error instanceof StoreError)) return false;
      if (error.code === 'stale') {
        // Another process erased something: bodies are encoded again, with all their parts.
        keeper.forget();
        return writeTogether(asked);
      }
      await failed(error);
      for (const job of asked) refuse(job, error);
      if (waiting.jobs.length === 0) return true;
      waiting.putOff();
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 || 100);
      retryIn(pauseMs);
      return true;
    }
  };

  const countUnreadable = (facts: readonly NewFact[]): void => {
    const unreadable = facts.filter(
      ({ fact }) => 'unreadable' in fact && fact.unreadable !== undefined,
    ).length;
    if (unreadable > 0)
      say({ type: 'done', jobs: 0, bytes: 0, released: 0, recorded: 0, lost: 0, unreadable });
  };

  const writeGroup = async (): Promise<void> => {
    isQueued = false;
    // It takes what waits now; what comes meanwhile needs a timer of its own.
    scheduled = undefined;
    const asked = asking;
    asking = [];
    if (await writeTogether(asked)) return;
    await writeOneByOne();
    for (const job of asked) await answer(job, append);
  };
  const flush = (): void => {
    if (isQueued) return;
    isQueued = true;
    void inTurn(writeGroup);
  };

  /** An invalid job must not block the others forever. */
  const writeOneByOne = async (): Promise<void> => {
    keeper.forget();
    const left = await waiting.settleEach(async (job) => {
      try {
        const turn = keeper.batch([job]);
        await (await ensureOpen()).append(turn);
        countUnreadable(turn.facts);
        return 'written';
      } catch (error) {
        if (error instanceof StoreError && error.code === 'stale') keeper.forget();
        return error instanceof StoreError ? 'waits' : 'lost';
      }
    });
    if (left > 0) retryIn(LONGEST_PAUSE_MS);
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

  const answer = async <T extends Append | Erase | Expire>(
    job: T,
    work: (target: AsyncStore, job: T) => Promise<Value>,
  ): Promise<void> => {
    try {
      say({ type: 'answer', id: job.id, value: await work(await ensureOpen(), job) });
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
  const erase = async (target: AsyncStore, { session, at, reason }: Erase): Promise<Value> => {
    if (pauseMs === 0) await writeGroup();
    keeper.forget();
    return (store ?? target).erase(session, at, reason);
  };
  const ask = (job: Append): void => {
    // The waiting turns cannot be written now: an answer must not wait for them.
    if (pauseMs > 0) void inTurn(() => answer(job, append));
    else asking.push(job);
    if (asking.length > 0 && !job.isPatient) flush();
  };

  const expire = async (target: AsyncStore, { before, at, limit, upTo }: Expire): Promise<Value> => {
    const count = await target.expire(before, at, limit, upTo);
    if (count > 0) keeper.forget();
    return count;
  };

  const tryToOpen = async (): Promise<void> => {
    try {
      await ensureOpen();
      tell(undefined);
    } catch (error) {
      await failed(error);
      later(LONGEST_PAUSE_MS, () => void begin());
    }
  };
  const begin = (): Promise<void> => inTurn(tryToOpen);

  return {
    begin,
    take: (jobs) => {
      for (const job of jobs) {
        if (job.type === 'append') ask(job);
        else if (job.type === 'erase') void inTurn(() => answer(job, erase));
        else if (job.type === 'expire') void inTurn(() => answer(job, expire));
        else if (job.type === 'keys') keeper.setKeys(job.keys);
        else if (job.type === 'start' || job.type === 'end') {
          waiting.add(job);
        }
      }
      if (pauseMs === 0 && waiting.bytes >= FULL_BYTES) flush();
      else if (asking.length > 0 || jobs.some(({ type }) => type === 'end')) schedule('soon', GROUP_MS);
      else if (waiting.jobs.length > 0) schedule('late', START_MS);
    },
    close: async () => {
      flush();
      await last;
      await store?.close();
      store = undefined;
    },
  };
}

type Value = (WriterMessage & { readonly type: 'answer' })['value'];

/** The limits of what waits while the store fails; beyond them turns are lost, and counted. */
const MOST_WAITING = 10_000;
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

/** Starts and ends of turns that are not written yet, in order. Reports the outcome of each once. */
interface PendingTurns {
  /** Those that wait, without those that were taken. */
  readonly jobs: readonly WriterJob[];
  /** The size of their bodies and replies. */
  readonly bytes: number;
  add(job: WriterJob): void;
  /** All that wait, to be written now. */
  take(): { readonly jobs: readonly WriterJob[]; readonly bytes: number };
  /** What was taken is written. */
  settle(taken: readonly WriterJob[]): void;
  /** What was taken could not be written: it waits again, before what came since. */
  putBack(taken: readonly WriterJob[]): void;
  /** They have to wait: copies them out of the ring and drops the oldest beyond the limits. */
  putOff(): void;
  /** Writes each by itself. Returns how many of them still wait. */
  settleEach(write: (job: WriterJob) => Promise<'written' | 'lost' | 'waits'>): Promise<number>;
}

function createPendingTurns(say: (word: WriterMessage) => void): PendingTurns {
  let jobs: WriterJob[] = [];
  let size = 0;

  const done = (over: readonly WriterJob[], lost: number): void => {
    const bytes = sizeOfAll(over);
    const ended = over.filter((job) => job.type === 'end').length;
    const released = over.reduce((sum, job) => sum + ringBytesOf(job), 0);
    say({
      type: 'done',
      jobs: over.length,
      bytes,
      released,
      recorded: lost > 0 ? 0 : ended,
      lost,
      unreadable: 0,
    });
  };
  const letGoOfRing = (): void => {
    const released = jobs.reduce((sum, job) => sum + ringBytesOf(job), 0);
    if (released === 0) return;
    jobs = jobs.map(copyOutOfRing);
    say({ type: 'done', jobs: 0, bytes: 0, released, recorded: 0, lost: 0, unreadable: 0 });
  };
  const dropBeyondBound = (): void => {
    let drop = 0;
    let bytes = size;
    while (jobs.length - drop > MOST_WAITING || bytes > MOST_WAITING_BYTES) {
      const job = jobs[drop++];
      if (job === undefined) break;
      bytes -= sizeOf(job);
    }
    if (drop === 0) return;
    const dropped = jobs.slice(0, drop);
    jobs = jobs.slice(drop);
    size -= sizeOfAll(dropped);
    done(dropped, dropped.filter((job) => job.type === 'end').length);
  };

  return {
    get jobs() {
      return jobs;
    },
    get bytes() {
      return size;
    },
    add: (job) => {
      jobs.push(job);
      size += sizeOf(job);
    },
    take: () => {
      const taken = { jobs, bytes: size };
      jobs = [];
      size = 0;
      return taken;
    },
    settle: (taken) => {
      if (taken.length > 0) done(taken, 0);
    },
    putBack: (taken) => {
      jobs = [...taken, ...jobs];
      size += sizeOfAll(taken);
    },
    putOff: () => {
      letGoOfRing();
      dropBeyondBound();
    },
    settleEach: async (write) => {
      letGoOfRing();
      const all = jobs;
      const left: WriterJob[] = [];
      jobs = [];
      size = 0;
      for (const job of all) {
        const result = await write(job);
        if (result === 'waits') left.push(job);
        else done([job], result === 'lost' && job.type === 'end' ? 1 : 0);
      }
      jobs = [...left, ...jobs];
      size += sizeOfAll(left);
      return left.length;
    },
  };
}

const sizeOfAll = (jobs: readonly WriterJob[]): number => jobs.reduce((sum, job) => sum + sizeOf(job), 0);

const sizeOf = (job: WriterJob): number =>
  (job.type === 'start' ? job.body?.byteLength : job.type === 'end' ? job.reply?.byteLength : 0) ?? 0;
