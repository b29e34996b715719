import { type Fact, isFact, type StoredFact } from '../../core/fact.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { type Block, StoreError } from '../../core/store.ts';
import {
  type BlockRow,
  type BodyRow,
  type FactRow,
  hashBlockRow,
  hashBodyRow,
  hashFactRow,
  isErasedSum,
  isSoundBlock,
  isSoundBody,
  isSoundFact,
  packBody,
  toColumn,
  toHashColumn,
  unpackBody,
} from './row-codec.ts';
import type { Sql } from './sql-connection.ts';
import { addMeta } from './sql-connection.ts';
import type { FactColumns } from './tables.ts';
import { subjectOf } from './views.ts';

export const FACT_COLUMNS = 'seq, at, type, body, key, hash';

/** As read from the file: not to be trusted before its hash is verified. */
export interface RawFactRow extends FactRow {
  readonly hash: Uint8Array;
}

export function insertFact(
  sql: Sql,
  { seq, at, fact }: StoredFact,
  { body, key, isInView }: FactColumns,
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
  const scrubbed = factJson(fact);
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
export function factJson(fact: Fact): string {
  const { type, ...rest } = fact;
  return JSON.stringify(rest);
}

/** As read from the file. */
export interface RawBodyRow extends BodyRow {
  readonly sum: Uint8Array;
}

export function insertTurnBody(sql: Sql, seq: number, text: string, isHurried: boolean): void {
  const { codec, body } = packBody(text, isHurried);
  const sum = hashBodyRow({ seq, codec, body });
  sql.run('insert or ignore into bodies(seq, codec, sum, body) values(?, ?, ?, ?)', seq, codec, sum, body);
}

/** The body of a turn's start or end; undefined when it was erased or never stored. Throws `StoreError` when it does not match its checksum. */
export function readTurnBody(sql: Sql, turn: string, fact: 'start' | 'end'): string | undefined {
  const row = sql.get<RawBodyRow>(
    `select b.seq, b.codec, b.sum, b.body from turns t join bodies b on b.seq = t."${fact}" where t.id = ?`,
    toColumn(turn),
  );
  if (row === undefined || isErasedSum(row.sum)) return undefined;
  const text = isSoundBody(row) ? unpackBody(row) : undefined;
  if (text === undefined)
    throw new StoreError('corrupt', `${sql.file}: the body of fact ${row.seq} is damaged`);
  return text;
}

/** Overwrites bodies with zeros in place (see `schema`); `compact` reclaims the space. */
export function eraseTurnBodies(sql: Sql, facts: readonly number[]): void {
  let holes = 0;
  for (const seq of facts) {
    const row = sql.get<{ size: number }>('select length(body) as size from bodies where seq = ?', seq);
    if (row === undefined) continue;
    holes += row.size;
    sql.run(
      'update bodies set sum = zeroblob(length(sum)), body = zeroblob(length(body)) where seq = ?',
      seq,
    );
  }
  if (holes > 0) addMeta(sql, 'holes', holes);
}

/** As read from the file. */
export interface RawBlockRow extends BlockRow {
  readonly id: number;
  readonly sum: Uint8Array;
}

/** Counts a use also of a block that is stored already; ignores a use of a block that is not stored. */
export function insertBlock(sql: Sql, { hash, text, session }: Block, isHurried: boolean): void {
  const name = toHashColumn(hash);
  const stored = findBlock(sql, name);
  const id = stored ?? (text === undefined ? undefined : insertBlockBody(sql, name, text, isHurried));
  if (id === undefined) return;
  const isNew = sql.run('insert or ignore into block_uses(session, id) values(?, ?)', toColumn(session), id);
  if (stored !== undefined && isNew > 0) sql.run('update block_ids set uses = uses + 1 where hash = ?', name);
}

const findBlock = (sql: Sql, name: string | Uint8Array): number | undefined =>
  sql.get<{ id: number }>('select id from block_ids where hash = ?', name)?.id;

function insertBlockBody(sql: Sql, hash: string | Uint8Array, text: string, isHurried: boolean): number {
  const { codec, body } = packBody(text, isHurried);
  const sum = hashBlockRow({ hash, codec, body });
  const id = sql.insert(
    'insert into blocks(hash, codec, sum, body) values(?, ?, ?, ?)',
    hash,
    codec,
    sum,
    body,
  );
  sql.run('insert into block_ids(hash, id, uses) values(?, ?, 1)', hash, id);
  return id;
}

/** Throws `StoreError` when the stored text does not match its checksum. */
export function readBlock(sql: Sql, hash: string): string | undefined {
  const row = sql.get<RawBlockRow>(
    'select b.id, b.hash, b.codec, b.sum, b.body from block_ids i join blocks b on b.id = i.id where i.hash = ?',
    toHashColumn(hash),
  );
  if (row === undefined) return undefined;
  const text = isSoundBlock(row) ? unpackBody(row) : undefined;
  if (text === undefined) throw new StoreError('corrupt', `${sql.file}: block ${hash} is damaged`);
  return text;
}

/**
 * Overwrites the bodies that only this session uses with zeros in place (see `schema`), with their hash and checksum;
 * `compact` reclaims the space. Bodies that other sessions use stay.
 */
export function eraseBlocks(sql: Sql, session: string): void {
  const name = toColumn(session);
  const own = sql.all<{ id: number; size: number; hash: string | Uint8Array }>(
    `select b.id, length(b.body) as size, b.hash from block_uses u join blocks b on b.id = u.id
     join block_ids i on i.hash = b.hash where u.session = ? and i.uses = 1`,
    name,
  );
  for (const { id, hash } of own) {
    sql.run('delete from block_ids where hash = ?', hash);
    overwriteBlock(sql, id);
  }
  sql.run(
    `update block_ids set uses = uses - 1 where hash in (
       select b.hash from block_uses u join blocks b on b.id = u.id where u.session = ?)`,
    name,
  );
  addMeta(
    sql,
    'holes',
    own.reduce((sum, { size }) => sum + size, 0),
  );
  sql.run('delete from block_uses where session = ?', name);
}

/** Removes one session's use of a block; without another use its body is overwritten, as by `eraseBlocks`. */
export function eraseBlockUse(sql: Sql, session: string, hash: string): void {
  const name = toHashColumn(hash);
  const row = sql.get<{ id: number; uses: number; size: number }>(
    `select i.id, i.uses, length(b.body) as size from block_ids i join blocks b on b.id = i.id where i.hash = ?`,
    name,
  );
  if (row === undefined) return;
  if (sql.run('delete from block_uses where session = ? and id = ?', toColumn(session), row.id) === 0) return;
  if (row.uses > 1) {
    sql.run('update block_ids set uses = uses - 1 where hash = ?', name);
    return;
  }
  sql.run('delete from block_ids where hash = ?', name);
  overwriteBlock(sql, row.id);
  addMeta(sql, 'holes', row.size);
}

/** With zeros, in place, with its hash and checksum. */
const overwriteBlock = (sql: Sql, id: number): void =>
  void sql.run(
    `update blocks set hash = zeroblob(length(cast(hash as blob))), sum = zeroblob(length(sum)),
     body = zeroblob(length(body)) where id = ?`,
    id,
  );

/** The readable texts of a session; blocks that its recalls name were inserted by Instar. */
export function readSessionTexts(sql: Sql, session: string): readonly string[] {
  const name = toColumn(session);
  const shown = new Set(
    sql
      .all<RawFactRow>(
        `select ${FACT_COLUMNS} from facts where subject = ? and type = 'lessons-recalled'`,
        name,
      )
      .flatMap((row) => {
        const fact = readFact(row)?.fact;
        return fact?.type === 'lessons-recalled' && fact.block !== undefined ? [fact.block] : [];
      })
      .map((hash) => Buffer.from(toHashColumn(hash)).toString('hex')),
  );
  const blocks = sql
    .all<RawBlockRow>(
      `select b.id, b.hash, b.codec, b.sum, b.body from block_uses u join blocks b on b.id = u.id
       where u.session = ?`,
      name,
    )
    .filter((row) => isSoundBlock(row) && !shown.has(Buffer.from(row.hash).toString('hex')));
  const bodies = sql
    .all<RawBodyRow>(
      `select b.seq, b.codec, b.sum, b.body from turns t join bodies b on b.seq = t.start or b.seq = t."end"
       where t.session = ?`,
      name,
    )
    .filter((row) => isSoundBody(row));
  return [...blocks, ...bodies].flatMap((row) => unpackBody(row) ?? []);
}
