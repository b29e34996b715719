import { type Fact, isFact, type StoredFact } from '../core/fact.ts';
import { isObject, parseJson } from '../core/json.ts';
import { toColumn } from './column.ts';
import { subjectOf } from './fold.ts';
import { type FactRow, hashFactRow, isSoundFact } from './row-hash.ts';
import type { Sql } from './sql.ts';

export const FACT_COLUMNS = 'seq, at, type, body, key, hash';

/** As read from the file: not to be trusted before its hash is verified. */
export interface RawFactRow extends FactRow {
  readonly hash: Uint8Array;
}

export function insertFact(
  sql: Sql,
  { seq, at, fact }: StoredFact,
  body: string,
  key: string | undefined,
  isInView: boolean,
): void {
  const subject = isInView ? undefined : subjectOf(fact);
  const row = { seq, at, type: fact.type, body, key: key === undefined ? null : toColumn(key) };
  sql.run(
    'insert into facts(seq, at, type, subject, body, key, hash) values(?, ?, ?, ?, ?, ?, ?)',
    seq,
    at,
    row.type,
    subject === undefined ? null : toColumn(subject),
    row.body,
    row.key,
    hashFactRow(row),
  );
}

/**
 * The only change to a fact: its quoted text is erased. The new body is padded with spaces to the length of the old, so
 * that SQLite overwrites the row in place (see `schema`). The row gets a new hash and the flag `erased`.
 */
export function eraseFact(sql: Sql, { seq, fact }: StoredFact): void {
  const old = sql.get<RawFactRow>(`select ${FACT_COLUMNS} from facts where seq = ?`, seq);
  if (old === undefined) return;
  const scrubbed = bodyOf(fact);
  const spaces = Buffer.byteLength(old.body) - Buffer.byteLength(scrubbed);
  const body = scrubbed + ' '.repeat(Math.max(0, spaces));
  const hash = hashFactRow({ ...old, body });
  sql.run('update facts set body = ?, hash = ?, erased = 1 where seq = ?', body, hash, seq);
}

/** Undefined for a damaged row: every read skips it, and `check` reports it. */
export function readFact(row: RawFactRow): StoredFact | undefined {
  const { seq, at, type, body } = row;
  if (!isSoundFact(row)) return undefined;
  const rest = parseJson(body);
  const fact = isObject(rest) ? { type, ...rest } : undefined;
  return isFact(fact) ? { seq, at, fact } : undefined;
}

/** A fact as JSON, without its type, which has a column of its own. */
export function bodyOf(fact: Fact): string {
  const { type, ...rest } = fact;
  return JSON.stringify(rest);
}
