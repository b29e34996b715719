import type { Log } from '../../base/log.ts';
import type { Clock } from '../../core/clock.ts';
import type { RecordingState, Records } from '../../core/records.ts';
import { keepCopy, withFreshCopies } from './copies.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { openRecords } from './records.ts';
import { readOrCreateSalt } from './salt.ts';

export interface RecordingOptions {
  readonly home: { readonly storeFile: string; readonly snapshotDir: string; readonly saltFile: string };
  readonly settings: {
    /** Sessions older than this are erased; 0 keeps them. */
    readonly keepDays: number;
    /** Daily snapshots to keep. */
    readonly snapshots: number;
  };
  /** Every secret of this installation, as of now. */
  readonly keys: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

export interface Recording {
  readonly recorder: Recorder;
  readonly records: Records;
  state(): RecordingState;
  close(): Promise<void>;
}

const KEYS_MS = 10_000;
const DAY_MS = 86_400_000;

/** Everything that records: the writer thread, the reader thread, and the daily snapshot. */
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
      log.error({ problem: degraded, lost }, 'turns are served but not recorded');
    if (degraded === undefined && wasDegraded) log.info({ lost }, 'turns are recorded again');
    wasDegraded = degraded !== undefined;
  }, KEYS_MS);
  watch.unref();
  const snapshot = async (): Promise<void> => {
    try {
      await keepCopy(home.snapshotDir, records, settings.snapshots, clock.now());
    } catch (error) {
      log.warn({ err: error }, 'the snapshot of the store failed');
    }
  };
  const daily = setInterval(() => void snapshot(), DAY_MS);
  daily.unref();
  return {
    recorder,
    records,
    state: () => recorder.state(),
    close: async () => {
      clearInterval(watch);
      clearInterval(daily);
      await recorder.close();
      await opened.close();
    },
  };
}
