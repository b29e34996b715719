import {
  hashBlockRow,
  hashBodyRow,
  hashFactRow,
  packBody,
  toColumn,
} from '../../src/record/store/row-codec.ts';
import { FACT_COLUMNS, factJson, type RawFactRow } from '../../src/record/store/sqlite-rows.ts';
import { type SessionRow, subjectOf, type TurnRow } from '../../src/record/store/views.ts';
import { encodeNotice, NOTICE_CHANNEL } from './log-notice.ts';
import type { PgSql } from './pg-connection.ts';
import { createMonth, monthOf, partitionName } from './pg-schema.ts';
import type { LoadedRows, RowChange, StagedChanges } from './staged-tables.ts';

/** The row of `log_head`: the last numbers that were given. */
export interface LogHead {
  readonly seq: number;
  readonly sessions: number;
  readonly turns: number;
  readonly chains: number;
  /** The number of transactions that deleted bodies. */
  readonly erasures: number;
}

/** The log under its lock, and what the rules have read of it. */
export interface LoadedLog {
  readonly head: LogHead;
  readonly loaded: LoadedRows;
}

type ChangeOf<Op extends RowChange['op']> = RowChange & { readonly op: Op };

const optional = (value: string | undefined): string | null => (value === undefined ? null : toColumn(value));

/**
 * Writes what the rules changed, and the head of the log. Neighbouring changes of one kind are one statement. `unclean`: the
 * partitions and tables in which something was erased.
 */
export async function writeRows(
  sql: PgSql,
  { changes, sessions, turns, lastSeq }: StagedChanges,
  { loaded, head }: LoadedLog,
  months: Set<number>,
): Promise<{ readonly unclean: ReadonlySet<string>; readonly head: LogHead }> {
  const unclean = new Set<string>();
  let chains = head.chains;
  for (const group of groupByOp(changes)) {
    const [first] = group;
    if (first === undefined) continue;
    const all = <Op extends RowChange['op']>(_: Op) => group as readonly ChangeOf<Op>[];
    if (first.op === 'fact') await insertFacts(sql, all('fact'), months);
    else if (first.op === 'overwrite') await overwriteFacts(sql, all('overwrite'), unclean);
    else if (first.op === 'reward') await insertRewards(sql, all('reward'));
    else if (first.op === 'body') await insertBodies(sql, all('body'));
    else if (first.op === 'block') await insertBlocks(sql, all('block'));
    else if (first.op === 'chain') chains = await putChains(sql, all('chain'), chains);
    else for (const change of group) await drop(sql, change, unclean);
  }
  const isNew = (id: string): boolean => loaded.sessions.get(id) === undefined;
  const added = [...sessions.keys()].filter(isNew);
  const begun = [...turns.keys()].filter((id) => loaded.turns.get(id) === undefined);
  await putSessions(sql, sessions, new Map(added.map((id, nth) => [id, head.sessions + nth + 1])));
  await putTurns(sql, turns, new Map(begun.map((id, nth) => [id, head.turns + nth + 1])));
  const after = {
    seq: lastSeq,
    sessions: head.sessions + added.length,
    turns: head.turns + begun.length,
    chains,
    erasures: head.erasures + (changes.some(isDeletion) ? 1 : 0),
  };
  if (Object.entries(after).some(([name, number]) => head[name as keyof LogHead] !== number))
    await writeHead(sql, after, encodeNotice({ from: head.seq, to: after.seq, types: typesOf(changes) }));
  return { unclean, head: after };
}

const isDeletion = ({ op }: RowChange): boolean =>
  op === 'drop-bodies' || op === 'drop-blocks' || op === 'drop-use';

const typesOf = (changes: readonly RowChange[]): readonly string[] => [
  ...new Set(changes.flatMap((change) => (change.op === 'fact' ? [change.stored.fact.type] : []))),
];

