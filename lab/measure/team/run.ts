import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readPgUrl } from '../../../src/record/pg-place.ts';
import { openPgPool } from '../../../team/postgres/pg-connection.ts';
import { endChild, startChild } from '../gateway/child-process.ts';
import { markdownTable, milliseconds, writeSection } from '../markdown.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../postgres-server.ts';
import { type FactsRow, fillFacts, measureFacts } from './many-facts.ts';
import { type LessonDelay, measureDelay } from './measure-delay.ts';
import { type DatabaseUse, measureLoad, measurePlain, type TeamRow } from './measure-load.ts';
import { startTeam } from './start-team.ts';

/** What several gateways over one PostgreSQL cost, how soon a lesson reaches the others, and how it is beside many facts. */
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'paced,full,delay,facts' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    instar: { type: 'string', default: 'dist/src/cli/main.js' },
    facts: { type: 'string', default: '100000,1000000,10000000' },
    lessons: { type: 'string', default: '100' },
  },
});
const parts = new Set(options.only.split(','));
const PACED = { ms: options.quick ? 5_000 : 20_000, lanes: 12, perSecond: 60 };
const FULL = { ms: options.quick ? 3_000 : 10_000, lanes: 24 };
const WARM = { name: 'warm', ms: options.quick ? 3_000 : 10_000, lanes: 12, perSecond: 60 };
const GATEWAYS = [1, 2, 3];
const LONGEST_DELAY_MS = 500;
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const main = path.resolve(options.instar);

function needServer(): string {
  const bin = findPostgres();
  if (bin === undefined)
    throw new Error(
      'This machine has no PostgreSQL 14 or newer (Debian: apt-get install postgresql); INSTAR_TEST_POSTGRES_BIN names the folder of initdb.',
    );
  return bin;
}

/** Counted by the server: `active_time` of all databases. */
async function withUse<T>(server: PostgresServer, work: (use: DatabaseUse) => Promise<T>): Promise<T> {
  const pool = openPgPool(readPgUrl(server.url('postgres')));
  const statementMs = async (): Promise<number> => {
    // Counters of other connections are sent when they become idle, at most once a second.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const [row] = await pool.all<{ ms: number }>(
      'select sum(active_time)::float8 as ms from pg_stat_database',
    );
    return row?.ms ?? 0;
  };
  try {
    return await work({ pid: server.pid, statementMs });
  } finally {
    await pool.close();
  }
}

async function measureTeams(
  server: PostgresServer,
  upstreamPort: number,
): Promise<{ readonly paced: readonly TeamRow[]; readonly full: readonly TeamRow[] }> {
  const paced: TeamRow[] = [];
  const full: TeamRow[] = [];
  const plain = await startChild(
    'pass-through',
    [`http://127.0.0.1:${upstreamPort}`],
    new URL('../gateway/', import.meta.url).href,
  );
  const place = { port: plain.port, headers: {}, pid: plain.pid ?? 0 };
  if (parts.has('paced')) paced.push(await measurePlain('pass-through', place, { name: 'plain', ...PACED }));
  if (parts.has('full'))
    full.push(await measurePlain('pass-through', place, { name: 'plain-full', ...FULL }));
  await endChild(plain);
  const subjects = [
    { name: 'SQLite, 1 gateway', store: 'sqlite', count: 1 },
    ...GATEWAYS.map((count) => ({
      name: `PostgreSQL, ${count} ${count === 1 ? 'gateway' : 'gateways'}`,
      store: server.freshUrl(),
      count,
    })),
  ];
  for (const { name, store, count } of subjects) {
    say(`${name} …`);
    const team = await startTeam({ main, upstreamPort, store, count });
    try {
      await withUse(server, async (use) => {
        const database = store === 'sqlite' ? undefined : use;
        await measureLoad(name, team.gateways, database, WARM);
        if (parts.has('paced'))
          paced.push(await measureLoad(name, team.gateways, database, { name: 'paced', ...PACED }));
        if (parts.has('full'))
          full.push(await measureLoad(name, team.gateways, database, { name: 'full', ...FULL }));
      });
    } finally {
      await team.close();
    }
  }
  return { paced, full };
}

