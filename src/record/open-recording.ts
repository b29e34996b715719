import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createFileSync } from '../base/atomic-file.ts';
import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import type { NewFact, RecordingState, Records } from '../core/store.ts';
import { withCopiesInThread } from './erase-from-copies.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { openRecords } from './records.ts';
import { keepSnapshots } from './snapshots.ts';

interface RecordingOptions {
  readonly home: { readonly storeFile: string; readonly snapshotDir: string; readonly saltFile: string };
  readonly settings: {
    /** Sessions older than this are erased; 0 keeps them. */
    readonly keepDays: number;
    /** Daily snapshots to keep. */
    readonly snapshots: number;
  };
  /** Called when sessions were erased because of their age. */
  readonly onExpired?: () => void;
  /** Every secret of this installation, as of now. */
  readonly keys: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

interface Recording {
  readonly recorder: Recorder;
  readonly records: Records;
  state(): RecordingState;
  close(): Promise<void>;
}

const KEYS_MS = 10_000;
const DAY_MS = 86_400_000;

/** Everything that records: the writer thread, the reader thread, and the daily snapshot. */
export function openRecording(options: RecordingOptions): Recording {
  const { home, settings, keys, clock, log } = options;
  const file = home.storeFile;
  const salt = readOrCreateSalt(home);
  const recorder = createRecorder(
    { file, keys: keys(), salt, keepDays: settings.keepDays },
    clock.now,
    options.onExpired,
  );
  const opened = openRecords(file, recorder);
  const copies = withCopiesInThread(opened, home, clock.now);
  const { records } = copies;
  copies
    .finish()
    .catch((error: unknown) => log.warn({ err: error }, 'an erasure could not reach all copies'));
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
    state: () => recorder.state(),
    close: async () => {
      clearInterval(watch);
      clearInterval(daily);
      await recorder.close();
      await copies.close();
      await opened.close();
    },
  };
}

/** The HMAC key of redaction marks: equal secrets keep equal marks over restarts. Created on first use. */
export function readOrCreateSalt({ saltFile }: { readonly saltFile: string }): string {
  createFileSync(saltFile, `${randomBytes(32).toString('base64url')}\n`);
  return readFileSync(saltFile, 'utf8').trim();
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
