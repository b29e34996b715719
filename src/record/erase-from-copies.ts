import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { replaceFileSync } from '../base/atomic-file.ts';
import { openWorkerCalls, workerModule } from '../base/worker-thread.ts';
import { asArray, asString, parseJson } from '../core/json.ts';
import { type Records, StoreError } from '../core/store.ts';
import { removeLog, rewriteFile } from './store/compaction.ts';
import { connectWriter } from './store/open-database.ts';
import { openSqliteStore } from './store/sqlite-store.ts';

/** A call of the thread that erases from copies. */
export interface CopiesCall {
  readonly files: readonly string[];
  readonly sessions: readonly string[];
  readonly at: number;
}

const REASON = 'erased in the store';

/**
 * Erases sessions, and what was learned from them, from copies of a store. A damaged copy is deleted: nothing can be erased
 * from it. Returns the number of copies that contained one of the sessions. Throws `StoreError` when a copy cannot be
 * written; the copies before it are done.
 */
export function eraseFromCopies({ files, sessions, at }: CopiesCall): number {
  let count = 0;
  for (const file of files) {
    try {
      if (!eraseFromCopy(file, sessions, at)) continue;
      rewrite(file);
      count++;
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'corrupt') throw error;
      for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
      count++;
    }
  }
  return count;
}

/** Returns whether it contained one of the sessions. */
function eraseFromCopy(file: string, sessions: readonly string[], at: number): boolean {
  const store = openSqliteStore({ file });
  try {
    const wasThere = sessions.filter((session) => store.session(session)?.erased === false);
    for (const session of wasThere) store.erase(session, at, REASON);
    return wasThere.length > 0;
  } finally {
    store.close();
  }
}

/** Copies of earlier versions have rows twice, the second time in gaps of pages, where erasing does not reach. */
function rewrite(file: string): void {
  const sql = connectWriter(file);
  try {
    rewriteFile(sql);
    removeLog(sql);
  } finally {
    sql.close();
  }
}

export interface CopyPlaces {
  readonly storeFile: string;
  readonly snapshotDir: string;
}

/** How copies are erased from: in this thread, and without waiting for a copy that is being made, unless it is given. */
interface CopyWork {
  /** Resolves when no copy is being made. */
  readonly copyEnded?: () => Promise<void>;
  readonly erase?: (call: CopiesCall) => Promise<number>;
  readonly close?: () => Promise<void>;
}

const DONE = async (): Promise<void> => undefined;

/** The copies of a store in its home: snapshots, and the store that a restore replaced. */
function copiesOf({ storeFile, snapshotDir }: CopyPlaces): readonly string[] {
  const names = existsSync(snapshotDir)
    ? readdirSync(snapshotDir, { recursive: true, encoding: 'utf8' }).map((name) => join(snapshotDir, name))
    : [];
  const folder = dirname(storeFile);
  const isReplaced = (name: string): boolean =>
    name.startsWith(`${basename(storeFile)}.before-restore`) && !/-(?:wal|shm)$/.test(name);
  const replaced = existsSync(folder) ? readdirSync(folder).filter(isReplaced) : [];
  return [...names.filter((name) => name.endsWith('.sqlite')), ...replaced.map((name) => join(folder, name))];
}

export interface ErasableCopies {
  /** The same records; an erasure also reaches the copies. */
  readonly records: Records;
  /** Continues an erasure that a killed process left half done. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Records whose erasures reach the copies of the store. The erasure is noted in a file until all copies are done, so that a
 * process that is killed in between finishes it at its next start.
 */
export function withErasableCopies(
  records: Records,
  places: CopyPlaces,
  now: () => number,
  { copyEnded = DONE, erase = async (call) => eraseFromCopies(call), close = DONE }: CopyWork = {},
): ErasableCopies {
  const pendingFile = `${places.storeFile}.erasing`;
  const readPending = (): readonly string[] => {
    if (!existsSync(pendingFile)) return [];
    return asArray(parseJson(readFileSync(pendingFile, 'utf8'))).flatMap((id) => asString(id) ?? []);
  };
  const eraseAll = async (): Promise<number> => {
    // A copy that was begun before the erasure has its name now; one that is begun later lacks the session.
    await copyEnded();
    const pending = readPending();
    const erased: string[] = [];
    for (const id of pending) if ((await records.session(id))?.erased !== false) erased.push(id);
    const count = await erase({ files: copiesOf(places), sessions: erased, at: now() });
    rmSync(pendingFile, { force: true });
    return count;
  };
  /** One at a time: two erasures share the file of pending ones. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    records: {
      ...records,
      erase: (session, reason) =>
        inTurn(async () => {
          replaceFileSync(pendingFile, JSON.stringify([...new Set([...readPending(), session])]));
          const erasure = await records.erase(session, reason);
          try {
            return { ...erasure, copies: await eraseAll() };
          } catch (error) {
            const why = error instanceof Error ? error.message : String(error);
            throw new StoreError(
              'io',
              `session ${session} is erased from the store, but not from all copies in ${dirname(pendingFile)}: ${why}; erase it again`,
            );
          }
        }),
    },
    finish: () => inTurn(async () => void (readPending().length > 0 && (await eraseAll()))),
    close,
  };
}

/** As `withErasableCopies`, with the work in a thread of its own: copies can be large. */
export function withCopiesInThread(
  records: Records,
  places: CopyPlaces,
  now: () => number,
  copyEnded: () => Promise<void>,
): ErasableCopies {
  const thread = openWorkerCalls<CopiesCall>({
    module: workerModule('./copies-thread.ts', import.meta.url),
    workerData: undefined,
    toError: (code, message) => new StoreError(code as StoreError['code'], message),
    endMessage: 'The thread that erases from copies has ended.',
  });
  return withErasableCopies(records, places, now, {
    copyEnded,
    erase: (call) => thread.call<number>(call),
    close: thread.close,
  });
}
