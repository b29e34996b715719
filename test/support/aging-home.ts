import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeAt } from '../../src/config/home.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { Store } from '../../src/core/store.ts';
import { type Copies, openCopies } from '../../src/record/copies.ts';
import { type CopyFile, listCopies } from '../../src/record/copy-files.ts';
import { makeCopy } from '../../src/record/make-copy.ts';
import { toRecords } from '../../src/record/records.ts';
import { createRetention, type Retention } from '../../src/record/retention.ts';
import { openSqliteReader, openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { openTrustedClock, type TrustedClock } from '../../src/record/trusted-clock.ts';
import { end, start } from '../record/store/facts.ts';
import type { Machine } from './machine.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export interface Tombstone {
  readonly session: string;
  /** Whether a sound copy in the folder has the session's turn. */
  readonly isCopied: boolean;
}

/** A home on a machine: its real store, clock, copies and retention, without the threads. */
export interface AgingHome {
  readonly dir: string;
  time(): TrustedClock;
  copies(): readonly CopyFile[];
  /** A session with one turn, now or at another time. */
  record(session: string, at?: number): void;
  /** What `status` says about copies and retention. */
  describe(): JsonObject;
  /** One run of retention; what it erased. */
  expire(): Promise<readonly Tombstone[]>;
  /** The sessions that are not erased. */
  kept(): ReadonlySet<string>;
  /** The daemon ends, the work is done, and it starts again. */
  restart(between?: () => void): Promise<void>;
  close(): Promise<void>;
}

interface AgingHomeOptions {
  readonly keepDays?: number;
  /** A home to begin with, which is copied. */
  readonly like?: string;
  readonly freeBytes?: () => number;
}

export function openAgingHome(machine: Machine, options: AgingHomeOptions = {}): AgingHome {
  const { keepDays = 90, like, freeBytes } = options;
  const home = homeAt(mkdtempSync(join(tmpdir(), 'instar-aging-')));
  if (like !== undefined) cpSync(like, home.dir, { recursive: true });
  let parts: { store: Store; time: TrustedClock; copies: Copies; retention: Retention };
  const open = (): typeof parts => {
    const time = openTrustedClock({ home, clock: machine.clock, boot: machine.boot, log: quiet });
    const store = openSqliteStore({ file: home.storeFile });
    time.record(toRecords(store, time.now));
    const copies = openCopies({
      home,
      daily: 7,
      now: time.now,
      log: quiet,
      copy: async (call) => makeCopy(call),
      ...(freeBytes === undefined ? {} : { freeBytes }),
    });
    const retention = createRetention({
      keepDays,
      time,
      copies,
      expire: async ({ before, at, limit, upTo }) => store.expire(before, at, limit, upTo),
      log: quiet,
      later: (ms, run) => {
        // The pause between two groups; whole runs are started by the test.
        if (ms <= 1_000) setImmediate(run);
        return () => undefined;
      },
    });
    return { store, time, copies, retention };
  };
  parts = open();
  const shut = async (): Promise<void> => {
    parts.retention.close();
    await parts.copies.close();
    parts.time.close();
    parts.store.close();
  };
  const kept = (): ReadonlySet<string> =>
    new Set(parts.store.sessions({ limit: 10_000 }).flatMap(({ id, erased }) => (erased ? [] : [id])));
  const isCopied = (session: string): boolean =>
    listCopies(home.snapshotDir).some(({ file }) => {
      const reader = openSqliteReader(file);
      try {
        return reader.session(session)?.erased === false && reader.turns(session).length > 0;
      } finally {
        reader.close();
      }
    });

  return {
    dir: home.dir,
    time: () => parts.time,
    copies: () => listCopies(home.snapshotDir),
    describe: () => ({ ...parts.copies.describe(), ...parts.retention.describe() }),
    record: (session, at = parts.time.now()) => {
      const turn = `turn-${session}`;
      parts.store.append({
        facts: [
          { at, fact: start(turn, session) },
          { at, fact: end(turn) },
        ],
      });
    },
    expire: async () => {
      const before = kept();
      await parts.retention.run();
      const after = kept();
      return [...before]
        .filter((session) => !after.has(session))
        .map((session) => ({ session, isCopied: isCopied(session) }));
    },
    kept,
    restart: async (between = () => undefined) => {
      await shut();
      between();
      parts = open();
    },
    close: async () => {
      await shut();
      rmSync(home.dir, { recursive: true, force: true });
    },
  };
}
