import { statSync } from 'node:fs';
import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import type { GatewayProcess } from '../core/gateway-process.ts';
import type { JsonObject } from '../core/json.ts';
import type { RecordingState, Records } from '../core/store.ts';
import { createRedactor, type Redactor } from '../redact/redact.ts';
import { readOrCreateSalt } from '../redact/salt.ts';
import { openCopies } from './copies.ts';
import { withCopiesInThread } from './erase-from-copies.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { openRecords, withCleanIds } from './records.ts';
import { createRetention, type Retention } from './retention.ts';
import { findLostRecord, readStoreMark, type StoreMark, writeStoreMark } from './store-mark.ts';
import type { TrustedClock } from './trusted-clock.ts';

interface RecordingOptions {
  readonly home: {
    readonly storeFile: string;
    readonly spoolFile: string;
    readonly snapshotDir: string;
    readonly saltFile: string;
  };
  /** Where the record is: the file of the home, or the URL of a PostgreSQL. */
  readonly place?: string;
  /** Read when they are needed: they may change. */
  readonly settings: {
    /** Sessions older than this are erased; 0 keeps them. */
    readonly keepDays: number;
    /** Daily copies to keep. */
    readonly snapshots: number;
  };
  /** Called when sessions were erased because of their age. */
  readonly onExpired?: () => void;
  /** Called with the number of turns that have ended and can be read. */
  readonly onRecorded?: (turns: number) => void;
  /** The HMAC key of redaction marks; the home's own unless it is given. */
  readonly salt?: string;
  /** This run of the gateway, where several share the record. */
  readonly gateway?: GatewayProcess | undefined;
  /** Every secret of this installation, as of now; it is asked often. */
  readonly keys: () => readonly string[];
  readonly clock: TrustedClock;
  readonly log: Log;
}

interface Recording {
  readonly recorder: Recorder;
  readonly records: Records;
  /** The main thread's redactor: the same marks as in the record. */
  readonly redactor: Redactor;
  state(): RecordingState;
  /** Daily copies and what is erased by its age, for `status`. */
  describeCopies(): JsonObject;
  readonly retention: Pick<Retention, 'run'>;
  /** The keys have changed: they are redacted from the next turn on, not seconds later. */
  followKeys(): void;
  close(): Promise<void>;
}

const KEYS_MS = 10_000;
/** What is kept in the home while a database is away, compressed: days of a busy team. */
const SPOOL_BYTES = 1024 * 1_048_576;

/** Everything that records: the writer thread, the reader thread, the daily copy, and what is erased by its age. */
export function openRecording(options: RecordingOptions): Recording {
  const { home, settings, keys, clock, log } = options;
  const file = home.storeFile;
  const place = options.place ?? file;
  const isFile = place === file;
  const salt = options.salt ?? readOrCreateSalt(home);
  const { gateway } = options;
  const spool = isFile ? undefined : { file: home.spoolFile, mostBytes: SPOOL_BYTES };
  const writing = { place, spool, keys: keys(), salt, gateway };
  const recorder = createRecorder(writing, clock.now, options.onRecorded);
  const logState = createStateLog(recorder, log);
  const opened = openRecords(place, recorder);
  const redactor = createRedactor({ salt, known: keys });
  const copies = openCopies({
    home,
    get daily() {
      return settings.snapshots;
    },
    now: clock.now,
    log,
  });
  const erasable = withCopiesInThread(opened, home, clock.now, copies.ended);
  const records = withCleanIds(erasable.records, redactor);
  erasable
    .finish()
    .catch((error: unknown) => log.warn({ err: error }, 'an erasure could not reach all copies'));
  const marked = followMark(isFile ? file : `${file}.postgres`, records, clock, log);
  void recorder.chains.then(() => {
    logState();
    return marked.look();
  });
  clock.record(records);
  const expire: Recorder['expire'] = async (request) => {
    const count = await recorder.expire(request);
    if (count > 0) options.onExpired?.();
    return count;
  };
  const retention = createRetention({
    get keepDays() {
      return settings.keepDays;
    },
    time: clock,
    get copies() {
      // The owner of a server backs it up: see the decision about PostgreSQL.
      return isFile && settings.snapshots > 0 ? copies : undefined;
    },
    expire,
    log,
  });
  const watch = setInterval(() => {
    recorder.setKeys(keys());
    logState();
    const { degraded } = recorder.state();
    if (isFile && statSync(file, { throwIfNoEntry: false }) === undefined) void writeBack(recorder, log);
    if (degraded === undefined) void marked.look(recorder.state().recorded);
  }, KEYS_MS);
  watch.unref();
  return {
    recorder,
    records,
    redactor,
    state: () => ({ ...recorder.state(), missing: marked.missing() }),
    describeCopies: () => ({
      ...(isFile ? copies.describe() : { server: 'PostgreSQL' }),
      ...retention.describe(),
    }),
    retention,
    followKeys: () => recorder.setKeys(keys()),
    close: async () => {
      clearInterval(watch);
      retention.close();
      await copies.close();
      await marked.look();
      await erasable.close();
      await copies.close();
      // The writer last: as the only connection it can turn the store into one file without a log.
      await opened.close();
      await recorder.close();
    },
  };
}

/** The writer notices at a write that its file was deleted, writes it again, and opens it at the next. */
async function writeBack(recorder: Recorder, log: Log): Promise<void> {
  for (const _ of [1, 2])
    await recorder.append([]).catch((error: unknown) => log.error({ err: error }, 'the store is missing'));
}

/** Logs when recording begins to fail and when it works again. */
function createStateLog(recorder: Recorder, log: Log): () => void {
  let wasDegraded = false;
  let wasAway = false;
  return () => {
    const { degraded, lost, spool } = recorder.state();
    const isAway = spool?.reason !== undefined;
    if (isAway && !wasAway)
      log.error(
        { problem: spool.reason },
        'the database is away: turns are kept in this home until it is back',
      );
    if (!isAway && wasAway) log.info({ turns: spool?.turns ?? 0 }, 'the database is back');
    wasAway = isAway;
    if (degraded !== undefined && !wasDegraded)
      log.error(
        { problem: degraded, lost },
        'turns are served but not recorded, and nothing is learned: "instar doctor" names the fix',
      );
    if (degraded === undefined && wasDegraded) log.info({ lost }, 'turns are recorded again');
    wasDegraded = degraded !== undefined;
  };
}

/** Records that the client declared its session ended. */
export function recordSessionEnd(session: string, records: Records, clock: Clock, log: Log): void {
  const fact = { type: 'session-end', session, reason: 'said by the client' } as const;
  records.append([{ at: clock.now(), fact }], [], true).catch((error: unknown) => {
    log.warn({ err: error, session }, 'the end of a session could not be recorded');
  });
}

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
function followMark(
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
