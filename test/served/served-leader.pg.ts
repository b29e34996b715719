import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const SOON = { timeout: 90_000, interval: 200 };
const bin = needPostgres();
let server: PostgresServer;
let provider: Provider;
const closers: (() => Promise<unknown> | unknown)[] = [];
/** Requests of learning that wait for an answer. */
let held: (() => void)[] = [];
const answerHeld = (): void => {
  for (const answer of held) answer();
  held = [];
};
beforeAll(async () => {
  server = await startPostgres(bin, true);
  provider = await startProvider((request, response) => {
    const answer = (): void => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(wholeReply('openai-chat'));
    };
    const { model } = JSON.parse(request.body.toString()) as { model: string };
    if (model === 'evolver') held.push(answer);
    else answer();
  });
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(async () => {
  await provider.close();
  await server.stop();
});

interface Gateway extends RunningDaemon {
  readonly proxy: TcpProxy;
  call(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly text: string }>;
  /** Returns the id of the turn. */
  say(content: string, session: string, isDone?: boolean): Promise<string>;
}
/** A gateway with connections to the database of its own, by which the database can tell who wrote. */
async function startGateway(url: string, models: object): Promise<Gateway> {
  const proxy = await startTcpProxy(server.port);
  closers.push(() => proxy.close());
  const home = makeHome({
    providers: { lab: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'lab/m', evolver: 'off', judge: 'off', ...models },
    library: { autonomy: 'guarded' },
    learn: { failures: 1 },
    store: { url: url.replace(`:${server.port}/`, `:${proxy.port}/`) },
  });
  closers.push(home.remove);
  const daemon = await startDaemon(home.dir);
  closers.push(async () => {
    daemon.child.kill('SIGCONT');
    daemon.child.kill('SIGKILL');
    await daemon.exited;
  });
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  return {
    ...daemon,
    proxy,
    call: (method, path, body) =>
      ask(daemon.port, { method, path, headers, ...(body && { body: JSON.stringify(body) }) }),
    say: async (content, session, isDone = false) => {
      const { status, headers: answered } = await ask(daemon.port, {
        path: '/v1/chat/completions',
        body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content }] }),
        headers: {
          'x-instar-key': daemon.key,
          'x-instar-agent': 'ada',
          'x-instar-session': session,
          ...(isDone ? { 'x-instar-session-done': 'true' } : {}),
        },
      });
      expect(status).toBe(200);
      return String(answered['x-instar-turn']);
    },
  };
}

/** Types of facts that every gateway writes, whoever learns. */
const OF_EVERY_GATEWAY: ReadonlySet<string> = new Set([
  'turn-start',
  'turn-end',
  'lessons-recalled',
  'session-end',
  'session-erased',
  'action-taken',
  'reward-given',
]);

/** The database as a person sees it. */
async function openDatabase(url: string) {
  const schema = new URL(url).searchParams.get('schema') ?? '';
  const client = new pg.Client({ connectionString: url.replace(/\?.*/, '') });
  await client.connect();
  closers.push(() => client.end());
  const query = async <Row extends pg.QueryResultRow>(text: string): Promise<readonly Row[]> =>
    (await client.query<Row>(text.replaceAll('S.', `${schema}.`).replaceAll('J.', `${schema}_jobs.`))).rows;
  return {
    query,
    leader: async (): Promise<number | undefined> => {
      const [row] = await query<{ holder: string }>(
        `select holder from J.leases where name = 'learning' and until > now()`,
      );
      return row && Number(row.holder.split('/')[1]);
    },
    /** Notes with each fact who wrote it, and which process had the lease at that moment. */
    watch: () =>
      query(
        `create table S.written(seq bigint, type text, port integer, holder text);
         create function S.note() returns trigger language plpgsql as $$ begin
           insert into S.written select new.seq, new.type, inet_client_port(), holder from J.leases where name = 'learning';
           return null; end $$;
         create trigger note after insert on S.facts for each row execute function S.note()`,
      ),
    /** What only the process that learns may write, with the process that wrote it and the one that had the lease. */
    learned: async (gateways: readonly Gateway[]) =>
      (
        await query<{ type: string; port: number; holder: string }>(
          'select type, port, holder from S.written order by seq',
        )
      )
        .filter(({ type }) => !OF_EVERY_GATEWAY.has(type))
        .map(({ type, port, holder }) => ({
          type,
          by: gateways.find(({ proxy }) => proxy.from.has(Number(port)))?.child.pid,
          leader: Number(holder.split('/')[1]),
        })),
    count: async (word: string): Promise<number> =>
      (await query<{ body: string }>(`select body from S.facts where type = 'library-changed'`)).filter(
        ({ body }) => body.includes(word),
      ).length,
  };
}

