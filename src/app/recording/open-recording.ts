import type { Home } from '../../config/home.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Desk } from '../../core/desk.ts';
import type { RecordingState, Records } from '../../core/records.ts';
import { createDesk } from '../desk.ts';
import type { Log } from '../log.ts';
import { keepCopy, withFreshCopies } from './copies.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { openRecords } from './records.ts';
import { readOrCreateSalt } from './salt.ts';

export interface RecordingOptions {
  readonly home: Home;
  readonly settings: Config['store'];
  /** Every secret we hold now. */
  readonly keys: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

export interface Recording {
  readonly recorder: Recorder;
  readonly records: Records;
  readonly desk: Desk;
  state(): RecordingState;
  close(): Promise<void>;
}

const KEYS_MS = 10_000;
const DAY_MS = 86_400_000;

/** Everything that keeps the record: the writer's thread, the reader's, and the daily copy. */
export function openRecording({ home, settings, keys, clock, log }: RecordingOptions): Recording {
  const file = home.storeFile;
  const salt = readOrCreateSalt(home);
  const recorder = createRecorder({ file, keys: keys(), salt, keepDays: settings.keepDays }, clock.now);
  const opened = openRecords(file, recorder);
  const records = withFreshCopies(opened, home.snapshotDir, clock.now);
  let wasDegraded = false;
  const watch = setInterval(() => {
    recorder.setKeys(keys());
    const { degraded, lost } = recorder.state();
    if (degraded !== undefined && !wasDegraded)
      log.error({ problem: degraded, lost }, 'turns are served but not kept');
    if (degraded === undefined && wasDegraded) log.info({ lost }, 'turns are kept again');
    wasDegraded = degraded !== undefined;
  }, KEYS_MS);
  watch.unref();
  const copy = async (): Promise<void> => {
    try {
      await keepCopy(home.snapshotDir, records, settings.snapshots, clock.now());
    } catch (error) {
      log.warn({ err: error }, 'no copy of the store could be made');
    }
  };
  const copies = setInterval(() => void copy(), DAY_MS);
  copies.unref();
  return {
    recorder,
    records,
    desk: createDesk(records, clock.now),
    state: () => recorder.state(),
    close: async () => {
      clearInterval(watch);
      clearInterval(copies);
      await recorder.close();
      await opened.close();
    },
  };
}