/** `notice`: what others are told when the transaction is committed; see `log-notice`. One statement for both. */
export const writeHead = (
  sql: PgSql,
  { seq, sessions, turns, chains, erasures }: LogHead,
  notice = '',
): Promise<number> =>
  sql.run(
    `with moved as (update log_head set seq = $1, sessions = $2, turns = $3, chains = $4, erasures = $5 returning 1)
     select pg_notify(${NOTICE_CHANNEL}, $6) from moved`,
    [seq, sessions, turns, chains, erasures, notice],
  );

/** Additions do not depend on each other and are brought together; a removal comes after what was added before it. */
function groupByOp(changes: readonly RowChange[]): readonly (readonly RowChange[])[] {
  const groups: RowChange[][] = [];
  const open = new Map<RowChange['op'], RowChange[]>();
  for (const change of changes) {
    const last = groups.at(-1);
    const isAdding =
      change.op === 'fact' || change.op === 'reward' || change.op === 'body' || change.op === 'block';
    if (!isAdding && change.op !== 'chain') open.clear();
    const group = last?.[0]?.op === change.op ? last : open.get(change.op);
    if (group !== undefined) {
      group.push(change);
      continue;
    }
    const fresh = [change];
    groups.push(fresh);
    open.set(change.op, fresh);
  }
  return groups;
}

async function insertFacts(
  sql: PgSql,
  facts: readonly ChangeOf<'fact'>[],
  months: Set<number>,
): Promise<void> {
  const rows = facts.map(({ stored: { seq, at, fact }, body, key, isInView }) => {
    const row = { seq, at, type: fact.type, body, key: optional(key) };
    const subject = isInView ? undefined : subjectOf(fact);
    return { ...row, month: monthOf(at), subject: optional(subject), hash: hashFactRow(row) };
  });
  await insertFactRows(sql, rows, months);
}

/** A fact as it is stored. */
export interface PgFactRow extends RawFactRow {
  readonly month: number;
  readonly subject: string | null;
  readonly erased?: boolean;
}

/** `months`: those that have partitions. */
export async function insertFactRows(
  sql: PgSql,
  rows: readonly PgFactRow[],
  months: Set<number>,
): Promise<void> {
  for (const { month } of rows) {
    if (months.has(month)) continue;
    await createMonth(sql, month);
    months.add(month);
  }
  await sql.run(
    `insert into facts(month, seq, at, type, subject, body, key, hash, erased)
     select * from unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[],
       $9::boolean[])`,
    [
      rows.map(({ month }) => month),
      rows.map(({ seq }) => seq),
      rows.map(({ at }) => at),
      rows.map(({ type }) => type),
      rows.map(({ subject }) => subject),
      rows.map(({ body }) => body),
      rows.map(({ key }) => key),
      rows.map(({ hash }) => hash),
      rows.map(({ erased }) => erased ?? false),
    ],
  );
  const keyed = rows.filter(({ key }) => key !== null);
  if (keyed.length === 0) return;
  await sql.run('insert into fact_keys(key, seq) select * from unnest($1::text[], $2::bigint[])', [
    keyed.map(({ key }) => key),
    keyed.map(({ seq }) => seq),
  ]);
}

/** The only change to a fact: its quoted text is erased. The row gets a new hash and the flag `erased`. */
async function overwriteFacts(
  sql: PgSql,
  changes: readonly ChangeOf<'overwrite'>[],
  unclean: Set<string>,
): Promise<void> {
  // The last version of each.
  const facts = new Map(changes.map(({ stored }) => [stored.seq, stored]));
  const rows = await sql.all<RawFactRow>(`select ${FACT_COLUMNS} from facts where seq = any($1::bigint[])`, [
    [...facts.keys()],
  ]);
  for (const old of rows) {
    const fact = facts.get(old.seq)?.fact;
    if (fact === undefined) continue;
    const body = factJson(fact);
    const month = monthOf(old.at);
    await sql.run('update facts set body = $1, hash = $2, erased = true where seq = $3 and month = $4', [
      body,
      hashFactRow({ ...old, body }),
      old.seq,
      month,
    ]);
    unclean.add(partitionName('facts', month));
  }
}

