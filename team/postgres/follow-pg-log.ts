import type { Fact, StoredFact } from '../../src/core/fact.ts';
import { errorMessage } from '../../src/core/failure.ts';
import type { LogFollower } from '../../src/core/log-follower.ts';
import { FACT_COLUMNS, type RawFactRow } from '../../src/record/store/sqlite-rows.ts';
import { readFacts } from './load-rows.ts';
import { decodeNotice, type LogNotice, NOTICE_CHANNEL } from './log-notice.ts';
import type { PgPool, PgSql } from './pg-connection.ts';

interface FollowPgLogOptions {
  readonly pool: PgPool;
  /** The last number that is known; absent: begin after the head at the first connection. */
  readonly after?: number;
  /** Called with each new connection, before it listens: for locks that last as long as it does. */
  readonly onConnected?: (sql: PgSql) => Promise<void>;
  /** A listener rejected. */
  readonly onFault: (error: unknown) => void;
  /** Without a notice for this long it looks at the head of the log. */
  readonly lookMs?: number;
}

const LOOK_MS = 5_000;
const PAGE = 500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

interface Listener {
  readonly types: readonly Fact['type'][];
  readonly hear: (stored: StoredFact) => Promise<void>;
}

/** Who is told what. A listener that rejects delays nobody else. */
function createListeners(onFault: (error: unknown) => void) {
  const listeners: Listener[] = [];
  const begun: (() => Promise<void>)[] = [];
  const appended: ((types: readonly string[]) => void)[] = [];
  const call = async (listener: () => Promise<void>): Promise<void> => {
    try {
      await listener();
    } catch (error) {
      onFault(error);
    }
  };
  return {
    add: (listener: Listener) => void listeners.push(listener),
    addAppended: (listener: (types: readonly string[]) => void) => void appended.push(listener),
    addBegun: (listener: () => Promise<void>, isBegun: boolean): void => {
      begun.push(listener);
      if (isBegun) void call(listener);
    },
    wanted: (): ReadonlySet<string> => new Set(listeners.flatMap(({ types }) => types)),
    deliver: async (stored: StoredFact): Promise<void> => {
      for (const { types, hear } of listeners)
        if (types.includes(stored.fact.type)) await call(() => hear(stored));
    },
    tellAppended: (types: readonly string[]): void => {
      for (const listener of appended) listener(types);
    },
    tellBegun: async (): Promise<void> => {
      for (const listener of begun) await call(listener);
    },
  };
}

/** Reads the log once, from where it was left. */
interface LogReader {
  /** The last number that was delivered; undefined until the first look. */
  seq(): number | undefined;
  /** Delivers everything up to the head of the log. */
  read(sql: PgSql): Promise<void>;
  /** Passes facts that nobody here listens for, without a query. False when they have to be read. */
  pass(notice: LogNotice): boolean;
}

function createLogReader(
  listeners: ReturnType<typeof createListeners>,
  after: number | undefined,
  isClosed: () => boolean,
): LogReader {
  let passed = after;
  const begin = async (head: number): Promise<number> => {
    passed = head;
    await listeners.tellBegun();
    return head;
  };
  return {
    seq: () => passed,
    pass: ({ from, to, types }) => {
      const wanted = listeners.wanted();
      if (from !== passed || types.some((type) => wanted.has(type))) return false;
      passed = to;
      return true;
    },
    read: async (sql) => {
      const [row] = await sql.all<{ seq: number }>('select seq from log_head');
      const head = row?.seq ?? 0;
      let at = passed ?? (await begin(head));
      while (at < head && !isClosed()) {
        const page = await sql.all<RawFactRow>(
          `select ${FACT_COLUMNS} from facts where seq > $1 and seq <= $2 and type = any($3) order by seq limit $4`,
          [at, head, [...listeners.wanted()], PAGE],
        );
        for (const stored of readFacts(page)) {
          passed = stored.seq;
          await listeners.deliver(stored);
        }
        at = page.length < PAGE ? head : (page.at(-1)?.seq ?? head);
        passed = at;
      }
    },
  };
}