function describeRows(rows: readonly TeamRow[]): string {
  const [base] = rows;
  return markdownTable(
    [
      '',
      'turns',
      'turns a second',
      'lost or unrecorded',
      'p50, p99 ms',
      'added p50, p99 ms',
      'gateways: CPU ms a turn',
      'PostgreSQL: CPU ms a turn',
      'in statements, ms a turn',
    ],
    rows.map((row) => [
      row.subject,
      String(row.turns),
      row.perSecond.toFixed(0),
      String(row.lost),
      `${milliseconds(row.p50)}, ${milliseconds(row.p99)}`,
      row === base || base === undefined
        ? ''
        : `${milliseconds(row.p50 - base.p50)}, ${milliseconds(row.p99 - base.p99)}`,
      row.gatewayMs.toFixed(2),
      row.databaseMs === 0 ? '' : row.databaseMs.toFixed(2),
      row.statementMs === 0 ? '' : row.statementMs.toFixed(2),
    ]),
  );
}

const describeDelay = ({ lessons, p50, p99, never }: LessonDelay): string =>
  `${lessons} lessons added at one of three gateways: from the confirmation to the first prompt of each other gateway with the lesson p50 ${milliseconds(p50)} ms, p99 ${milliseconds(p99)} ms, never ${never}. Goal, p99 at most ${LONGEST_DELAY_MS} ms: ${p99 <= LONGEST_DELAY_MS && never === 0 ? 'met' : 'MISSED'}.`;

const describeFacts = (rows: readonly FactsRow[]): string =>
  markdownTable(
    [
      'facts',
      'GB',
      'open ms',
      'newest 50 sessions ms',
      '50 from the middle ms',
      'turns of one session ms',
      'append ms',
      'erase one session by its age ms',
    ],
    rows.map((row) => [
      row.facts.toLocaleString('en'),
      row.gigabytes.toFixed(2),
      ...[row.openMs, row.listMs, row.listOldMs, row.turnsMs, row.appendMs, row.expireMs].map(milliseconds),
    ]),
  );

const heading = `${new Date().toISOString().slice(0, 10)}, ${os.cpus().length} × ${os.cpus()[0]?.model.trim()}, Node ${process.versions.node}, load average before ${os.loadavg()[0]?.toFixed(1)}. \`npm run bench:team\`${options.quick ? ' (quick: nothing is warm)' : ''}: the provider, the load, all gateways and the server on one machine.`;
const text: string[] = [heading];
const bin = needServer();
const server = await startPostgres(bin);
const upstream = await startChild('upstream', [], import.meta.url);
try {
  const hasLoad = parts.has('paced') || parts.has('full');
  const { paced, full } = hasLoad ? await measureTeams(server, upstream.port) : { paced: [], full: [] };
  if (paced.length > 0) text.push('', `At ${PACED.perSecond} turns a second:`, '', describeRows(paced));
  if (full.length > 0)
    text.push('', `At full load, ${FULL.lanes} conversations at once:`, '', describeRows(full));
  if (parts.has('delay')) {
    say('delay …');
    const team = await startTeam({ main, upstreamPort: upstream.port, store: server.freshUrl(), count: 3 });
    const delay = await measureDelay(team.gateways, upstream, options.quick ? 5 : Number(options.lessons));
    await team.close();
    text.push('', describeDelay(delay));
  }
  if (parts.has('facts')) {
    const rows: FactsRow[] = [];
    for (const facts of options.quick ? [20_000] : options.facts.split(',').map(Number)) {
      const url = server.freshUrl();
      let told = 0;
      await fillFacts(url, facts, (done) => {
        if (done - told < facts / 10) return;
        told = done;
        say(`${done} facts`);
      });
      rows.push(await measureFacts(url, facts));
    }
    text.push('', describeFacts(rows));
  }
} finally {
  const gone = once(upstream, 'exit');
  upstream.kill('SIGTERM');
  await gone;
  await server.stop();
}
const report = text.join('\n');
process.stdout.write(`${report}\n`);
if (options.write) writeSection('lab/results/postgres.md', 'bench:team', report);
