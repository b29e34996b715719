import pg from 'pg';
import { StoreError } from '../../src/core/store.ts';
import { describePlace, type PgPlace } from '../../src/record/pg-place.ts';

type PgValue = null | number | string | boolean | Uint8Array | readonly PgValue[];

/** One connection to PostgreSQL. Errors are thrown as `StoreError`. */
export interface PgSql {
  all<Row>(text: string, values?: readonly PgValue[]): Promise<readonly Row[]>;
  /** Returns the number of changed rows. */
  run(text: string, values?: readonly PgValue[]): Promise<number>;
  /** Several statements without values, which may take long. */
  exec(text: string): Promise<void>;
}

interface HoldOptions {
  readonly onNotice?: (payload: string) => void;
  /** How long each query may take. */
  readonly queryMs?: number;
}

/** Connections to one store. */
export interface PgPool extends PgSql {
  readonly place: PgPlace;
  /**
   * All or nothing. `isReading`: every query sees the store as it was at the first one. `queryMs`: how long each may take. Rejects
   * with `unclear` when the server went away before it answered the commit.
   */
  transaction<T>(work: (sql: PgSql) => Promise<T>, isReading?: boolean, queryMs?: number): Promise<T>;
  /** A connection of its own until `release`, for locks that last and for notices. `onLost` is called when it breaks. */
  hold(onLost: () => void, options?: HoldOptions): Promise<PgSql & { release(): void }>;
  close(): Promise<void>;
}

interface PoolOptions {
  readonly most?: number;
  readonly connectMs?: number;
  readonly queryMs?: number;
}

/** Also until a server that is paused is given up. */
const CONNECT_MS = 5_000;
/** A query of the record takes milliseconds: after this time the server is gone or stopped. */
const QUERY_MS = 30_000;
/** The beginning of a transaction waits for nobody. */
const BEGIN_MS = 5_000;
const LONG_MS = 3_600_000;
/** A process that stops inside a transaction must not block the others for longer. */
const IDLE_MS = 15_000;

/** bigint: sequence numbers and times are safe integers. */
const BIGINT = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    Number(id) === BIGINT
      ? Number
      : (pg.types.getTypeParser as (id: number, format?: string) => (text: string) => unknown)(id, format),
};

function createClientPool(place: PgPlace, options: PoolOptions): pg.Pool {
  const { most = 4, connectMs = CONNECT_MS, queryMs = QUERY_MS } = options;
  return new pg.Pool({
    host: place.host,
    port: place.port,
    database: place.database,
    ...(place.user === undefined ? {} : { user: place.user }),
    ...(place.password === undefined ? {} : { password: place.password }),
    ssl: place.tls,
    max: most,
    connectionTimeoutMillis: connectMs,
    query_timeout: queryMs,
    idle_in_transaction_session_timeout: IDLE_MS,
    application_name: 'instar',
    options: `-c search_path=${place.schema} -c client_min_messages=warning`,
    allowExitOnIdle: true,
    types,
  });
}