/** Two gateways, the first of which learns. */
async function startTwo(models: object = {}) {
  const url = server.freshUrl();
  const first = await startGateway(url, models);
  const database = await openDatabase(url);
  await vi.waitFor(async () => expect(await database.leader()).toBe(first.child.pid), SOON);
  await database.watch();
  const second = await startGateway(url, models);
  const othersLead = () =>
    vi.waitFor(async () => expect(await database.leader()).toBe(second.child.pid), SOON);
  return { url, first, second, database, othersLead };
}

describe('a process that learns and is stopped (SIGSTOP)', () => {
  it('is followed by another one, and learns nothing when it continues: each thing is learned once', async () => {
    const { first, second, database, othersLead } = await startTwo();
    await first.say('The server for demos is demo-3.', 'one');
    await first.say('Thanks, that is all.', 'one', true);
    await vi.waitFor(async () => expect(await database.count('demo-3')).toBe(1), SOON);
    // In the middle of its work: this has just been recorded.
    await first.say('The printer for labels is laser-7.', 'two');
    await first.say('Thanks, that is all.', 'two', true);
    first.child.kill('SIGSTOP');
    await othersLead();
    await second.say('The archive for photos is box-9.', 'three');
    await second.say('Thanks, that is all.', 'three', true);
    first.child.kill('SIGCONT');
    for (const word of ['demo-3', 'laser-7', 'box-9'])
      await vi.waitFor(async () => expect(await database.count(word)).toBe(1), SOON);
    // It serves as before, and what it records is learned by the other one.
    await first.say('The safe for keys is steel-5.', 'four');
    await first.say('Thanks, that is all.', 'four', true);
    await vi.waitFor(async () => expect(await database.count('steel-5')).toBe(1), SOON);
    const written = await database.learned([first, second]);
    expect(written.filter(({ by, leader }) => by !== leader)).toEqual([]);
    expect(new Set(written.map(({ by }) => by))).toEqual(new Set([first.child.pid, second.child.pid]));
    for (const word of ['demo-3', 'laser-7', 'box-9', 'steel-5']) expect(await database.count(word)).toBe(1);
    const doubled = await database.query(
      `select subject from S.facts where type = 'session-scored' group by subject having count(*) > 1`,
    );
    expect(doubled).toEqual([]);
  }, 300_000);

  it('does not write what it had begun to write: the number of the lease is compared in the same transaction', async () => {
    const { url, first, second, database, othersLead } = await startTwo({ evolver: 'lab/evolver' });
    await first.say('Hello.', 'gone', true);
    // Learning asks its model, and has no answer yet.
    const turn = await first.say('Write the invoice amounts into one.md', 'one');
    await vi.waitFor(
      async () => expect((await first.call('GET', `/api/turns/${turn}/why`)).status).toBe(200),
      SOON,
    );
    await first.call('POST', '/v1/feedback', { turn, score: -1, note: 'Put the unit behind every amount.' });
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(0), SOON);
    // An erasure has the head of the log and waits; what learning writes waits behind it.
    const blocker = await openDatabase(url);
    await blocker.query('begin');
    await blocker.query('lock table S.block_uses in access exclusive mode');
    const erased = first.call('DELETE', '/api/sessions/gone');
    await vi.waitFor(
      async () =>
        expect(
          await database.query(
            `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%block_uses%'`,
          ),
        ).not.toEqual([]),
      SOON,
    );
    answerHeld();
    await vi.waitFor(async () => {
      const { recording } = JSON.parse((await first.call('GET', '/api/status')).text);
      expect(recording.pending).toBeGreaterThan(1);
    }, SOON);
    first.child.kill('SIGSTOP');
    await othersLead();
    first.child.kill('SIGCONT');
    await blocker.query('commit');
    const { status } = await erased;
    // It serves and records, and so has passed what waited.
    await first.say('Hello again.', 'later', true);
    await vi.waitFor(
      async () => expect((await second.call('GET', '/api/sessions/later')).status).toBe(200),
      SOON,
    );
    const written = await database.learned([first, second]);
    process.stderr.write(`erasure: ${status}; ${JSON.stringify(written)}\n`);
    expect(written.filter(({ by, leader }) => by !== leader)).toEqual([]);
  }, 300_000);
});