interface LookPorts {
  readonly connection: () => PgSql | undefined;
  readonly isClosed: () => boolean;
  /** The log was read: the next look is after a while. */
  readonly rest: () => void;
  readonly failed: (error: unknown) => void;
}

/** Reads the log, one reading at a time. */
function createLooks(log: LogReader, { connection, isClosed, rest, failed }: LookPorts) {
  let reading: Promise<void> | undefined;
  /** Something was appended while it was reading. */
  let isAgain = false;
  const readAll = async (sql: PgSql): Promise<void> => {
    do {
      isAgain = false;
      await log.read(sql);
    } while (isAgain && !isClosed());
  };
  const look = (): void => {
    isAgain = true;
    const sql = connection();
    if (reading !== undefined || sql === undefined || isClosed()) return;
    reading = readAll(sql)
      // The connection reports its own loss.
      .catch(failed)
      .finally(() => {
        reading = undefined;
        if (connection() !== undefined) rest();
        if (isAgain && connection() !== undefined && connection() !== sql) look();
      });
  };
  return { look, isReading: () => reading !== undefined, settled: async () => reading };
}

/**
 * Follows the log by LISTEN, and by its numbers: numbers are without a gap and visible in their order (see `pg-schema`), so a
 * notice only says that there is something to read. A notice that continues where this follower is, about facts that nobody
 * here listens for, costs no query. After a lost connection, and every few seconds without a notice, the head is read.
 */
export function followPgLog(options: FollowPgLogOptions): LogFollower {
  const { pool, lookMs = LOOK_MS } = options;
  const listeners = createListeners(options.onFault);
  const log = createLogReader(listeners, options.after, () => isClosed);
  let problem: string | undefined = 'not connected yet';
  let connection: (PgSql & { release(): void }) | undefined;
  let isClosed = false;
  let pauseMs = FIRST_PAUSE_MS;
  let timer: NodeJS.Timeout | undefined;

  const later = (ms: number, run: () => void): void => {
    clearTimeout(timer);
    if (isClosed) return;
    timer = setTimeout(run, ms);
    timer.unref();
  };
  const looks = createLooks(log, {
    connection: () => connection,
    isClosed: () => isClosed,
    rest: () => later(lookMs, looks.look),
    failed: (error) => {
      problem = errorMessage(error);
    },
  });
  const onNotice = (payload: string): void => {
    const notice = decodeNotice(payload);
    listeners.tellAppended(notice?.types ?? []);
    if (notice !== undefined && !looks.isReading() && log.pass(notice)) later(lookMs, looks.look);
    else looks.look();
  };
  const lost = (): void => {
    connection = undefined;
    if (isClosed) return;
    problem ??= 'the connection to PostgreSQL was lost';
    later(pauseMs, () => void connect());
    pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
  };
  const connect = async (): Promise<void> => {
    try {
      let isLost = false;
      const onLost = (): void => {
        isLost = true;
        if (connection === sql) lost();
      };
      const sql = await pool.hold(onLost, { onNotice });
      await startListening(sql, options.onConnected);
      connection = sql;
      if (isClosed) sql.release();
      if (isClosed || isLost) throw new Error('the connection to PostgreSQL was lost');
      problem = undefined;
      pauseMs = FIRST_PAUSE_MS;
      // What was appended before LISTEN was told to nobody here.
      looks.look();
    } catch (error) {
      problem = errorMessage(error);
      lost();
    }
  };
  // Listeners are added first.
  const connecting = Promise.resolve().then(connect);

  return {
    on: (types, hear) => listeners.add({ types, hear }),
    onAppended: listeners.addAppended,
    onBegun: (listener) => listeners.addBegun(listener, log.seq() !== undefined),
    seq: log.seq,
    problem: () => problem,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await connecting;
      const sql = connection;
      connection = undefined;
      sql?.release();
      await looks.settled();
    },
  };
}

async function startListening(
  sql: PgSql & { release(): void },
  onConnected: FollowPgLogOptions['onConnected'],
): Promise<void> {
  try {
    await onConnected?.(sql);
    const [channel] = await sql.all<{ name: string }>(`select ${NOTICE_CHANNEL} as name`);
    await sql.run(`listen "${channel?.name}"`);
  } catch (error) {
    sql.release();
    throw error;
  }
}
