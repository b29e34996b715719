import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import { rootOf, splitOf } from '../../src/learn/practice/sources/split.ts';
import { wires } from '../../src/wire/wires.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { goodReply, stageOf } from '../learn/practice/scripted-practice.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { type RunningWorker, startWorker } from '../support/worker.ts';

const SOON = { timeout: 90_000, interval: 300 };
const bin = needPostgres();
const wire = wires['openai-chat'];
let server: PostgresServer;
const closers: (() => Promise<unknown> | unknown)[] = [];
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => server.stop());

interface Process {
  readonly child: RunningDaemon['child'];
  readonly exited: Promise<number | null>;
}
const keep = <T extends Process>(one: T): T => {
  closers.push(async () => {
    one.child.kill('SIGKILL');
    await one.exited;
  });
  return one;
};
/** A home of its own for each process, with the same store. `path` tells the provider who asks. */
const homeFor = (
  url: string,
  provider: Provider,
  path: string,
  { concurrency, ...more }: JsonObject = {},
): string => {
  const home = makeHome({
    providers: {
      lab: {
        wire: 'openai-chat',
        baseUrl: `${provider.url}/${path}/v1`,
        ...(concurrency === undefined ? {} : { concurrency }),
      },
    },
    models: { default: 'lab/m', evolver: 'off', judge: 'off' },
    library: { autonomy: 'guarded' },
    store: { url },
    ...more,
  });
  closers.push(home.remove);
  return home.dir;
};
const gateway = async (dir: string): Promise<RunningDaemon> => keep(await startDaemon(dir));
const worker = async (dir: string, ...args: string[]): Promise<RunningWorker> =>
  keep(await startWorker(dir, args));

/** The facts of a type, as the database has them. */
async function factsOf(url: string, type: string): Promise<readonly JsonObject[]> {
  return (
    await query<{ body: string }>(url, 'select body from S.facts where type = $1 order by seq', [type])
  ).map(({ body }) => asObject(parseJson(body)));
}
async function query<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly string[] = [],
): Promise<readonly Row[]> {
  const schema = new URL(url).searchParams.get('schema') ?? '';
  const client = new pg.Client({ connectionString: url.replace(/\?.*/, '') });
  await client.connect();
  try {
    return (
      await client.query<Row>(text.replaceAll('S.', `${schema}.`).replaceAll('J.', `${schema}_jobs.`), [
        ...values,
      ])
    ).rows;
  } finally {
    await client.end();
  }
}
const leaderOf = async (url: string): Promise<string | undefined> =>
  (
    await query<{ holder: string }>(
      url,
      `select holder from J.leases where name = 'learning' and until > now()`,
    )
  )[0]?.holder;
const pidOf = (holder: string | undefined): number => Number(holder?.split('/')[1]);

async function say(daemon: RunningDaemon, content: string, session: string, isDone = false): Promise<void> {
  const { status } = await ask(daemon.port, {
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
}
const teach = async (daemon: RunningDaemon, what: string, session: string): Promise<void> => {
  await say(daemon, what, session);
  await say(daemon, 'Thanks, that is all.', session, true);
};

const replyOf = (text: string): string =>
  JSON.stringify({
    id: 'r',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
    usage: { prompt_tokens: 100, completion_tokens: 20 },
  });

describe('two gateways and two workers over one PostgreSQL', () => {
  it('learn each thing once, whoever recorded it, also after the process that learns was killed', async () => {
    const provider = await startProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(replyOf('Good.'));
    });
    closers.push(() => provider.close());
    const url = server.freshUrl();
    const a = await gateway(homeFor(url, provider, 'a'));
    const b = await gateway(homeFor(url, provider, 'b'));
    const w1 = await worker(homeFor(url, provider, 'w1'));
    const w2 = await worker(homeFor(url, provider, 'w2'));
    const all: readonly Process[] = [a, b, w1, w2];
    await vi.waitFor(async () => expect(await leaderOf(url)).toBeDefined(), SOON);
    const lessons = async (): Promise<string> => JSON.stringify(await factsOf(url, 'library-changed'));
    const count = async (word: string): Promise<number> =>
      (await factsOf(url, 'library-changed')).filter((fact) => JSON.stringify(fact).includes(word)).length;

    await Promise.all([
      teach(a, 'The server for demos is demo-3.', 'one'),
      teach(b, 'The printer for labels is laser-7.', 'two'),
    ]);
    await vi.waitFor(async () => expect(await lessons()).toContain('demo-3'), SOON);
    await vi.waitFor(async () => expect(await lessons()).toContain('laser-7'), SOON);

    // The process that learns is killed; the others go on.
    const first = await leaderOf(url);
    const dead = all.find(({ child }) => child.pid === pidOf(first));
    expect(dead).toBeDefined();
    dead?.child.kill('SIGKILL');
    await dead?.exited;
    const killedAt = Date.now();
    await vi.waitFor(async () => expect([undefined, first]).not.toContain(await leaderOf(url)), SOON);
    const tookMs = Date.now() - killedAt;
    const alive = dead === b ? a : b;
    await teach(alive, 'The archive for photos is box-9.', 'three');
    await vi.waitFor(async () => expect(await lessons()).toContain('box-9'), SOON);
    const second = await leaderOf(url);
    process.stderr.write(
      `failover: ${first} was killed, ${second} led ${tookMs} ms and had learned ${Date.now() - killedAt} ms later (lease 9 s)\n`,
    );
    expect(second).not.toBe(first);
    expect([await count('demo-3'), await count('laser-7'), await count('box-9')]).toEqual([1, 1, 1]);
    const ends = await factsOf(url, 'session-scored');
    expect(new Set(ends.map(({ session }) => session)).size).toBe(ends.length);
  }, 400_000);
});

