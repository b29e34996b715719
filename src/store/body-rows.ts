import { StoreError } from '../core/store.ts';
import { packBody, unpackBody } from './body-codec.ts';
import { toColumn } from './column.ts';
import { addMeta } from './meta.ts';
import { type BodyRow, hashBodyRow, isErasedSum, isSoundBody } from './row-hash.ts';
import type { Sql } from './sql.ts';

/** As read from the file. */
export interface RawBodyRow extends BodyRow {
  readonly sum: Uint8Array;
}

export function insertBody(sql: Sql, seq: number, text: string, isHurried: boolean): void {
  const { codec, body } = packBody(text, isHurried);
  const sum = hashBodyRow({ seq, codec, body });
  sql.run('insert or ignore into bodies(seq, codec, sum, body) values(?, ?, ?, ?)', seq, codec, sum, body);
}

/** The body of a turn's start or end; undefined when it was erased or never stored. Throws `StoreError` when it does not match its checksum. */
export function readBody(sql: Sql, turn: string, fact: 'start' | 'end'): string | undefined {
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
export function eraseBodies(sql: Sql, facts: readonly number[]): void {
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
