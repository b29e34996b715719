import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { createIds } from '../../src/base/ids.ts';
import { systemClock as clock } from '../../src/core/clock.ts';
import { openJobs } from '../../src/jobs/open-jobs.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { describeBudgets } from './describe-budgets.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());
const openAt = (place: string) => openJobs({ place, clock, newId: createIds(clock) });
const WORK = { kind: 'call', model: 'local/m', purpose: 'evolve' };
const LIMITS = { budget: 'learning', limits: { tokens: 1000 }, setting: 'learn.budget' };

describeBudgets('the budgets of a PostgreSQL', () => {
  const place = server.freshUrl();
  return { one: openAt(place), again: () => openAt(place) };
});

interface Told {
  readonly is: 'ready' | 'granted' | 'settled' | 'refused' | 'over';
  readonly most?: { readonly tokens: number; readonly usd: number };
  readonly used?: { readonly tokens: number; readonly usd: number };
}

describe('a budget that several processes share', () => {
  it('is one for all of them, and counts in full what a dead process had reserved', async () => {
    const place = server.freshUrl();
    const [first, second] = [openAt(place), openAt(place)];
    const [mine, other] = [await first.openBudget(LIMITS), await second.openBudget(LIMITS)];
    expect((await mine.reserve({ tokens: 700 }, WORK)).isGranted).toBe(true);
    expect((await other.reserve({ tokens: 400 }, WORK)).isGranted).toBe(false);
    // The reservation is never settled: its process has ended.
    await first.close();
    expect((await other.reserve({ tokens: 400 }, WORK)).isGranted).toBe(false);
    expect((await other.reserve({ tokens: 300 }, WORK)).isGranted).toBe(true);
    await second.close();
  });

  it('refuses while the database does not answer, with the reason', async () => {
    const place = server.freshUrl().replace(`:${server.port}`, ':1');
    const jobs = openAt(place);
    await expect(jobs.openBudget(LIMITS)).rejects.toThrow('does not answer');
    await jobs.close();
  });

  it('is never overspent by ten processes with a thousand reservations, two of which are killed', async () => {
    const place = server.freshUrl();
    // Creates the tables; the race is about reservations.
    const jobs = openAt(place);
    await jobs.openBudget({ ...LIMITS, limits: { usd: 1, tokens: 100_000 } });
    const told: Told[][] = [];
    const children: ChildProcess[] = [];
    const ready: Promise<void>[] = [];
    const over: Promise<unknown>[] = [];
    for (let nth = 0; nth < 10; nth++) {
      const script = path.join(import.meta.dirname, 'reserve-child.mjs');
      const child = spawn(process.execPath, [script, place, '125', String(nth + 1)], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const lines: Told[] = [];
      children.push(child);
      told.push(lines);
      over.push(new Promise((resolve) => child.on('exit', resolve)));
      ready.push(
        new Promise((resolve) =>
          createInterface({ input: child.stdout }).on('line', (line) => {
            lines.push(JSON.parse(line));
            if (lines.length === 1) resolve();
            // In the middle of its work, between a grant and its settlement or not: nobody can tell.
            if (nth < 2 && lines.length === 30) child.kill('SIGKILL');
          }),
        ),
      );
    }
    await Promise.all(ready);
    for (const child of children) child.stdin?.write('go\n');
    await Promise.all(over);

    const counts = (is: Told['is']): number => told.flat().filter((one) => one.is === is).length;
    const { schema } = { schema: `${new URL(place).searchParams.get('schema')}_jobs` };
    const client = new pg.Client({ connectionString: place.replace(/\?.*/, '') });
    await client.connect();
    const { rows } = await client.query(`select * from ${schema}.budgets`);
    const { rows: held } = await client.query(`select * from ${schema}.reservations`);
    await client.end();
    const [row] = rows;
    const used = (name: 'tokens' | 'usd'): number =>
      told.flat().reduce((sum, one) => sum + (one.used?.[name] ?? 0), 0);
    process.stderr.write(
      `budget race: ${counts('granted')} granted, ${counts('refused')} refused, ${counts('settled')} settled, ${held.length} left by killed processes; $${row.spent_usd.toFixed(4)} spent + $${row.held_usd.toFixed(4)} held of $1; ${row.spent_tokens} + ${row.held_tokens} of 100000 tokens\n`,
    );
    expect(rows).toHaveLength(1);
    expect(told.slice(2).every((lines) => lines.at(-1)?.is === 'over')).toBe(true);
    expect(row.spent_usd + row.held_usd).toBeLessThanOrEqual(1 + 1e-9);
    expect(row.spent_tokens + row.held_tokens).toBeLessThanOrEqual(100_000);
    // What the processes say is in the database; a killed one may have settled without telling.
    expect(row.spent_tokens).toBeGreaterThanOrEqual(used('tokens'));
    expect(row.spent_tokens - used('tokens')).toBeLessThanOrEqual(2 * 1000);
    expect(held.length).toBeLessThanOrEqual(2);
    expect(row.held_tokens).toBe(held.reduce((sum, one) => sum + one.held_tokens, 0));
    // The limit was reached: the race was one.
    expect(counts('refused')).toBeGreaterThan(0);
    await jobs.close();
  });
});
