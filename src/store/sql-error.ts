import { StoreError } from '../core/store.ts';

/** SQLite's primary result codes, by what a caller can do about them. */
const CODES: Readonly<Record<number, StoreError['code']>> = {
  3: 'io', // PERM
  5: 'locked', // BUSY
  6: 'locked', // LOCKED
  7: 'io', // NOMEM
  8: 'io', // READONLY
  10: 'io', // IOERR
  11: 'corrupt', // CORRUPT
  13: 'full', // FULL
  14: 'io', // CANTOPEN
  15: 'locked', // PROTOCOL
  26: 'corrupt', // NOTADB
};
const ENOSPC = 28;
const EDQUOT = 122;

/** What SQLite or the file system threw, in the port's words; a fault of our own comes back as it is. */
export function toStoreError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const { code, errcode, systemErrno, syscall } = error as Error & {
    readonly code?: string;
    readonly errcode?: number;
    readonly systemErrno?: number;
    readonly syscall?: string;
  };
  const message = `${file}: ${error.message}`;
  if (code === 'ERR_SQLITE_ERROR' && errcode !== undefined) {
    const isFull = systemErrno === ENOSPC || systemErrno === EDQUOT;
    const known = isFull ? 'full' : CODES[errcode & 0xff];
    return known === undefined ? error : new StoreError(known, message, { cause: error });
  }
  // A number that no JavaScript number can hold: this program never wrote it.
  if (code === 'ERR_OUT_OF_RANGE') return new StoreError('corrupt', message, { cause: error });
  if (syscall === undefined) return error;
  return new StoreError(code === 'ENOSPC' || code === 'EDQUOT' ? 'full' : 'io', message, { cause: error });
}