const insertRewards = (sql: PgSql, rewards: readonly ChangeOf<'reward'>[]): Promise<number> =>
  sql.run(
    'insert into rewards(seq, turn, session) select * from unnest($1::bigint[], $2::text[], $3::text[])',
    [
      rewards.map(({ seq }) => seq),
      rewards.map(({ turn }) => optional(turn)),
      rewards.map(({ session }) => optional(session)),
    ],
  );

/** In the month of its fact. The first body of a fact counts. */
const insertBodies = (sql: PgSql, bodies: readonly ChangeOf<'body'>[]): Promise<number> => {
  const rows = bodies.map(({ seq, text, isHurried }) => {
    const { codec, body } = packBody(text, isHurried);
    return { seq, codec, body, sum: hashBodyRow({ seq, codec, body }) };
  });
  return insertBodyRows(sql, rows);
};

export const insertBodyRows = (
  sql: PgSql,
  rows: readonly {
    readonly seq: number;
    readonly codec: number;
    readonly sum: Uint8Array;
    readonly body: Uint8Array;
  }[],
): Promise<number> =>
  sql.run(
    `insert into bodies(month, seq, codec, sum, body)
     select f.month, b.seq, b.codec, b.sum, b.body
     from unnest($1::bigint[], $2::smallint[], $3::bytea[], $4::bytea[]) with ordinality as b(seq, codec, sum, body, nth)
       join facts f on f.seq = b.seq
     order by b.nth on conflict do nothing`,
    [
      rows.map(({ seq }) => seq),
      rows.map(({ codec }) => codec),
      rows.map(({ sum }) => sum),
      rows.map(({ body }) => body),
    ],
  );

/** Counts a use also of a block that is stored already; ignores a use of a block that is not stored. */
async function insertBlocks(sql: PgSql, blocks: readonly ChangeOf<'block'>[]): Promise<void> {
  const hashes = blocks.map(({ block }) => toColumn(block.hash));
  const stored = new Set(
    (await sql.all<{ hash: string }>('select hash from blocks where hash = any($1)', [hashes])).map(
      ({ hash }) => hash,
    ),
  );
  const rows: { hash: string; codec: number; sum: Uint8Array; body: Uint8Array }[] = [];
  const uses: { session: string; hash: string }[] = [];
  for (const { block, isHurried } of blocks) {
    const hash = toColumn(block.hash);
    if (!stored.has(hash)) {
      if (block.text === undefined) continue;
      const { codec, body } = packBody(block.text, isHurried);
      rows.push({ hash, codec, body, sum: hashBlockRow({ hash, codec, body }) });
      stored.add(hash);
    }
    uses.push({ session: toColumn(block.session), hash });
  }
  if (rows.length > 0) await insertBlockRows(sql, rows);
  if (uses.length > 0) await insertUses(sql, uses);
}

export const insertBlockRows = (
  sql: PgSql,
  rows: readonly {
    readonly hash: string;
    readonly codec: number;
    readonly sum: Uint8Array;
    readonly body: Uint8Array;
  }[],
): Promise<number> =>
  sql.run(
    `insert into blocks(hash, codec, sum, body)
     select * from unnest($1::text[], $2::smallint[], $3::bytea[], $4::bytea[]) on conflict do nothing`,
    [
      rows.map(({ hash }) => hash),
      rows.map(({ codec }) => codec),
      rows.map(({ sum }) => sum),
      rows.map(({ body }) => body),
    ],
  );

export const insertUses = (
  sql: PgSql,
  uses: readonly { readonly session: string; readonly hash: string }[],
): Promise<number> =>
  sql.run(
    'insert into block_uses(session, hash) select * from unnest($1::text[], $2::text[]) on conflict do nothing',
    [uses.map(({ session }) => session), uses.map(({ hash }) => hash)],
  );

