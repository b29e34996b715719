import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createFileSync } from '../base/atomic-file.ts';
import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { NewFact, RecordingState, Records } from '../core/store.ts';
import { openCopies } from './copies.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { openRecords } from './records.ts';
import { createRetention, type Retention } from './retention.ts';
import { withFreshSnapshots } from './snapshots.ts';
import type { TrustedClock } from './trusted-clock.ts';

interface RecordingOptions {
  readonly home: { readonly storeFile: string; readonly snapshotDir: string; readonly saltFile: string };
  readonly settings: {
    /** Sessions older than this are erased; 0 keeps them. */
    readonly keepDays: number;
    /** Daily copies to keep. */
    readonly snapshots: number;
  };
  /** Every secret of this installation, as of now. */
  readonly keys: () => readonly string[];
  readonly clock: TrustedClock;
  readonly log: Log;
}

interface Recording {
  readonly recorder: Recorder;
  readonly records: Records;
  state(): RecordingState;
  /** Daily copies and what is erased by its age, for `status`. */
  describeCopies(): JsonObject;
  readonly retention: Pick<Retention, 'run'>;
  close(): Promise<void>;
}

const KEYS_MS = 10_000;

/** Everything that records: the writer thread, the reader thread, the daily copy, and what is erased by its age. */
export function openRecording({ home, settings, keys, clock, log }: RecordingOptions): Recording {
  const file = home.storeFile;
  const salt = readOrCreateSalt(home);
  const recorder = createRecorder({ file, keys: keys(), salt }, clock.now);
  const opened = openRecords(file, recorder);
  const records = withFreshSnapshots(opened, home.snapshotDir, clock.now);
  clock.record(records);
  const copies = openCopies({ home, daily: settings.snapshots, now: clock.now, log });
  const { keepDays } = settings;
  const { expire } = recorder;
  const retention = createRetention({
    keepDays,
    time: clock,
    copies: settings.snapshots > 0 ? copies : undefined,
    expire,
    log,
  });
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
  return {
    recorder,
    records,
    state: () => recorder.state(),
    describeCopies: () => ({ ...copies.describe(), ...retention.describe() }),
    retention,
    close: async () => {
      clearInterval(watch);
      retention.close();
      await copies.close();
      await recorder.close();
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
