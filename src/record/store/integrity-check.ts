import { StoreError } from '../../core/store.ts';
import { fromColumn, isErasedSum, isSoundBlock, isSoundBody } from './row-codec.ts';
import { type Sql, succeeds } from './sql-connection.ts';
import type { RawBlockRow, RawBodyRow } from './sqlite-rows.ts';
import { FACT_COLUMNS, type RawFactRow, readFact } from './sqlite-rows.ts';

/** A damaged file can have a finding per row; the first ones are enough to act on. */
const MOST_FINDINGS = 200;
const FACTS_PER_PAGE = 500;
/** A body can have megabytes. */
const BLOCKS_PER_PAGE = 16;

/** SQLite's own check, then every row against its checksum; page by page, so that memory does not grow with the file. */
export function findDamage(sql: Sql): readonly string[] {
  const findings: string[] = [];
  for (const look of [checkPages, checkFacts, checkBodies, checkBlocks, checkBlockNames]) {
    try {
      for (const finding of look(sql)) {
        findings.push(finding);
        if (findings.length >= MOST_FINDINGS) return [...findings, 'and possibly more'];
      }
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'corrupt') throw error;
      findings.push(error.message);
    }
  }
  return findings;
}

/** The structure of the file: pages, cells, their order, the types of index entries. */
export function* checkPages(sql: Sql): Generator<string> {
  for (const { quick_check: line } of sql.all<{ quick_check: string }>(
    `pragma quick_check(${MOST_FINDINGS})`,
  ))
    if (line !== 'ok') yield line;
}

export function* checkFacts(sql: Sql, after = 0): Generator<string> {
  let last = after;
  for (;;) {
    const rows = sql.all<RawFactRow>(
      `select ${FACT_COLUMNS} from facts where seq > ? order by seq limit ?`,
      last,
      FACTS_PER_PAGE,
    );
    if (rows.length === 0) return;
    for (const row of rows) {
      mustAscend(last, row.seq, 'facts');
      if (row.seq !== last + 1) yield `facts ${last + 1} to ${row.seq - 1} are missing`;
      last = row.seq;
      if (readFact(row) === undefined)
        yield `fact ${row.seq}${inSession(sql, row.seq)} does not match its hash`;
    }
  }
}

function* checkBodies(sql: Sql): Generator<string> {
  const select = 'select seq, codec, sum, body from bodies where seq > ? order by seq limit ?';
  for (const row of eachRow<RawBodyRow>(sql, select, ({ seq }) => seq))
    if (!isErasedSum(row.sum) && !isSoundBody(row))
      yield `the body of fact ${row.seq}${inSession(sql, row.seq)} does not match its hash`;
}

function* checkBlocks(sql: Sql): Generator<string> {
  const select = 'select id, hash, codec, sum, body from blocks where id > ? order by id limit ?';
  for (const row of eachRow<RawBlockRow>(sql, select, ({ id }) => id))
    if (!isErasedSum(row.sum) && !isSoundBlock(row))
      yield `block ${row.id}${usedBy(sql, row.id)} does not match its hash`;
}

function* eachRow<Row>(sql: Sql, select: string, numberOf: (row: Row) => number): Generator<Row> {
  let last = 0;
  for (;;) {
    const rows = sql.all<Row>(select, last, BLOCKS_PER_PAGE);
    if (rows.length === 0) return;
    for (const row of rows) {
      mustAscend(last, numberOf(row), 'rows');
      last = numberOf(row);
      yield row;
    }
  }
}

/** Damaged pages can point back to earlier ones: then a walk by number would never end. */
function mustAscend(last: number, number: number, what: string): void {
  if (!(number > last))
    throw new StoreError('corrupt', `the ${what} after number ${last} are out of order: a page is damaged`);
}

function* checkBlockNames(sql: Sql): Generator<string> {
  const lost = sql.all<{ id: number }>(
    `select i.id from block_ids i left join blocks b on b.id = i.id where b.hash is not i.hash limit ${MOST_FINDINGS}`,
  );
  for (const { id } of lost) yield `block ${id} is not where its hash points`;
}

/** The sessions that findings name, without duplicates. */
export const sessionsIn = (findings: readonly string[]): readonly string[] => [
  ...new Set(findings.flatMap((finding) => /\(session (\S+)\)/.exec(finding)?.[1] ?? [])),
];

/** ` (session s_12)`; empty for a fact that belongs to none, or when the views are damaged too. */
const inSession = (sql: Sql, seq: number): string =>
  nameSession(sql, 'select session from turns where start = ?1 or "end" = ?1 limit 1', seq);

const usedBy = (sql: Sql, block: number): string =>
  nameSession(sql, 'select session from block_uses where id = ?1 limit 1', block);

function nameSession(sql: Sql, select: string, number: number): string {
  let session: string | undefined;
  const isFound = succeeds(() => {
    const row = sql.get<{ session: unknown }>(select, number);
    session = typeof row?.session === 'string' ? fromColumn(row.session) : undefined;
    return session !== undefined;
  });
  return isFound ? ` (session ${session})` : '';
}
