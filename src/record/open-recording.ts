import { statSync } from 'node:fs';
import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import type { NewFact, RecordingState, Records } from '../core/store.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import type { Redactor } from '../redact/redact.ts';
import { readOrCreateSalt } from '../redact/salt.ts';
import { withCleanIds } from './clean-ids.ts';
import { followMark } from './follow-mark.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { openRecords } from './records.ts';
import { keepSnapshots, withFreshSnapshots } from './snapshots.ts';

interface RecordingOptions {
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

interface Recording {
  readonly recorder: Recorder;
  readonly records: Records;
  /** The main thread's redactor: the same marks as in the record. */
  readonly redactor: Redactor;
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
  const redactor = openRedactor({ salt, keys });
  const records = withCleanIds(withFreshSnapshots(opened, home.snapshotDir, clock.now), redactor);
  const marked = followMark(file, records, clock, log);
  void recorder.chains.then(() => {
    tellState();
    return marked.look();
  });
  /** The writer notices at a write that its file was deleted, writes it again, and opens it at the next. */
  const writeBack = async (): Promise<void> => {
    for (const _ of [1, 2])
      await recorder.append([]).catch((error: unknown) => log.error({ err: error }, 'the store is missing'));
  };
  let wasDegraded = false;
  const tellState = (): void => {
    const { degraded, lost } = recorder.state();
    if (degraded !== undefined && !wasDegraded)
      log.error(
        { problem: degraded, lost },
        'turns are served but not recorded, and nothing is learned: "instar doctor" names the fix',
      );
    if (degraded === undefined && wasDegraded) log.info({ lost }, 'turns are recorded again');
    wasDegraded = degraded !== undefined;
  };
  const watch = setInterval(() => {
    recorder.setKeys(keys());
    tellState();
    const { degraded } = recorder.state();
    if (statSync(file, { throwIfNoEntry: false }) === undefined) void writeBack();
    if (degraded === undefined) void marked.look(recorder.state().recorded);
  }, KEYS_MS);
  watch.unref();
  const snapshot = async (): Promise<void> => {
    try {
      await keepSnapshots(home.snapshotDir, records, settings.snapshots, clock.now());
    } catch (error) {
      log.warn({ err: error }, 'the snapshot of the store failed');
    }
  };
  const daily = setInterval(() => void snapshot(), DAY_MS);
  daily.unref();
  return {
    recorder,
    records,
    redactor,
    state: () => ({ ...recorder.state(), missing: marked.missing() }),
    close: async () => {
      clearInterval(watch);
      clearInterval(daily);
      await marked.look();
      await recorder.close();
      await opened.close();
    },
  };
}

/** Records that the client declared its session ended. */
export function recordSessionEnd(session: string, records: Records, clock: Clock, log: Log): void {
  const fact = { type: 'session-end', session, reason: 'said by the client' } as const;
  records.append([{ at: clock.now(), fact }]).catch((error: unknown) => {
    log.warn({ err: error, session }, 'the end of a session could not be recorded');
  });
}

/** The same records, with a listener that is called after each durable append. */
export const withAppendListener = (records: Records, tell: (facts: readonly NewFact[]) => void): Records => ({
  ...records,
  append: async (...args) => {
    const appended = await records.append(...args);
    tell(args[0]);
    return appended;
  },
});
