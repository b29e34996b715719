import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../../core/store.ts';
import { checkAuditTrail } from '../audit-trail.ts';
import type { StoreMark } from '../store-mark.ts';
import { sessionsIn } from './integrity-check.ts';
import { openSqliteReader } from './sqlite-store.ts';
import { AUDIT_SUBJECT } from './views.ts';

export interface StoreInspection extends Omit<StoreMark, 'at'> {
  readonly sessions: number;
  readonly bytes: number;
  /** Damaged rows; empty when the store is sound, or when only its size was asked for. */
  readonly findings: readonly string[];
  /** The sessions that damaged rows belong to, where that is known. */
  readonly damaged: readonly string[];
  /** What is wrong with the audit trail; undefined when its chain is whole. */
  readonly auditFault: string | undefined;
}

/** A larger store with an unfinished log, and nobody who writes it, is not copied to be read. */
const MOST_COPIED = 1024 * 1024 * 1024;

/**
 * Reads a store and checks every row, without creating or changing any file beside it. SQLite needs an index file
 * (`-shm`) to read a log: it is there while a daemon runs and after one was killed. Throws `StoreError`.
 */
export function inspectStore(file: string, isThorough: boolean): StoreInspection {
  const [log, index] = ['-wal', '-shm'].map((end) => statSync(`${file}${end}`, { throwIfNoEntry: false }));
  if (log === undefined) return inspect(file, true, isThorough);
  if (index !== undefined) return inspect(file, false, isThorough);
  if (log.size === 0) return inspect(file, true, isThorough);
  return inspectCopy(file, isThorough);
}

function inspectCopy(file: string, isThorough: boolean): StoreInspection {
  if (statSync(file).size > MOST_COPIED)
    throw new StoreError(
      'locked',
      `${file} has a log without its index: start Instar once, which restores it`,
    );
  const folder = mkdtempSync(join(tmpdir(), 'instar-inspect-'));
  try {
    const copy = join(folder, 'store.sqlite');
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    return inspect(copy, false, isThorough);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function inspect(file: string, isFixed: boolean, isThorough: boolean): StoreInspection {
  const reader = openSqliteReader(file, isFixed);
  try {
    const findings = isThorough ? reader.check() : [];
    const { facts, turns, sessions, bytes } = reader.totals();
    const [first] = reader.facts(0, 1);
    return {
      firstAt: first?.at ?? 0,
      facts,
      turns,
      sessions,
      bytes,
      findings,
      damaged: sessionsIn(findings),
      auditFault: checkAuditTrail(reader.events(AUDIT_SUBJECT)).fault,
    };
  } finally {
    reader.close();
  }
}
