import { type NewFact, type Store, StoreError } from '../../core/store.ts';
import { detach, heldBy, type Job, type Word } from './jobs.ts';
import type { TurnKeeper } from './keep-turn.ts';

export interface WriterOptions {
  /** Opens the store, again after it failed; throws `StoreError`. */
  readonly open: () => Store;
  readonly keeper: TurnKeeper;
  readonly say: (word: Word) => void;
  readonly later: (ms: number, run: () => void) => void;
  readonly now: () => number;
  /** Sessions older than this many days are erased; 0 keeps them. */
  readonly keepDays: number;
}

export interface Writer {
  /** Opens the store and starts the regular work; a store that cannot be opened is tried again. */
  begin(): void;
  take(jobs: readonly Job[]): void;
  /** Writes what is waiting, as well as it can be, and closes. */
  close(): void;
}

const GROUP_MS = 5;
const DAY_MS = 86_400_000;
const EXPIRED_AT_ONCE = 20;
const LONGEST_PAUSE_MS = 5000;
/** What may wait while the disk is full; beyond it turns are lost, and counted. */
const MOST_WAITING = 10_000;
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

type Control = Job & { readonly type: 'append' | 'erase' };

/**
 * The one writer. Turns wait a few milliseconds for company and are committed together; control actions are committed
 * at once and answered only then. While the store is broken turns wait, up to a bound, and control actions are refused:
 * a refusal is honest, a late yes is not.
 */
export function createWriter({ open, keeper, say, later, now, keepDays }: WriterOptions): Writer {
  let store: Store | undefined;
  let degraded: string | undefined;
  let waiting: Job[] = [];
  let waitingBytes = 0;
  let isScheduled = false;
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
    const fault = error instanceof StoreError ? error : new StoreError('io', String(error));
    tell(fault.message);
    keeper.forget();
    if (fault.code === 'io' || fault.code === 'corrupt') {
      store?.close();
      store = undefined;
    }
    return fault;
  };

  const flush = (): void => {
    isScheduled = false;
    if (waiting.length === 0) return;
    const jobs = waiting;
    try {
      const target = ensureOpen();
      target.append(keeper.batch(jobs));
    } catch (error) {
      if (!(error instanceof StoreError)) {
        keepWhatCanBe();
        return;
      }
      failed(error);
      letGoOfRing();
      dropBeyondBound();
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 || 100);
      schedule(pauseMs);
      return;
    }
    waiting = [];
    pauseMs = 0;
    done(jobs, 0);
    tell(undefined);
  };

  /** Jobs that have to wait do not keep others from crossing over. */
  const letGoOfRing = (): void => {
    const released = waiting.reduce((sum, job) => sum + heldBy(job), 0);
    if (released === 0) return;
    waiting = waiting.map(detach);
    say({ type: 'done', jobs: 0, bytes: 0, released, recorded: 0, lost: 0 });
  };

  /** One job that cannot be written, today or tomorrow, must not hold up the others for ever. */
  const keepWhatCanBe = (): void => {
    keeper.forget();
    letGoOfRing();
    const jobs = waiting;
    waiting = [];
    for (const job of jobs) {
      try {
        ensureOpen().append(keeper.batch([job]));
        done([job], 0);
      } catch (error) {
        if (error instanceof StoreError) waiting.push(job);
        else done([job], job.type === 'end' ? 1 : 0);
      }
    }
    if (waiting.length > 0) schedule(LONGEST_PAUSE_MS);
  };

  const done = (jobs: readonly Job[], lost: number): void => {
    const bytes = jobs.reduce((sum, job) => sum + sizeOf(job), 0);
    waitingBytes -= bytes;
    const ended = jobs.filter((job) => job.type === 'end').length;
    const released = jobs.reduce((sum, job) => sum + heldBy(job), 0);
    say({ type: 'done', jobs: jobs.length, bytes, released, recorded: lost > 0 ? 0 : ended, lost });
  };

  const dropBeyondBound = (): void => {
    let drop = 0;
    let bytes = waitingBytes;
    while (waiting.length - drop > MOST_WAITING || bytes > MOST_WAITING_BYTES) {
      const job = waiting[drop++];
      if (job === undefined) break;
      bytes -= sizeOf(job);
    }
    if (drop === 0) return;
    const dropped = waiting.slice(0, drop);
    waiting = waiting.slice(drop);
    done(dropped, dropped.filter((job) => job.type === 'end').length);
  };

  const schedule = (ms: number): void => {
    if (isScheduled) return;
    isScheduled = true;
    later(ms, flush);
  };

  const control = (job: Control): void => {
    try {
      const target = ensureOpen();
      if (waiting.length > 0 && pauseMs === 0) flush();
      const value =
        job.type === 'append'
          ? target.append({ facts: cleaned(job.facts), blocks: job.blocks })
          : erase(target, job);
      say({ type: 'answer', id: job.id, value });
    } catch (error) {
      const { code, message } = failed(error);
      say({ type: 'refusal', id: job.id, code, message });
    }
  };

  const cleaned = (facts: readonly NewFact[]) => facts.map((fact) => keeper.clean(fact));
  const erase = (target: Store, job: Job & { type: 'erase' }): number => {
    keeper.forget();
    return target.erase(job.session, job.at, job.reason);
  };

  /** A few sessions at a time, so that nobody waits long for the writer. */
  const expire = (): void => {
    let isMore = false;
    try {
      if (store !== undefined && keepDays > 0) {
        const count = store.expire(now() - keepDays * DAY_MS, now(), EXPIRED_AT_ONCE);
        if (count > 0) keeper.forget();
        isMore = count === EXPIRED_AT_ONCE;
      }
    } catch (error) {
      failed(error);
    }
    later(isMore ? 1000 : 3_600_000, expire);
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
    begin: () => {
      begin();
      later(60_000, expire);
    },
    take: (jobs) => {
      for (const job of jobs) {
        if (job.type === 'append' || job.type === 'erase') control(job);
        else if (job.type === 'keys') keeper.setKeys(job.keys);
        else if (job.type === 'start' || job.type === 'end') {
          waiting.push(job);
          waitingBytes += sizeOf(job);
        }
      }
      if (waiting.length > 0) schedule(GROUP_MS);
    },
    close: () => {
      flush();
      store?.close();
      store = undefined;
    },
  };
}

const sizeOf = (job: Job): number =>
  (job.type === 'start' ? job.body?.byteLength : job.type === 'end' ? job.reply?.byteLength : 0) ?? 0;
