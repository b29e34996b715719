import { isSoundBlock, isSoundBody } from '../../src/record/store/row-codec.ts';
import { FACT_COLUMNS, type RawFactRow, readFact } from '../../src/record/store/sqlite-rows.ts';
import type { PgBlockRow, PgBodyRow } from './load-rows.ts';
import type { PgSql } from './pg-connection.ts';

const MOST_FINDINGS = 200;
const FACTS_PER_PAGE = 2_000;
const BODIES_PER_PAGE = 100;

/** Every row against its checksum, every number of the log, and every idempotency key; page by page. */
export async function findPgDamage(sql: PgSql): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const look of [checkFacts, checkBodies, checkBlocks, checkKeys])
    for await (const finding of look(sql)) {
      findings.push(finding);
      if (findings.length >= MOST_FINDINGS) return [...findings, 'and possibly more'];
    }
  return findings;
}

async function* checkFacts(sql: PgSql): AsyncGenerator<string> {
  const [head] = await sql.all<{ seq: number }>('select seq from log_head');
  let last = 0;
  for (;;) {
    const rows = await sql.all<RawFactRow>(
      `select ${FACT_COLUMNS} from facts where seq > $1 order by seq limit ${FACTS_PER_PAGE}`,
      [last],
    );
    for (const row of rows) {
      if (row.seq !== last + 1) yield `facts ${last + 1} to ${row.seq - 1} are missing`;
      last = row.seq;
      if (readFact(row) === undefined) yield `fact ${row.seq} does not match its hash`;
    }
    if (rows.length < FACTS_PER_PAGE) break;
  }
  if (head !== undefined && last < head.seq) yield `facts ${last + 1} to ${head.seq} are missing`;
}

async function* checkBodies(sql: PgSql): AsyncGenerator<string> {
  for (let last = 0; ; ) {
    const rows = await sql.all<PgBodyRow>(
      `select seq, codec, sum, body from bodies where seq > $1 order by seq limit ${BODIES_PER_PAGE}`,
      [last],
    );
    for (const row of rows) {
      last = row.seq;
      if (!isSoundBody(row)) yield `the body of fact ${row.seq} does not match its hash`;
    }
    if (rows.length < BODIES_PER_PAGE) return;
  }
}

async function* checkBlocks(sql: PgSql): AsyncGenerator<string> {
  for (let last = ''; ; ) {
    const rows = await sql.all<PgBlockRow>(
      `select hash, codec, sum, body from blocks where hash > $1 order by hash limit ${BODIES_PER_PAGE}`,
      [last],
    );
    for (const row of rows) {
      last = row.hash;
      if (!isSoundBlock(row)) yield `block ${row.hash} does not match its hash`;
    }
    if (rows.length < BODIES_PER_PAGE) return;
  }
}

async function* checkKeys(sql: PgSql): AsyncGenerator<string> {
  const wrong = await sql.all<{ seq: number }>(
    `select coalesce(f.seq, k.seq) as seq from (select seq, key from facts where key is not null) f
       full join fact_keys k on k.key = f.key where f.seq is distinct from k.seq limit ${MOST_FINDINGS}`,
  );
  for (const { seq } of wrong) yield `the key of fact ${seq} is not where it belongs`;
}
