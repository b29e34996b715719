import type { GatewayProcess } from '../../src/core/gateway-process.ts';
import { asObject, asString, parseJson } from '../../src/core/json.ts';
import { fromColumn, toColumn } from '../../src/record/store/row-codec.ts';
import type { PgSql } from './pg-connection.ts';

/** A gateway of this database, as the others see it. */
export interface KnownGateway {
  readonly id: string;
  readonly home: string;
  readonly host: string;
  readonly pid: number;
  /** A worker listens nowhere. */
  readonly kind: 'gateway' | 'worker';
  /** Null for a worker, and until a gateway listens. */
  readonly url: string | null;
  readonly version: string;
  readonly startedAt: number;
  /** Milliseconds since it was last seen, by the clock of the server. */
  readonly seenMsAgo: number;
  /** Whether it is connected now. */
  readonly isAlive: boolean;
}

/** In the column of addresses: a process that listens nowhere. */
export const WORKER_URL = '';

/** The first half of the keys of their advisory locks, as SQL; the second half is the number in the table. */
const LOCK_CLASS = `hashtext('instar gateway ' || current_schema())`;

/** Durable before a turn names it: a turn whose gateway is not listed has none. */
export const registerGateway = (sql: PgSql, { id, home, host, pid, version, startedAt }: GatewayProcess) =>
  sql.run(
    `insert into gateways(id, home, host, pid, version, started_at) values($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [toColumn(id), toColumn(home), toColumn(host), pid, version, startedAt],
  );

export const removeGateways = (sql: PgSql, ids: readonly string[]): Promise<number> =>
  sql.run('delete from gateways where id = any($1)', [ids.map(toColumn)]);

/** On the connection that lasts as long as the gateway: it is alive while this lock is held. */
export async function holdGateway(sql: PgSql, gateway: GatewayProcess): Promise<void> {
  // Somebody may have given it up during an outage.
  await registerGateway(sql, gateway);
  await sql.run(`select pg_advisory_lock_shared(${LOCK_CLASS}, (select lock from gateways where id = $1))`, [
    toColumn(gateway.id),
  ]);
}

export const noteGateway = (sql: PgSql, id: string, url: string | undefined): Promise<number> =>
  sql.run('update gateways set seen_at = now(), url = coalesce($2, url) where id = $1', [
    toColumn(id),
    url ?? null,
  ]);

/** All that are listed, oldest first. */
export async function listGateways(sql: PgSql): Promise<readonly KnownGateway[]> {
  const rows = await sql.all<Omit<KnownGateway, 'kind'>>(
    `select id, home, host, pid, url, version, started_at as "startedAt",
       (extract(epoch from now() - seen_at) * 1000)::bigint as "seenMsAgo",
       exists(select 1 from pg_locks l where l.locktype = 'advisory' and l.granted and l.objsubid = 2
         and l.database = (select oid from pg_database where datname = current_database())
         and l.classid::bigint = (${LOCK_CLASS}::bigint & 4294967295) and l.objid::bigint = g.lock) as "isAlive"
     from gateways g order by lock`,
  );
  return rows.map(({ id, home, url, ...row }) => ({
    ...row,
    id: fromColumn(id),
    home: fromColumn(home),
    url: url === WORKER_URL ? null : url,
    kind: url === WORKER_URL ? 'worker' : 'gateway',
  }));
}

/** Open turns and the gateway that runs each; undefined in records of earlier versions and of other programs. */
export async function listOpenTurns(
  sql: PgSql,
): Promise<readonly { readonly turn: string; readonly gateway: string | undefined }[]> {
  const rows = await sql.all<{ id: string; body: string }>(
    `select t.id, f.body from turns t join facts f on f.seq = t.start_seq where t.end_seq is null order by t.start_seq`,
  );
  return rows.map(({ id, body }) => ({
    turn: fromColumn(id),
    gateway: asString(asObject(asObject(parseJson(body)).gateway).id),
  }));
}
