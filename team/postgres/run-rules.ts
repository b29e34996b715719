import type { StoredFact } from '../../src/core/fact.ts';
import { StoreError } from '../../src/core/store.ts';
import { foldFacts } from '../../src/record/store/ledger.ts';
import type { Tables } from '../../src/record/store/tables.ts';
import { loadRows } from './load-rows.ts';
import type { PgSql } from './pg-connection.ts';
import { createStagedTables, isWanting, noRows, type StagedChanges } from './staged-tables.ts';
import { type LoadedLog, type LogHead, writeRows } from './write-rows.ts';

/** Questions that depend on each other; the rules have at most five. */
const MOST_ROUNDS = 20;

/** The order of the log is the order of commits: nobody else appends until this transaction ends. */
export async function lockHead(sql: PgSql): Promise<LogHead> {
  const [head] = await sql.all<LogHead>(
    'select seq, sessions, turns, chains, erasures from log_head for update',
  );
  if (head === undefined) throw new StoreError('corrupt', 'the head of the log is missing');
  return head;
}

/** Runs the rules until they ask for nothing that is not loaded. */
export async function runRules<T>(
  sql: PgSql,
  rules: (tables: Tables) => T,
  { loaded, head }: LoadedLog,
): Promise<{ readonly result: T; readonly staged: StagedChanges }> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const tables = createStagedTables(loaded, head.seq);
    const result = rules(tables);
    if (!isWanting(tables.wanted)) return { result, staged: tables.staged() };
    await loadRows(sql, tables.wanted, loaded);
  }
  throw new StoreError('io', `the rules of the record asked ${MOST_ROUNDS} times: please report this`);
}

/** Folds facts that are in the log into the views, which end before them. Returns the new head. */
export async function foldPage(sql: PgSql, page: readonly StoredFact[], head: LogHead): Promise<LogHead> {
  const log = { loaded: noRows(), head };
  const { staged } = await runRules(sql, (tables) => foldFacts(tables, page), log);
  return (await writeRows(sql, staged, log, new Set())).head;
}