const ABOUT: Readonly<Record<string, string>> = {
  daily: 'bread and cakes sold in the bakery',
  weekly: 'diesel for the ambulances of the city',
};
const PLACES = ['', ' in Rome', ' in Oslo', ' in Cairo', ' in Lima', ' in Perth', ' in Kyoto', ' in Quito'];
/** All are tasks to learn from: nothing else is measured. */
const PROMPTS = Object.entries(ABOUT).map(([name, about]) => {
  const words = PLACES.map((place) => `Write the ${name} report: ${about}${place}`);
  return words.find((prompt) => splitOf(rootOf('reports', prompt)) === 'learn') ?? '';
});
const TASKS = PROMPTS.map((prompt) =>
  JSON.stringify({
    prompt,
    domain: 'reports',
    check: { kind: 'regex', pattern: 'carries its currency sign' },
  }),
).join('\n');
const GROUP = 4;

describe('a session of practice whose attempts any process makes', () => {
  it('goes on when a worker is killed in the middle of an attempt: made elsewhere, and paid for once', async () => {
    let replies = 0;
    let nth = 0;
    const askedBy = new Map<string, number>();
    let onWorker: (() => void) | undefined;
    let most = 0;
    let open = 0;
    const provider = await startProvider((request, response) => {
      const chat = wire.decodeRequest(asObject(parseJson(request.body.toString())));
      const system = chat.system.map(({ text }) => text).join('\n');
      const isAttempt = !/^You |JSON/.test(system);
      const by = request.url.split('/')[1] ?? '';
      if (isAttempt) askedBy.set(by, (askedBy.get(by) ?? 0) + 1);
      // The worker is killed before it has an answer.
      if (isAttempt && by === 'w1') return onWorker?.();
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        if (response.destroyed) return;
        if (isAttempt) replies++;
        const isRight = nth++ % 2 === 0;
        const text = isRight ? 'Every amount carries its currency sign.' : 'The amounts are listed.';
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(replyOf(isAttempt ? text : goodReply(stageOf(chat), chat)));
      }, 400);
    });
    closers.push(() => provider.close());
    const url = server.freshUrl();
    const models = { default: 'lab/m', evolver: 'lab/m', practice: 'lab/m', judge: 'off' };
    const limit = 2;
    const a = await gateway(homeFor(url, provider, 'a', { models, concurrency: limit }));
    await vi.waitFor(async () => expect(await leaderOf(url)).toBeDefined(), SOON);
    const w1 = await worker(
      homeFor(url, provider, 'w1', { models, concurrency: limit }),
      '--only',
      'attempts',
    );
    const killed = new Promise<void>((resolve) => {
      onWorker = () => {
        onWorker = undefined;
        w1.child.kill('SIGKILL');
        resolve();
      };
    });
    const practice = async (what: string, body: JsonObject = {}): Promise<JsonObject> => {
      const headers = { authorization: `Bearer ${a.ownerKey}` };
      const path = `/api/practice/${what}`;
      return asObject(parseJson((await ask(a.port, { path, headers, body: JSON.stringify(body) })).text));
    };
    await vi.waitFor(
      async () =>
        expect(await practice('add', { text: TASKS, file: 'tasks.jsonl' })).toMatchObject({ added: 2 }),
      SOON,
    );
    expect(await practice('run', { kind: 'exploratory', group: GROUP })).toMatchObject({ started: true });
    await killed;
    const w2 = await worker(
      homeFor(url, provider, 'w2', { models, concurrency: limit }),
      '--only',
      'attempts',
    );
    await vi.waitFor(async () => {
      const status = await practice('status');
      expect([status.running, status.problem]).toEqual([undefined, undefined]);
      expect(asArray(status.sessions)).toHaveLength(1);
    }, SOON);
    const units = (await factsOf(url, 'practice-unit')).filter((fact) =>
      asString(fact.unit)?.startsWith('attempt/'),
    );
    process.stderr.write(
      `attempts: ${units.length} in the journal, ${replies} answers paid for; asked by ${JSON.stringify([...askedBy])}; at most ${most} at once\n`,
    );
    expect(askedBy.get('w1')).toBeGreaterThan(0);
    expect(new Set(units.map(({ unit }) => unit)).size).toBe(units.length);
    expect(replies).toBe(units.length);
    // Over all processes together.
    expect(most).toBeLessThanOrEqual(limit);
    expect(w2.log()).not.toContain('"level":50');
    // It drains and leaves.
    w2.child.kill('SIGTERM');
    expect(await w2.exited).toBe(0);
  }, 400_000);
});

describe('instar team worker', () => {
  it('says what to set when the record is a file of its home, and which kinds of work there are', async () => {
    const home = makeHome({});
    const refused = await runInProcess(['worker', '--home', home.dir]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('set store.url to the postgres:// URL of the gateways');
    const wrong = await runInProcess(['worker', '--only', 'judging', '--home', home.dir]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('learning, attempts, training');
    home.remove();
  });
});
