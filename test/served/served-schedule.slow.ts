import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { asArray, asObject } from '../../src/core/json.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { runCli } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';

const ENTRY = path.resolve(import.meta.dirname, 'slow-daemon.mjs');
const UNITS = 12;
/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 40_000, interval: 20 };
const undo: (() => void)[] = [];
afterEach(() => {
  for (const run of undo.splice(0).reverse()) run();
});

interface Slow {
  readonly child: ChildProcess;
  readonly port: number;
  readonly exited: Promise<unknown>;
}

function open() {
  const home = makeHome({});
  undo.push(home.remove);
  const journal = path.join(home.dir, 'journal.txt');
  const lines = (): string[] =>
    existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n').filter(Boolean) : [];
  const start = (): Promise<Slow> => {
    const child = spawn(process.execPath, [ENTRY, home.dir, journal], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    undo.push(() => child.kill('SIGKILL'));
    const exited = new Promise((resolve) => child.once('exit', resolve));
    return new Promise((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        const port = /ready (\d+)/.exec(chunk.toString())?.[1];
        if (port !== undefined) resolve({ child, port: Number(port), exited });
      });
      child.once('exit', (code) => reject(new Error(`it ended with ${code}`)));
    });
  };
  const owner = async (port: number, where: string) => {
    const key = readFileSync(path.join(home.dir, 'key'), 'utf8').trim();
    const reply = await ask(port, {
      method: 'GET',
      path: where,
      headers: { authorization: `Bearer ${key}` },
    });
    return reply.text;
  };
  return { home, lines, start, owner };
}

const countOf = (lines: readonly string[], word: string): number =>
  lines.filter((line) => line.startsWith(`${word} `)).length;

describe('slow work in the real daemon', () => {
  it('takes up what a kill interrupted: once, as the same run, from the last checkpoint', async () => {
    const { home, lines, start } = open();
    for (const target of [2, 6]) {
      const { child, exited } = await start();
      await vi.waitFor(() => expect(countOf(lines(), 'kept')).toBeGreaterThanOrEqual(target), SOON);
      child.kill('SIGKILL');
      await exited;
    }
    expect(countOf(lines(), 'done'), 'killed before the end').toBe(0);
    const { child, exited } = await start();
    await vi.waitFor(() => expect(countOf(lines(), 'done')).toBe(1), SOON);
    child.kill('SIGTERM');
    await exited;

    const all = lines();
    expect(new Set(all.map((line) => line.split(' ')[1])).size).toBe(1);
    expect(countOf(all, 'begin')).toBe(3);
    // What was kept is not done again; a unit whose checkpoint a kill took may be.
    const kept = all.filter((line) => line.startsWith('kept'));
    expect(new Set(kept).size).toBe(kept.length);
    expect(countOf(all, 'unit')).toBeGreaterThanOrEqual(UNITS);
    expect(countOf(all, 'unit')).toBeLessThanOrEqual(UNITS + 2);

    const reader = openSqliteReader(path.join(home.dir, 'instar.sqlite'));
    const chain = reader.events('job/slow-test').map(({ fact }) => fact);
    reader.close();
    const ends = chain.flatMap((fact) => (fact.type === 'job-ended' ? [fact] : []));
    expect(ends.filter(({ end }) => end === 'done').length).toBe(1);
    expect(ends.filter(({ note }) => note === 'its process ended during the run').length).toBe(2);
    const holders = chain.flatMap((fact) => (fact.type === 'job-leased' ? [fact.holder] : []));
    expect(new Set(holders).size).toBe(3);
  });

  it('stops at a request, and goes on when it has been quiet again', async () => {
    const { home, lines, start, owner } = open();
    const { child, port, exited } = await start();
    await vi.waitFor(() => expect(countOf(lines(), 'kept')).toBeGreaterThanOrEqual(1), SOON);
    await ask(port, { method: 'GET', path: '/v1/models', headers: {} });
    await vi.waitFor(() => expect(countOf(lines(), 'stop')).toBe(1), SOON);
    // A request while the job still ends would be a second pause: that it has ended is read from files.
    const reader = openSqliteReader(path.join(home.dir, 'instar.sqlite'));
    const ends = () =>
      reader.events('job/slow-test').filter(({ fact }) => fact.type === 'job-ended' && fact.end === 'done');
    await vi.waitFor(() => expect(ends()).toHaveLength(1), SOON);
    reader.close();
    await vi.waitFor(() => expect(existsSync(path.join(home.dir, 'journal.txt.over'))).toBe(true), SOON);
    expect(countOf(lines(), 'done')).toBe(1);
    expect(countOf(lines(), 'begin')).toBe(2);
    expect(new Set(lines().map((line) => line.split(' ')[1])).size).toBe(1);

    const text = await owner(port, '/metrics');
    expect(text).toMatch(/^instar_schedule_pauses_total 1$/m);
    expect(text).toMatch(/^instar_schedule_pause_seconds_count 1$/m);
    expect(text).toMatch(/^instar_schedule_windows_total 2$/m);
    expect(text).toContain('instar_schedule_state{state="running"}');
    expect(text).toContain('instar_turns_total');
    const told = asObject(JSON.parse(await owner(port, '/api/schedule')));
    expect(asArray(told.jobs).map((job) => asObject(job).name)).toEqual(['slow-test', 'learning']);
    expect(asObject(asArray(told.jobs)[0]).last).toMatchObject({ end: 'done', note: 'all units' });
    child.kill('SIGTERM');
    await exited;
  });

  it('tells with `instar up` what it sees, and the command prints the same', async () => {
    const home = makeHome({ schedule: { sleep: '23:00-07:00' } });
    undo.push(home.remove);
    const daemon = await startDaemon(home.dir);
    undo.push(() => daemon.child.kill('SIGKILL'));
    const { stdout, code } = await runCli(['schedule', 'status', '--json', '--home', home.dir]);
    expect(code).toBe(0);
    const told = asObject(JSON.parse(stdout));
    expect(['waiting', 'starting']).toContain(told.state);
    const sources = asArray(told.signals).map((signal) => asObject(signal).source);
    expect(sources).toContain('sleep');
    expect(sources).toContain('gateway');
    expect(asArray(told.jobs).map((job) => asObject(job).name)).toEqual([
      'library-consolidation',
      'earlier-sessions',
      'reflection',
      'practice',
      'training',
      'learning',
    ]);
    daemon.child.kill('SIGTERM');
    await daemon.exited;
  });
});
