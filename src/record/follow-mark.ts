import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import type { Records } from '../core/store.ts';
import { findLostRecord, readStoreMark, type StoreMark, writeStoreMark } from './store-mark.ts';

interface FollowedMark {
  /** What is missing of the record that this home had before; undefined when nothing is. */
  missing(): string | undefined;
  /**
   * Compares the record with its mark, then moves the mark. With a number of recorded turns it does nothing while that
   * number has not changed, and at most once a minute. Never rejects.
   */
  look(recorded?: number): Promise<void>;
}

const LOOK_MS = 60_000;

/** A mark that is not met stays as it is, so that the loss is told until a person restores the record or accepts the new one. */
export function followMark(
  file: string,
  records: Pick<Records, 'facts' | 'totals'>,
  clock: Clock,
  log: Log,
): FollowedMark {
  let missing: string | undefined;
  let last: number | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> = Promise.resolve();

  const measure = async (): Promise<StoreMark> => {
    const [first] = await records.facts(0, 1);
    const { facts, turns } = await records.totals();
    return { firstAt: first?.at ?? 0, facts, turns, at: clock.now() };
  };
  const look = async (): Promise<void> => {
    try {
      const now = await measure();
      const lost = findLostRecord(readStoreMark(file), now);
      if (lost !== undefined && lost !== missing)
        log.error(
          `${lost}. Restore a copy with "instar data restore FILE"; "instar doctor" names the newest one`,
        );
      missing = lost;
      if (lost === undefined && now.facts > 0) await writeStoreMark(file, now);
    } catch (error) {
      log.debug({ err: error }, 'the record could not be compared with its mark');
    }
  };
  return {
    missing: () => missing,
    look: (recorded) => {
      const now = clock.monotonic();
      if (recorded !== undefined && (recorded === last || now - lookedAt < LOOK_MS)) return running;
      last = recorded;
      lookedAt = now;
      running = running.then(look);
      return running;
    },
  };
}
