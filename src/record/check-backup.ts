import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { StoreError } from '../core/store.ts';
import { peekSchemaFault } from './store/check-schema.ts';
import { APPLICATION_ID, MIGRATIONS } from './store/schema.ts';
import { peekInto } from './store/sql-connection.ts';

/** Why a file cannot be restored. */
export interface BackupFault {
  readonly kind: 'missing' | 'unreadable' | 'foreign' | 'altered' | 'newer' | 'damaged';
  /** Follows the name of the file. */
  readonly why: string;
}

/** The header of an SQLite file, with the places of the numbers that Instar sets. */
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const VERSION_AT = 60;
const APPLICATION_AT = 68;

/**
 * What is wrong with a file, as far as its first bytes and its schema tell; undefined for a store of this or an earlier
 * version. Reads only. Damage further on is found by `restoreSnapshot`, in a copy.
 */
export function findBackupFault(file: string): BackupFault | undefined {
  const header = readHeader(file);
  if (!Buffer.isBuffer(header)) return header;
  if (header.length === 0) return { kind: 'foreign', why: 'is empty, so it is not a backup' };
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC)
    return { kind: 'foreign', why: 'is not a backup of Instar: it is not an SQLite file' };
  if (header.length < HEADER_BYTES) return { kind: 'damaged', why: 'is damaged: it ends in its header' };
  const [version, owner] = [header.readUInt32BE(VERSION_AT), header.readUInt32BE(APPLICATION_AT)];
  if (owner !== APPLICATION_ID)
    return { kind: 'foreign', why: 'is not a backup of Instar: it is a database of another program' };
  if (version <= MIGRATIONS.length) return findAlteration(file);
  return {
    kind: 'newer',
    why: `was written by a newer Instar (format ${version}; this one reads formats up to ${MIGRATIONS.length})`,
  };
}

/** Read without a log: a restore takes the file alone. */
function findAlteration(file: string): BackupFault | undefined {
  try {
    const fault = peekInto(file, { isFixed: true, busyMs: 0 }, peekSchemaFault);
    return fault && { kind: 'altered', why: fault.why };
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

function readHeader(file: string): Buffer | BackupFault {
  try {
    if (statSync(file).isDirectory()) return { kind: 'foreign', why: 'is a folder, not a backup' };
    const descriptor = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(HEADER_BYTES);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, HEADER_BYTES, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing', why: 'does not exist' };
    return { kind: 'unreadable', why: `cannot be read (${code ?? 'unknown error'})` };
  }
}
