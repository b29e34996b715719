import type { Fact, StoredFact } from '../core/fact.ts';
import { isObject, parseJson } from '../core/json.ts';
import { toColumn } from './column.ts';
import { subjectOf } from './fold.ts';
import { type FactRow, hashFactRow, isSoundFact } from './row-hash.ts';
import type { Sql } from './sql.ts';

export const FACT_COLUMNS = 'seq, at, type, body, key, hash';

/** As it comes from the file: nothing in it can be relied on before its hash fits. */
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
 * The one change a fact can know: what it quoted is erased. The new body is filled up with spaces to the length of the
 * old, so that SQLite overwrites the row where it stands (see `schema`). It gets a new hash and the mark `erased`.
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

/** Undefined for a row that is not as it was written: it is left out of every answer, and `check` names it. */
export function readFact(row: RawFactRow): StoredFact | undefined {
  const { seq, at, type, body } = row;
  if (!isSoundFact(row)) return undefined;
  const rest = parseJson(body);
  return isObject(rest) ? { seq, at, fact: { type, ...rest } as unknown as Fact } : undefined;
}

/** As JSON, without the type: that has a column of its own. */
export function bodyOf(fact: Fact): string {
  const { type, ...rest } = fact;
  return JSON.stringify(rest);
}
