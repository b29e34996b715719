import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { makeHome } from '../support/daemon.ts';
import { needPostgres } from '../support/need-postgres.ts';

const SOON = { timeout: 90_000, interval: 100 };
const UNITS = 8;
const HALF = 4;
const RUNNER = path.resolve(import.meta.dirname, 'shared-work-daemon.mjs');
const bin = needPostgres();
let server: PostgresServer;
const closers: (() => Promise<unknown> | unknown)[] = [];
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => server.stop());

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  log(): string;
}

/** Processes of one record with scripted night work, and the lines that it writes. */
function open() {
  const url = server.freshUrl();
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-only-'));
  closers.push(() => rmSync(dir, { recursive: true, force: true }));
  const journal = path.join(dir, 'journal.txt');
  const lines = (word: string, job: string): readonly (readonly string[])[] =>
    (existsSync(journal) ? readFileSync(journal, 'utf8') : '')
      .split('\n')
      .filter((line) => line.startsWith(`${word} ${job} `))
      .map((line) => line.split(' ').slice(2));
  const start = async (name: string, kinds: string): Promise<Running> => {
    const home = makeHome({
      providers: { local: { wire: 'openai-chat', baseUrl: 'http://127.0.0.1:9/v1' } },
      models: { default: 'local/m', practice: 'local/m', evolver: 'off', judge: 'off' },
      store: { url },
    });
    const child = spawn(process.execPath, [RUNNER, home.dir, journal, name, kinds], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    closers.push(async () => {
      child.kill('SIGKILL');
      await exited;
      home.remove();
    });
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', () => resolve());
      child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${log.slice(-2_000)}`)));
    });
    return { child, exited, log: () => log };
  };
  const query = async (text: string): Promise<readonly Record<string, unknown>[]> => {
    const schema = new URL(url).searchParams.get('schema') ?? '';
    const client = new pg.Client({ connectionString: url.replace(/\?.*/, '') });
    await client.connect();
    try {
      return (await client.query(text.replaceAll('S.', `${schema}.`).replaceAll('J.', `${schema}_jobs.`)))
        .rows;
    } finally {
      await client.end();
    }
  };
  const leader = async (): Promise<number | undefined> => {
    const [row] = await query(`select holder from J.leases where name = 'learning' and until > now()`);
    return row && Number(String(row.holder).split('/')[1]);
  };
  const go = (): void => writeFileSync(`${journal}.go`, '');
  return { start, lines, leader, go };
}

describe('instar team worker --only', () => {
  it('training takes the training window, and neither learns nor does what is done where learning is', async () => {
    const { start, lines, leader, go } = open();
    go();
    const worker = await start('t', 'training');
    await vi.waitFor(() => expect(lines('done', 'training')).toHaveLength(1), SOON);
    expect(await leader()).toBeUndefined();
    // Another process leads: what waited for it is done there, and not here.
    const learner = await start('l', 'learning');
    await vi.waitFor(() => expect(lines('done', 'consolidation')).toHaveLength(1), SOON);
    expect(await leader()).toBe(learner.child.pid);
    expect(lines('begin', 'training').map(([by]) => by)).toEqual(['t']);
    expect(lines('begin', 'consolidation').map(([by]) => by)).toEqual(['l']);
    expect(worker.log()).not.toMatch(/this process learns for the store|job taken/);
  }, 300_000);

  it('learning leads and does what is done there, and leaves the training window to others', async () => {
    const { start, lines, leader, go } = open();
    go();
    const learner = await start('l', 'learning');
    await vi.waitFor(() => expect(lines('done', 'consolidation')).toHaveLength(1), SOON);
    expect(await leader()).toBe(learner.child.pid);
    expect(lines('begin', 'training')).toEqual([]);
    await start('t', 'training');
    await vi.waitFor(() => expect(lines('done', 'training')).toHaveLength(1), SOON);
    expect(lines('begin', 'training').map(([by]) => by)).toEqual(['t']);
  }, 300_000);

  it('training in two processes: one runs the window; when it is killed, the other one goes on from its last checkpoint', async () => {
    const { start, lines, go } = open();
    const both = { a: await start('a', 'training'), b: await start('b', 'training') };
    await vi.waitFor(() => expect(lines('kept', 'training')).toHaveLength(HALF), SOON);
    // Both look for work many times meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(lines('begin', 'training')).toHaveLength(1);
    const [[first = '', run] = []] = lines('begin', 'training');
    const [dead, next] = first === 'a' ? [both.a, 'b'] : [both.b, 'a'];
    dead.child.kill('SIGKILL');
    await dead.exited;
    go();
    await vi.waitFor(() => expect(lines('done', 'training')).toHaveLength(1), SOON);
    // The same run, from what was kept: no unit is done twice.
    expect(lines('begin', 'training')).toEqual([
      [first, run, '-'],
      [next, run, String(HALF)],
    ]);
    const units = lines('kept', 'training').map(([by, , unit]) => `${by} ${unit}`);
    const expected = Array.from({ length: UNITS }, (_, unit) => `${unit < HALF ? first : next} ${unit}`);
    expect(units).toEqual(expected);
  }, 300_000);
});
