import { type Block, type NewFact, type Store, StoreError } from '../core/store.ts';
import type { TurnEncoder } from './turn-encoder.ts';
import { copyOutOfRing, ringBytesOf, type WriterJob, type WriterMessage } from './writer-messages.ts';

interface WriterOptions {
  /** Opens the store, also again after a failure; throws `StoreError`. */
  readonly open: () => Store;
  readonly keeper: TurnEncoder;
  readonly say: (word: WriterMessage) => void;
  readonly later: (ms: number, run: () => void) => void;
}

interface Writer {
  /** Opens the store; retries one that cannot be opened. */
  begin(): void;
  take(jobs: readonly WriterJob[]): void;
  /** Writes what is waiting, if possible, and closes. */
  close(): void;
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
 * The only writer. Turns wait a moment and are committed in groups; control actions are committed at once,
 * together with the waiting turns, and answered only after the commit. While the store fails, turns wait up to a limit and
 * control actions are refused, because an acknowledgement must never come before the data is durable.
 */
export function createWriter({ open, keeper, say, later }: WriterOptions): Writer {
  const waiting = createPendingTurns(say);
  let store: Store | undefined;
  let degraded: string | undefined;
  /** Appends of the next group. */
  let asking: Append[] = [];
  let scheduled: 'soon' | 'late' | undefined;
  let timer = 0;
  let pauseMs = 0;

  const tell = (problem: string | undefined): void => {
    if (problem === degraded) return;
    degraded = problem;
    say({ type: 'state', degraded });
  };

  const ensureOpen = (): Store => {
    store ??= open();
    return store;
  };

  const failed = (error: unknown): StoreError => {
    // An invalid job does not mean that the store has failed.
    if (!(error instanceof StoreError) && store !== undefined) return new StoreError('io', String(error));
    const fault = error instanceof StoreError ? error : new StoreError('io', String(error));
    tell(fault.message);
    keeper.forget();
    if (fault.code === 'io' || fault.code === 'corrupt') {
      store?.close();
      store = undefined;
    }
    return fault;
  };

  /** Everything that waits in one transaction. False when one of the jobs is invalid: then each is written by itself. */
  const writeTogether = (asked: readonly Append[]): boolean => {
    if (waiting.jobs.length + asked.length === 0) return true;
    try {
      const turns = { ...keeper.batch(waiting.jobs), isHurried: waiting.bytes >= HURRY_BYTES };
      const facts = asked.flatMap(cleaned);
      const blocks = asked.flatMap(cleanedBlocks);
      const appended = ensureOpen().append(
        asked.length === 0
          ? turns
          : { ...turns, facts: [...turns.facts, ...facts], blocks: [...(turns.blocks ?? []), ...blocks] },
      );
      pauseMs = 0;
      waiting.settle();
      countUnreadable(turns.facts);
      tell(undefined);
      let from = turns.facts.length;
      for (const job of asked) {
        say({ type: 'answer', id: job.id, value: appended.slice(from, from + job.facts.length) });
        from += job.facts.length;
      }
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) return false;
      failed(error);
      for (const job of asked) refuse(job, error);
      if (waiting.jobs.length === 0) return true;
      waiting.putOff();
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 || 100);
      schedule('soon', pauseMs);
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

  const flush = (): void => {
    scheduled = undefined;
    const asked = asking;
    asking = [];
    if (writeTogether(asked)) return;
    writeOneByOne();
    for (const job of asked) answer(job, append);
  };

  /** An invalid job must not block the others forever. */
  const writeOneByOne = (): void => {
    keeper.forget();
    waiting.settleEach((job) => {
      try {
        const turn = keeper.batch([job]);
        ensureOpen().append(turn);
        countUnreadable(turn.facts);
        return 'written';
      } catch (error) {
        return error instanceof StoreError ? 'waits' : 'lost';
      }
    });
    if (waiting.jobs.length > 0) schedule('soon', LONGEST_PAUSE_MS);
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

  const answer = <T extends Append | Erase | Expire>(
    job: T,
    work: (target: Store, job: T) => Value,
  ): void => {
    try {
      say({ type: 'answer', id: job.id, value: work(ensureOpen(), job) });
    } catch (error) {
      refuse(job, failed(error));
    }
  };
  const refuse = ({ id }: Append | Erase | Expire, { code, message }: StoreError): void =>
    say({ type: 'refusal', id, code, message });
  const cleaned = ({ facts }: Append): readonly NewFact[] => facts.map(keeper.clean.fact);
  const cleanedBlocks = ({ blocks }: Append): readonly Block[] => blocks.map(keeper.clean.block);
  const append = (target: Store, job: Append): Value =>
    target.append({ facts: cleaned(job), blocks: cleanedBlocks(job) });
  const erase = (target: Store, { session, at, reason }: Erase): Value => {
    if (pauseMs === 0) flush();
    keeper.forget();
    return target.erase(session, at, reason);
  };
  const ask = (job: Append): void => {
    // The waiting turns cannot be written now: an answer must not wait for them.
    if (pauseMs > 0) answer(job, append);
    else asking.push(job);
    if (asking.length > 0 && !job.isPatient) flush();
  };

  const expire = (target: Store, { before, at, limit, upTo }: Expire): Value => {
    const count = target.expire(before, at, limit, upTo);
    if (count > 0) keeper.forget();
    return count;
  };

  const begin = (): void => {
    try {
      ensureOpen();
      tell(undefined);
    } catch (error) {
      failed(error);
      later(LONGEST_PAUSE_MS, begin);
    }
  };

  return {
    begin,
    take: (jobs) => {
      for (const job of jobs) {
        if (job.type === 'append') ask(job);
        else if (job.type === 'erase') answer(job, erase);
        else if (job.type === 'expire') answer(job, expire);
        else if (job.type === 'keys') keeper.setKeys(job.keys);
        else if (job.type === 'start' || job.type === 'end') {
          waiting.add(job);
        }
      }
      if (pauseMs === 0 && waiting.bytes >= FULL_BYTES) flush();
      else if (asking.length > 0 || jobs.some(({ type }) => type === 'end')) schedule('soon', GROUP_MS);
      else if (waiting.jobs.length > 0) schedule('late', START_MS);
    },
    close: () => {
      flush();
      store?.close();
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
  readonly jobs: readonly WriterJob[];
  /** The size of their bodies and replies. */
  readonly bytes: number;
  add(job: WriterJob): void;
  /** All are written. */
  settle(): void;
  /** They have to wait: copies them out of the ring and drops the oldest beyond the limits. */
  putOff(): void;
  /** Writes each by itself. */
  settleEach(write: (job: WriterJob) => 'written' | 'lost' | 'waits'): void;
}

function createPendingTurns(say: (word: WriterMessage) => void): PendingTurns {
  let jobs: WriterJob[] = [];
  let size = 0;

  const done = (over: readonly WriterJob[], lost: number): void => {
    const bytes = over.reduce((sum, job) => sum + sizeOf(job), 0);
    size -= bytes;
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
    settle: () => {
      const over = jobs;
      jobs = [];
      if (over.length > 0) done(over, 0);
    },
    putOff: () => {
      letGoOfRing();
      dropBeyondBound();
    },
    settleEach: (write) => {
      letGoOfRing();
      const all = jobs;
      jobs = [];
      for (const job of all) {
        const result = write(job);
        if (result === 'waits') jobs.push(job);
        else done([job], result === 'lost' && job.type === 'end' ? 1 : 0);
      }
    },
  };
}

const sizeOf = (job: WriterJob): number =>
  (job.type === 'start' ? job.body?.byteLength : job.type === 'end' ? job.reply?.byteLength : 0) ?? 0;
