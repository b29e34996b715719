import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../config/home.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Desk } from '../../core/desk.ts';
import type { RecordingState, Records } from '../../core/records.ts';
import { createDesk } from '../desk.ts';
import type { Log } from '../log.ts';
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
  const records = openRecords(file, recorder);
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
      await keepCopy(home, records, settings.snapshots, clock.now());
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
      await records.close();
    },
  };
}

/** A copy by the day's name, and not more of them than wanted. */
async function keepCopy(home: Home, records: Records, keep: number, now: number): Promise<void> {
  if (keep === 0) return;
  mkdirSync(home.snapshotDir, { recursive: true, mode: 0o700 });
  const name = `${new Date(now).toISOString().slice(0, 19).replaceAll(':', '')}.sqlite`;
  await records.snapshot(join(home.snapshotDir, name));
  const old = readdirSync(home.snapshotDir)
    .filter((entry) => entry.endsWith('.sqlite'))
    .sort()
    .slice(0, -keep);
  for (const entry of old) rmSync(join(home.snapshotDir, entry), { force: true });
}
