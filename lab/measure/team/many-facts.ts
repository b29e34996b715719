import { readPgUrl } from '../../../src/record/pg-place.ts';
import { hashFactRow } from '../../../src/record/store/row-codec.ts';
import { openPgPool, type PgPool } from '../../../team/postgres/pg-connection.ts';
import { monthOf } from '../../../team/postgres/pg-schema.ts';
import { openPgStore } from '../../../team/postgres/pg-store.ts';
import { insertFactRows, type PgFactRow } from '../../../team/postgres/write-rows.ts';

const DAY_MS = 86_400_000;
const TURNS_PER_SESSION = 20;
const TURNS_PER_BATCH = 5_000;

/** A year of turns, two facts each, evenly spread, without the texts of requests and replies. */
export async function fillFacts(url: string, facts: number, tell: (done: number) => void): Promise<void> {
  const store = await openPgStore({ url });
  await store.close();
  const pool = openPgPool(readPgUrl(url), { queryMs: 600_000 });
  const turns = Math.floor(facts / 2);
  const step = (365 * DAY_MS) / turns;
  const start = Date.now() - 365 * DAY_MS;
  const months = new Set<number>();
  try {
    for (let first = 0; first < turns; first += TURNS_PER_BATCH) {
      const count = Math.min(TURNS_PER_BATCH, turns - first);
      const rows = Array.from({ length: count }, (_, nth) => rowsOf(first + nth, start, step)).flat();
      await pool.transaction((sql) => insertFactRows(sql, rows, months));
      tell(2 * (first + count));
    }
    await fillViews(pool, turns, start, step);
  } finally {
    await pool.close();
  }
}

const turnId = (n: number): string => `t_${String(n).padStart(12, '0')}`;
const sessionId = (n: number): string => `s_${String(Math.floor(n / TURNS_PER_SESSION)).padStart(10, '0')}`;

function rowsOf(n: number, start: number, step: number): readonly PgFactRow[] {
  const at = Math.round(start + n * step);
  const turn = turnId(n);
  const facts = [
    {
      type: 'turn-start',
      turn,
      session: sessionId(n),
      project: { id: `p${n % 7}`, label: 'shop' },
      agent: 'claude-code',
      role: 'main',
      wire: 'anthropic',
      model: 'claude-sonnet-5',
      generation: 3,
      policy: 'anthropic/claude-sonnet-5',
      lessons: [],
      request: `request:${turn}`,
    },
    {
      type: 'turn-end',
      turn,
      status: 'complete',
      httpStatus: 200,
      totalMs: 1200,
      reply: `reply:${turn}`,
    },
  ];
  return facts.map(({ type, ...rest }, nth) => {
    const key = `${turn}:${nth === 0 ? 'start' : 'end'}`;
    const row = { seq: 2 * n + nth + 1, at: at + nth, type, body: JSON.stringify({ type, ...rest }), key };
    return { ...row, month: monthOf(at), subject: null, hash: hashFactRow(row) };
  });
}

/** The views as the rules would have folded them. */
async function fillViews(pool: PgPool, turns: number, start: number, step: number): Promise<void> {
  const sessions = Math.ceil(turns / TURNS_PER_SESSION);
  await pool.exec(`
    insert into turns(n, id, session, start_seq, end_seq, erased)
      select i + 1, 't_' || lpad(i::text, 12, '0'), 's_' || lpad((i / ${TURNS_PER_SESSION})::text, 10, '0'),
        2 * i + 1, 2 * i + 2, false
      from generate_series(0::bigint, ${turns - 1}) as i;
    insert into sessions(n, id, agent, turns, started_at, last_at, erased)
      select i + 1, 's_' || lpad(i::text, 10, '0'), 'claude-code', ${TURNS_PER_SESSION},
        (${start} + i * ${TURNS_PER_SESSION * step})::bigint,
        (${start} + ((i + 1) * ${TURNS_PER_SESSION} - 1) * ${step})::bigint, false
      from generate_series(0::bigint, ${sessions - 1}) as i;
    update log_head set seq = ${2 * turns}, sessions = ${sessions}, turns = ${turns};
    analyze`);
}

export interface FactsRow {
  readonly facts: number;
  readonly gigabytes: number;
  readonly openMs: number;
  readonly listMs: number;
  readonly listOldMs: number;
  readonly turnsMs: number;
  readonly appendMs: number;
  /** For each session that is erased by its age. */
  readonly expireMs: number;
}

const TIMES = 20;
const EXPIRED = 50;

/** What the record answers beside that many facts: medians, in milliseconds. */
export async function measureFacts(url: string, facts: number): Promise<FactsRow> {
  const opened = performance.now();
  const store = await openPgStore({ url });
  const openMs = performance.now() - opened;
  const middle = Date.now() - 180 * DAY_MS;
  try {
    const listMs = await medianOf(() => store.sessions({ limit: 50 }));
    const listOldMs = await medianOf(() => store.sessions({ limit: 50, before: middle }));
    const turnsMs = await medianOf((nth) => store.turns(sessionId(nth * 997)));
    const appendMs = await medianOf((nth) =>
      store.append({
        facts: [{ at: Date.now(), fact: { type: 'session-end', session: sessionId(nth), reason: 'bench' } }],
      }),
    );
    const begun = performance.now();
    const expired = await store.expire(Date.now(), Date.now(), EXPIRED);
    const expireMs = (performance.now() - begun) / Math.max(1, expired);
    const pool = openPgPool(readPgUrl(url));
    const [size] = await pool.all<{ bytes: number }>('select pg_database_size(current_database()) as bytes');
    await pool.close();
    return {
      facts,
      gigabytes: (size?.bytes ?? 0) / 1e9,
      openMs,
      listMs,
      listOldMs,
      turnsMs,
      appendMs,
      expireMs,
    };
  } finally {
    await store.close();
  }
}

async function medianOf(work: (nth: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let nth = 0; nth < TIMES; nth++) {
    const startedAt = performance.now();
    await work(nth);
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b)[TIMES >> 1] ?? Number.NaN;
}