/** Returns the last number given. */
async function putChains(sql: PgSql, changes: readonly ChangeOf<'chain'>[], last: number): Promise<number> {
  const links = new Map<string, { readonly link: string; readonly n: number }>();
  let n = last;
  for (const { session, link } of changes) links.set(toColumn(session), { link: toColumn(link), n: ++n });
  await sql.run(
    `insert into chains(session, link, n) select * from unnest($1::text[], $2::text[], $3::bigint[])
     on conflict (session) do update set link = excluded.link, n = excluded.n`,
    [[...links.keys()], [...links.values()].map(({ link }) => link), [...links.values()].map((one) => one.n)],
  );
  return n;
}

async function drop(sql: PgSql, change: RowChange, unclean: Set<string>): Promise<void> {
  if (change.op === 'drop-bodies') {
    const dropped = await sql.all<{ month: number }>(
      'delete from bodies where seq = any($1::bigint[]) returning month',
      [change.facts],
    );
    for (const { month } of dropped) unclean.add(partitionName('bodies', month));
  } else if (change.op === 'drop-blocks' || change.op === 'drop-use') {
    const hashes = await sql.all<{ hash: string }>(
      `delete from block_uses where session = $1${change.op === 'drop-use' ? ' and hash = $2' : ''} returning hash`,
      change.op === 'drop-use'
        ? [toColumn(change.session), toColumn(change.hash)]
        : [toColumn(change.session)],
    );
    const gone = await sql.run(
      `delete from blocks b where hash = any($1) and not exists(select 1 from block_uses u where u.hash = b.hash)`,
      [hashes.map(({ hash }) => hash)],
    );
    if (gone > 0) unclean.add('blocks');
  } else if (change.op === 'drop-chain') {
    const gone = await sql.run('delete from chains where session = $1', [toColumn(change.session)]);
    if (gone > 0) unclean.add('chains');
  }
}

async function putSessions(
  sql: PgSql,
  sessions: ReadonlyMap<string, SessionRow>,
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  if (sessions.size === 0) return;
  const rows = [...sessions.values()];
  await sql.run(
    `insert into sessions(n, id, agent, client, project, project_from, turns, started_at, last_at, ended_at, erased)
     select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::int[],
       $8::bigint[], $9::bigint[], $10::bigint[], $11::boolean[])
     on conflict (id) do update set client = excluded.client, project = excluded.project,
       project_from = excluded.project_from, turns = excluded.turns, started_at = excluded.started_at,
       last_at = excluded.last_at, ended_at = excluded.ended_at, erased = excluded.erased`,
    [
      rows.map(({ id }) => numbers.get(id) ?? 0),
      rows.map(({ id }) => toColumn(id)),
      rows.map(({ agent }) => toColumn(agent)),
      rows.map(({ client }) => optional(client)),
      rows.map(({ project }) => optional(project)),
      rows.map(({ projectFrom }) => projectFrom ?? null),
      rows.map(({ turns }) => turns),
      rows.map(({ startedAt }) => startedAt),
      rows.map(({ lastAt }) => lastAt),
      rows.map(({ endedAt }) => endedAt ?? null),
      rows.map(({ erased }) => erased),
    ],
  );
}

async function putTurns(
  sql: PgSql,
  turns: ReadonlyMap<string, TurnRow>,
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  if (turns.size === 0) return;
  const rows = [...turns.values()];
  await sql.run(
    `insert into turns(n, id, session, start_seq, end_seq, erased)
     select * from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[])
     on conflict (id) do update set end_seq = excluded.end_seq, erased = excluded.erased`,
    [
      rows.map(({ id }) => numbers.get(id) ?? 0),
      rows.map(({ id }) => toColumn(id)),
      rows.map(({ session }) => toColumn(session)),
      rows.map(({ start }) => start),
      rows.map(({ end }) => end ?? null),
      rows.map(({ erased }) => erased),
    ],
  );
}
