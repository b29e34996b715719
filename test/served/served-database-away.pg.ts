import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { readPgUrl } from '../../src/record/pg-place.ts';
import { peekInto } from '../../src/record/store/sql-connection.ts';
import { inspectSpool } from '../../team/check-postgres.ts';
import { openPgPool } from '../../team/postgres/pg-connection.ts';
import { openPgReader } from '../../team/postgres/pg-store.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

const SOON = { timeout: 90_000, interval: 200 };
const bin = needPostgres();
const SECRET = 'sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefghij';

let server: PostgresServer;
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let url = '';
let prompt = '';

beforeAll(async () => {
  server = await startPostgres(bin);
  provider = await startProvider((request, response) => {
    prompt = request.body.toString();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  url = server.freshUrl();
  home = makeHome({
    providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'local/m', evolver: 'off', judge: 'off' },
    store: { url },
  });
  daemon = await startDaemon(home.dir);
  const text = lessonText({
    name: 'read-previous-logs',
    description: 'When a Kubernetes pod is in CrashLoopBackOff.',
    content: 'Read the logs of the previous instance first: kubectl logs --previous.',
  });
  const changes = [{ op: 'add', id: 'pods', kind: 'skill', state: 'live', text }];
  expect((await owner('POST', '/api/lessons', { changes, reason: 'a test' })).status).toBe(200);
});
// A test that failed must not fail the others.
afterEach(async () => {
  if (!server.isRunning()) await server.start();
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
  await server.stop();
});

const owner = (method: string, where: string, body?: object, headers: Record<string, string> = {}) =>
  ask(daemon.port, {
    method,
    path: where,
    headers: { authorization: `Bearer ${daemon.ownerKey}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
/** Returns the id of the turn. */
async function say(content: string, session: string): Promise<string> {
  const { status, headers } = await ask(daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content }] }),
    headers: { 'x-instar-key': daemon.key, 'x-instar-agent': 'ada', 'x-instar-session': session },
  });
  expect(status).toBe(200);
  return String(headers['x-instar-turn']);
}
const health = async () => JSON.parse((await ask(daemon.port, { method: 'GET', path: '/healthz' })).text);
const untilAway = () =>
  vi.waitFor(async () => expect(await health()).toMatchObject({ ok: true, database: 'away' }), SOON);
const untilBack = () => vi.waitFor(async () => expect(await health()).toEqual({ ok: true }), SOON);
const spool = () => path.join(home.dir, 'spool.sqlite');
/** The turns that have ended and wait there. */
const spooledTurns = (): readonly unknown[] =>
  peekInto(spool(), { busyMs: 2_000 }, (rows) =>
    rows(['turn'], "select turn from rows where part = 'end'"),
  ).flat();
const feedback = (turn: string, key: string) =>
  owner('POST', '/v1/feedback', { turn, score: 1, note: key }, { 'idempotency-key': key });

/** How often each turn and each note is in the database. */
async function recorded(): Promise<{ turns: Map<string, number>; notes: Map<string, number> }> {
  const reader = await openPgReader(url);
  const turns = new Map<string, number>();
  const notes = new Map<string, number>();
  for (let after = 0; ; ) {
    const page = await reader.facts(after, 1000);
    for (const { seq, fact } of page) {
      after = seq;
      if (fact.type === 'turn-end') turns.set(fact.turn, (turns.get(fact.turn) ?? 0) + 1);
      if (fact.type === 'reward-given') notes.set(fact.note ?? '', (notes.get(fact.note ?? '') ?? 0) + 1);
    }
    if (page.length === 0) break;
  }
  await reader.close();
  return { turns, notes };
}

describe('a gateway whose database is away', () => {
  it('serves and spools, refuses what must be durable, says so everywhere, and catches up', async () => {
    const first = await say('A Kubernetes pod is in CrashLoopBackOff', 'long');
    await vi.waitFor(async () => expect((await recorded()).turns.get(first)).toBe(1), SOON);
    const block = prompt;
    await server.kill();
    const turns = [await say(`A Kubernetes pod is in CrashLoopBackOff; my key is ${SECRET}`, 'long')];
    await untilAway();
    for (const n of [1, 2, 3]) turns.push(await say(`step ${n}`, 'other'));
    await vi.waitFor(() => expect(inspectSpool(spool()).turns).toBe(4), SOON);
    expect(turns).not.toContain('undefined');
    for (const file of [spool(), `${spool()}-wal`])
      expect(existsSync(file) && readFileSync(file).includes(SECRET)).toBe(false);

    const refused = [
      await feedback(first, 'while-away'),
      await owner('DELETE', '/api/sessions/long'),
      await owner('POST', '/api/lessons', {
        changes: [{ op: 'retire', id: 'pods', reason: 'x' }],
        reason: 'x',
      }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503]);
    for (const { text } of refused) expect(text).toMatch(/does not answer/);
    expect(refused[0]?.text).toContain('Nothing was saved');

    const status = (await runInProcess(['status', '--home', home.dir])).stdout;
    expect(status).toMatch(
      /the database is away since .*4 turns .* wait in this home and are written to it/s,
    );
    const metrics = (await owner('GET', '/metrics')).text;
    expect(metrics).toContain('instar_database_away{what="away"} 1');
    expect(metrics).toContain('instar_database_away{what="turns"} 4');
    const doctor = (await runInProcess(['doctor', '--home', home.dir])).stdout;
    expect(doctor).toMatch(/4 turns .* wait in this home for PostgreSQL/);

    await server.start();
    await untilBack();
    const { turns: counts, notes } = await recorded();
    for (const turn of [first, ...turns]) expect(counts.get(turn)).toBe(1);
    expect(notes.get('while-away')).toBeUndefined();
    expect(inspectSpool(spool())).toMatchObject({ turns: 0, bytes: 0 });
    expect((await feedback(turns[0] ?? '', 'after')).status).toBe(200);
    // The block of the session is what it was.
    await say('A Kubernetes pod is in CrashLoopBackOff', 'long');
    expect(prompt).toBe(block);
  });

  it('starts without it, serves without lessons, is killed, and both lives are in the database when it is back', async () => {
    await server.kill();
    const turns = [await say('before the kill', 'killed')];
    await vi.waitFor(() => expect(spooledTurns()).toEqual(expect.arrayContaining(turns)), SOON);
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    daemon = await startDaemon(home.dir);
    expect(await health()).toMatchObject({ ok: true, database: 'away' });
    turns.push(await say('A Kubernetes pod is in CrashLoopBackOff', 'killed'));
    expect(prompt).not.toContain('--previous');
    await vi.waitFor(() => expect(spooledTurns()).toEqual(expect.arrayContaining(turns)), SOON);
    await server.start();
    await untilBack();
    const { turns: counts } = await recorded();
    for (const turn of turns) expect(counts.get(turn)).toBe(1);
    await vi.waitFor(async () => {
      await say('A Kubernetes pod is in CrashLoopBackOff', randomUUID());
      expect(prompt).toContain('--previous');
    }, SOON);
  });

  it('notices a paused database in seconds, and doubles nothing that it was not answered for', async () => {
    const key = randomUUID();
    const first = await say('before the pause', 'paused');
    server.pause(true);
    const turns: string[] = [];
    try {
      for (const n of [1, 2, 3]) turns.push(await say(`step ${n}`, 'paused'));
      const sent = await feedback(first, key);
      expect(sent.status).toBe(503);
      await untilAway();
    } finally {
      server.pause(false);
    }
    await untilBack();
    await vi.waitFor(async () => expect((await feedback(first, key)).status).toBe(200), SOON);
    const { turns: counts, notes } = await recorded();
    for (const turn of [first, ...turns]) expect(counts.get(turn)).toBe(1);
    expect(notes.get(key)).toBe(1);
  });

  it('spools while the database takes no writes, and gives the reason', async () => {
    const admin = openPgPool(readPgUrl(url));
    try {
      await admin.exec('alter role instar set default_transaction_read_only = on');
      await admin.exec(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'instar' and pid <> pg_backend_pid()",
      );
      const turn = await say('while it is read-only', 'read-only');
      await vi.waitFor(() => expect(inspectSpool(spool()).turns).toBe(1), SOON);
      const status = (await runInProcess(['status', '--home', home.dir])).stdout;
      expect(status).toContain('takes no writes');
      await admin.exec(
        'set default_transaction_read_only = off; alter role instar reset default_transaction_read_only',
      );
      await admin.exec(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'instar' and pid <> pg_backend_pid()",
      );
      await untilBack();
      expect((await recorded()).turns.get(turn)).toBe(1);
    } finally {
      await admin.close();
    }
  });

  it('is drained by a command without a daemon, before it reads, erases or moves the record', async () => {
    await server.kill();
    const turn = await say('left behind', 'left');
    await vi.waitFor(() => expect(spooledTurns()).toContain(turn), SOON);
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    await server.start();
    const erased = await runInProcess(['sessions', 'erase', 'left', '--yes', '--home', home.dir]);
    expect(erased.code).toBe(0);
    expect(inspectSpool(spool()).turns).toBe(0);
    expect((await recorded()).turns.get(turn)).toBe(1);
    const reader = await openPgReader(url);
    expect(await reader.session('left')).toMatchObject({ erased: true, turns: 1 });
    expect(await reader.block(`reply:${turn}`)).toBeUndefined();
    await reader.close();
    daemon = await startDaemon(home.dir);
    await untilBack();
  });
});
