import type { Sql } from './sql.ts';

/**
 * Numbers that would be expensive to compute.
 *   holes       bytes of erased bodies that still take space in the file
 *   compacting  1 from the deletion of erased rows until the file has been rewritten
 *   open        1 while a writer has written and not closed
 */
type MetaName = 'holes' | 'compacting' | 'open';

export const readMeta = (sql: Sql, name: MetaName): number =>
  sql.get<{ value: number }>('select value from meta where name = ?', name)?.value ?? 0;

export function setMeta(sql: Sql, name: MetaName, value: number): void {
  sql.run(
    'insert into meta(name, value) values(?, ?) on conflict do update set value = excluded.value',
    name,
    value,
  );
}

export function addMeta(sql: Sql, name: MetaName, value: number): void {
  sql.run(
    'insert into meta(name, value) values(?, ?) on conflict do update set value = value + excluded.value',
    name,
    value,
  );
}
