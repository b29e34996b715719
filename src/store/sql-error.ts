import { StoreError } from '../core/store.ts';

/** SQLite's primary result codes by what a caller can do about them, with their messages: errors of `all` have no code. */
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

/** An error of SQLite or the file system as `StoreError`; any other error is returned unchanged. */
export function toStoreError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = codeOf(error);
  return code === undefined ? error : new StoreError(code, `${file}: ${error.message}`, { cause: error });
}

/** Whether a read-only connection failed because the file must first be recovered from an interrupted write. */
export const needsWriter = (error: unknown): boolean =>
  error instanceof StoreError && (((error.cause as Thrown | undefined)?.errcode ?? 0) & 0xff) === READONLY;

function codeOf({ code, errcode, systemErrno, message, syscall }: Thrown): StoreError['code'] | undefined {
  if (code === 'ERR_SQLITE_ERROR') {
    if (systemErrno === ENOSPC || systemErrno === EDQUOT) return 'full';
    const fault = FAULTS.find(([number, , words]) =>
      errcode === undefined ? words.test(message) : number === (errcode & 0xff),
    );
    // Our statements are valid: one that SQLite rejects has met a damaged file.
    return fault?.[1] ?? 'corrupt';
  }
  // An integer beyond JavaScript's range, which this program never wrote.
  if (code === 'ERR_OUT_OF_RANGE') return 'corrupt';
  if (syscall === undefined) return undefined;
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'full' : 'io';
}
