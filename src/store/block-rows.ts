import type { Block } from '../core/store.ts';
import { StoreError } from '../core/store.ts';
import { packBody, unpackBody } from './body-codec.ts';
import { toColumn, toHashColumn } from './column.ts';
import { addMeta } from './meta.ts';
import { type BlockRow, hashBlockRow, isSoundBlock } from './row-hash.ts';
import type { Sql } from './sql.ts';

/** As read from the file. */
export interface RawBlockRow extends BlockRow {
  readonly id: number;
  readonly sum: Uint8Array;
}

/** Counts a use also of a block that is stored already; ignores a use of a block that is not stored. */
export function insertBlock(sql: Sql, { hash, text, session }: Block, isHurried: boolean): void {
  const name = toHashColumn(hash);
  const known = findBlock(sql, name);
  const id = known ?? (text === undefined ? undefined : insertBlockBody(sql, name, text, isHurried));
  if (id === undefined) return;
  const isNew = sql.run('insert or ignore into block_uses(session, id) values(?, ?)', toColumn(session), id);
  if (known !== undefined && isNew > 0) sql.run('update block_ids set uses = uses + 1 where hash = ?', name);
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
    sql.run(
      `update blocks set hash = zeroblob(length(cast(hash as blob))), sum = zeroblob(length(sum)),
       body = zeroblob(length(body)) where id = ?`,
      id,
    );
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
