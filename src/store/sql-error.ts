import { StoreError } from '../core/store.ts';

/** SQLite's primary result codes by what a caller can do about them, with its words for them: `all` has only those. */
const FAULTS: readonly (readonly [number, StoreError['code'], RegExp])[] = [
  [3, 'io', /access permission denied/],
  [5, 'locked', /database is locked/],
  [6, 'locked', /table is locked/],
  [7, 'io', /out of memory/],
  [8, 'io', /readonly database/],
  [10, 'io', /disk I\/O error/],
  [13, 'full', /disk is full/],
  [14, 'io', /unable to open database/],
  [15, 'locked', /locking protocol/],
];
const READONLY = 8;
const ENOSPC = 28;
const EDQUOT = 122;

interface Thrown {
  readonly message: string;
  readonly code?: string;
  readonly errcode?: number;
  readonly systemErrno?: number;
  readonly syscall?: string;
}

/** What SQLite or the file system threw, in the port's words; a fault of our own comes back as it is. */
export function toStoreError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = codeOf(error);
  return code === undefined ? error : new StoreError(code, `${file}: ${error.message}`, { cause: error });
}

/** Whether a read-only connection was refused because the file must first be brought out of an interrupted write. */
export const needsWriter = (error: unknown): boolean =>
  error instanceof StoreError && (((error.cause as Thrown | undefined)?.errcode ?? 0) & 0xff) === READONLY;

function codeOf({ code, errcode, systemErrno, message, syscall }: Thrown): StoreError['code'] | undefined {
  if (code === 'ERR_SQLITE_ERROR') {
    if (systemErrno === ENOSPC || systemErrno === EDQUOT) return 'full';
    const fault = FAULTS.find(([number, , words]) =>
      errcode === undefined ? words.test(message) : number === (errcode & 0xff),
    );
    // Our own statements are sound: one that SQLite refuses has met a file that is not as we left it.
    return fault?.[1] ?? 'corrupt';
  }
  // A number that no JavaScript number can hold: this program never wrote it.
  if (code === 'ERR_OUT_OF_RANGE') return 'corrupt';
  if (syscall === undefined) return undefined;
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'full' : 'io';
}