export function openPgPool(place: PgPlace, options: PoolOptions = {}): PgPool {
  const pool = createClientPool(place, options);
  // An idle connection that breaks is replaced by the next query.
  pool.on('error', () => undefined);
  // One that breaks between two users of it has no other listener, and an error without one would end the thread.
  pool.on('connect', (client) => client.on('error', () => undefined));
  let isOpen = true;

  const connect = async (): Promise<pg.PoolClient> => {
    if (!isOpen) throw new StoreError('closed', 'the store is closed');
    try {
      return await pool.connect();
    } catch (error) {
      throw toPgError(error, place);
    }
  };
  /** `quick`: the same connection for what is answered at once. */
  const withClient = async <T>(work: (sql: PgSql, quick: PgSql) => Promise<T>, ms?: number): Promise<T> => {
    const client = await connect();
    let isBroken = false;
    const mark = (): void => {
      isBroken = true;
    };
    client.on('error', mark);
    try {
      return await work(createSql(client, place, mark, ms), createSql(client, place, mark, BEGIN_MS));
    } finally {
      client.off('error', mark);
      client.release(isBroken);
    }
  };
  return {
    place,
    all: (text, values) => withClient((sql) => sql.all(text, values)),
    run: (text, values) => withClient((sql) => sql.run(text, values)),
    exec: (text) => withClient((sql) => sql.exec(text)),
    transaction: (work, isReading = false, ms?: number) =>
      withClient(async (sql, quick) => {
        await quick.run(isReading ? 'begin isolation level repeatable read, read only' : 'begin');
        let isCommitting = false;
        try {
          const result = await work(sql);
          isCommitting = true;
          await sql.run('commit');
          return result;
        } catch (error) {
          const isAway = error instanceof StoreError && error.code === 'away';
          // Without an answer the server ends the transaction with the connection: a paused one is not asked again.
          if (!isAway) await sql.run('rollback').catch(() => undefined);
          throw isAway && isCommitting && !isReading ? toUnclear(error) : error;
        }
      }, ms),
    hold: async (onLost, { onNotice, queryMs: ms } = {}) => {
      const client = await connect();
      let isHeld = true;
      const lost = (): void => {
        if (!isHeld) return;
        isHeld = false;
        client.release(true);
        onLost();
      };
      client.on('error', lost);
      client.on('end', lost);
      if (onNotice !== undefined)
        client.on('notification', ({ payload }) => {
          if (isHeld) onNotice(payload ?? '');
        });
      return {
        ...createSql(client, place, lost, ms),
        release: () => {
          if (!isHeld) return;
          isHeld = false;
          client.release(true);
        },
      };
    },
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      await pool.end();
    },
  };
}

/** `broken` is called when the connection can no longer be used. */
function createSql(client: pg.PoolClient, place: PgPlace, broken: () => void, queryMs?: number): PgSql {
  const ask = async (text: string, values: readonly PgValue[] | undefined, ms?: number) => {
    try {
      // Per query, though the types do not say so.
      const config = { text, ...(values && { values: [...values] }), ...(ms && { query_timeout: ms }) };
      return await client.query<pg.QueryResultRow>(config);
    } catch (error) {
      const fault = toPgError(error, place);
      if (fault.code === 'away') broken();
      throw fault;
    }
  };
  return {
    all: async <Row>(text: string, values?: readonly PgValue[]) =>
      (await ask(text, values, queryMs)).rows as Row[],
    run: async (text, values) => (await ask(text, values, queryMs)).rowCount ?? 0,
    exec: async (text) => void (await ask(text, undefined, LONG_MS)),
  };
}

const toUnclear = (cause: StoreError): StoreError =>
  new StoreError(
    'unclear',
    `${cause.message}. Whether it was recorded is not known: try again with the same idempotency key`,
    { cause },
  );

/** What the server or the network said, with the fix where there is one. */
function toPgError(error: unknown, place: PgPlace): StoreError {
  if (error instanceof StoreError) return error;
  const where = describePlace(place);
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  const make = (kind: StoreError['code'], text: string): StoreError =>
    new StoreError(kind, text, { cause: error });
  switch (code) {
    case '28P01':
    case '28000':
      return make(
        'io',
        `PostgreSQL refused user "${place.user ?? ''}" for ${where}: correct the user and the password in store.url, or set PGPASSWORD (${message})`,
      );
    case '3D000':
      return make('io', `PostgreSQL has no database ${where}: create it with createdb ${place.database}`);
    case '42501':
      return make(
        'io',
        `PostgreSQL allows user "${place.user ?? ''}" too little in ${where}: grant create on database ${place.database} to that user (${message})`,
      );
    case '53100':
      return make('full', `the disk of PostgreSQL (${where}) is full`);
    case '25006':
      return make('away', `PostgreSQL (${where}) takes no writes: it is a standby, or set to read-only`);
    case '40001':
    case '40P01':
    case '55P03':
      return make('locked', `PostgreSQL (${where}): ${message}`);
  }
  if (code === 'SELF_SIGNED_CERT_IN_CHAIN' || /certificate|does not support SSL/i.test(message))
    return make(
      'io',
      `TLS to PostgreSQL (${where}) failed: ${message}: give the server's certificate with sslrootcert=FILE, or say sslmode=disable for a network that you trust`,
    );
  const isAnswer = /^[0-9A-Z]{5}$/.test(code) && !/^(?:08|57P|53)/.test(code) && code !== 'EPIPE';
  return isAnswer
    ? make('io', `PostgreSQL (${where}): ${message}`)
    : make('away', `PostgreSQL (${where}) does not answer: ${message || code}`);
}
