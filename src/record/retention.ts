import type { Log } from '../base/log.ts';
import type { JsonObject } from '../core/json.ts';
import type { Copies } from './copies.ts';
import type { Recorder } from './recorder.ts';
import type { TrustedClock } from './trusted-clock.ts';

interface RetentionOptions {
  /** Sessions older than this are erased; 0 keeps them. Read for each run, like `copies`: both may change. */
  readonly keepDays: number;
  readonly time: Pick<TrustedClock, 'now' | 'doubt'>;
  /** Undefined when the owner wants no copies. */
  readonly copies: Pick<Copies, 'ensure' | 'problem'> | undefined;
  readonly expire: Recorder['expire'];
  readonly log: Log;
  /** The result cancels it. */
  readonly later?: (ms: number, run: () => void) => () => void;
}

export interface Retention {
  /** Makes the copy that is due, then erases what is too old. Returns the number of sessions erased. Never rejects. */
  run(): Promise<number>;
  /** For `status`. */
  describe(): JsonObject;
  close(): void;
}

const DAY_MS = 86_400_000;
/** A smaller error of the clock goes unnoticed (see `base/trusted-time`): it must not erase anything too early either. */
const SLACK_MS = DAY_MS;
const AT_ONCE = 20;
const PAUSE_MS = 1_000;
const FIRST_MS = 5_000;
const EVERY_MS = 3_600_000;

/**
 * Erases sessions that are older than the owner wants to keep them: only while the clock is believed, and only those that a
 * sound copy holds. A few at a time, so that the writer is never blocked for long.
 */
export function createRetention(options: RetentionOptions): Retention {
  const { time, expire, log, later = laterUnref } = options;
  let waitsFor: string | undefined;
  let running: Promise<number> | undefined;
  let cancel: () => void = () => undefined;
  let isClosed = false;

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      cancel = later(ms, resolve);
    });
  const work = async (): Promise<number> => {
    const { keepDays, copies } = options;
    const copy = await copies?.ensure();
    if (keepDays === 0) return 0;
    waitsFor = copy === undefined && copies?.problem() !== undefined ? 'a copy of the record' : undefined;
    // Without any copy, and without a fact to copy, nothing is old enough.
    const upTo = copies === undefined ? {} : { upTo: copy?.facts ?? 0 };
    for (let erased = 0; ; ) {
      if (time.doubt() !== undefined) waitsFor = 'the time to be confirmed';
      if (waitsFor !== undefined || isClosed) return erased;
      const at = time.now();
      const before = at - keepDays * DAY_MS - SLACK_MS;
      const count = await expire({ before, at, limit: AT_ONCE, ...upTo });
      erased += count;
      if (count < AT_ONCE) {
        if (erased > 0) log.info({ sessions: erased, keepDays }, 'sessions that were too old were erased');
        return erased;
      }
      await pause(PAUSE_MS);
    }
  };
  const run = (): Promise<number> => {
    running ??= work()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'sessions that are too old could not be erased');
        return 0;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const plan = (ms: number): void => {
    if (isClosed) return;
    cancel = later(ms, () => void run().then(() => plan(EVERY_MS)));
  };
  plan(FIRST_MS);

  return {
    run,
    describe: () => {
      const { keepDays } = options;
      return waitsFor === undefined ? { keepDays } : { keepDays, waitsFor };
    },
    close: () => {
      isClosed = true;
      cancel();
    },
  };
}

const laterUnref = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
};
