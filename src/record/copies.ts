import { mkdirSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../base/log.ts';
import { LEAP_MS } from '../base/trusted-time.ts';
import { openWorkerCalls, workerModule } from '../base/worker-thread.ts';
import { compact, type JsonObject } from '../core/json.ts';
import { StoreError } from '../core/store.ts';
import { type CopyFile, copiesToDelete, listCopies } from './copy-files.ts';
import type { CopyCall } from './make-copy.ts';
import { isUnfinishedSnapshot } from './snapshots.ts';
import { peekTimes } from './store/peek-times.ts';

interface CopiesOptions {
  readonly home: { readonly storeFile: string; readonly snapshotDir: string };
  /** How many daily copies to keep; 0 makes none. Read when it is needed: it may change. */
  readonly daily: number;
  /** The trusted time. */
  readonly now: () => number;
  readonly log: Log;
  /** Makes a copy and returns its name; in a thread of its own by default. */
  readonly copy?: (call: CopyCall) => Promise<string>;
  /** Free bytes on the disk of a folder. */
  readonly freeBytes?: (dir: string) => number;
}

export interface Copies {
  /** Makes a copy when one is due. The newest copy that was checked when it was made; undefined when there is none. */
  ensure(): Promise<CopyFile | undefined>;
  /** Why no copy could be made when one was due; undefined when it could. */
  problem(): string | undefined;
  /** Resolves when no copy is being made. */
  ended(): Promise<void>;
  /** For `status`. */
  describe(): JsonObject;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** Copying fails on a full disk, and recording must not. */
const SPARE_BYTES = 256 * 1024 * 1024;

/**
 * Daily copies of the store. One is due when the newest is a day old or dated in the future, or when a store with facts
 * has none: that is asked at the start and from time to time, so that a daemon that never runs for a whole day has copies, too.
 */
export function openCopies(options: CopiesOptions): Copies {
  const { home, now, log, copy = copyInThread, freeBytes = freeOn } = options;
  const dir = home.snapshotDir;
  let problem: string | undefined;
  let running: Promise<void> | undefined;

  const newest = (): CopyFile | undefined => listCopies(dir).find(({ facts }) => facts !== undefined);
  const isDue = (): boolean => {
    const last = newest();
    if (last === undefined) return peekTimes(home.storeFile).newest !== undefined;
    const age = now() - last.at;
    return age >= DAY_MS || age < -LEAP_MS;
  };
  const make = async (): Promise<void> => {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(dir).filter(isUnfinishedSnapshot))
      rmSync(join(dir, name), { force: true });
    const needed = sizeOf(home.storeFile) + SPARE_BYTES;
    const free = freeBytes(dir);
    if (free < needed) throw new StoreError('full', `${megabytes(free)} free, ${megabytes(needed)} needed`);
    const number = 1 + Math.max(0, ...listCopies(dir).map((copy) => copy.number ?? 0));
    const name = await copy({ store: home.storeFile, dir, at: now(), number });
    for (const old of copiesToDelete(listCopies(dir), options.daily)) rmSync(old.file, { force: true });
    log.info({ copy: name }, 'the store was copied');
  };
  const attempt = async (): Promise<void> => {
    try {
      await make();
      problem = undefined;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      log.warn({ err: error }, 'the daily copy of the store could not be made');
    } finally {
      running = undefined;
    }
  };

  return {
    ensure: async () => {
      if (options.daily === 0) return undefined;
      if (running !== undefined || isDue()) {
        running ??= attempt();
        await running;
      }
      return newest();
    },
    problem: () => problem,
    ended: async () => running,
    describe: () => {
      const copies = listCopies(dir);
      const last = copies[0];
      return compact({
        count: copies.length,
        daily: options.daily,
        newest: last && new Date(last.at).toISOString(),
        file: last?.file,
        bytes: copies.reduce((sum, { bytes }) => sum + bytes, 0),
        problem,
      });
    },
    close: async () => {
      await running;
    },
  };
}

/** The thread lives as long as the copy takes. */
async function copyInThread(call: CopyCall): Promise<string> {
  const thread = openWorkerCalls<CopyCall>({
    module: workerModule('./copy-thread.ts', import.meta.url),
    workerData: undefined,
    toError: (code, message) => new StoreError(code as StoreError['code'], message),
    endMessage: 'The copying thread has ended.',
  });
  try {
    return await thread.call<string>(call);
  } finally {
    await thread.close();
  }
}

const sizeOf = (file: string): number =>
  [file, `${file}-wal`].reduce(
    (sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

function freeOn(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1_048_576)} MB`;
