import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { createRandom } from '../../src/base/random.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { openPgPool } from '../../src/record/postgres/pg-connection.ts';
import { readPgUrl } from '../../src/record/postgres/pg-place.ts';
import { ask } from '../support/client.ts';
import { makeHome } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

const RUNNER = path.resolve(import.meta.dirname, 'unhurried-daemon.mjs');
const SOON = { timeout: 60_000, interval: 50 };
const bin = needPostgres();
let server: PostgresServer;
let provider: Provider;
beforeAll(async () => {
  server = await startPostgres(bin, true);
  provider = await startProvider((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
});
afterAll(async () => {
  await provider.close();
  await server.stop();
});

interface Gateway {
  readonly port: number;
  readonly key: string;
  readonly ownerKey: string;
  readonly dir: string;
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
}

/** A daemon from dist with a home of its own; `given`: a home that was there before. */
async function startGateway(url: string, given?: string): Promise<Gateway> {
  const home = makeHome({
    providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'local/m', evolver: 'off', judge: 'off' },
    library: { holdout: 0 },
    store: { url },
  });
  const dir = given ?? home.dir;
  const child = spawn(process.execPath, [RUNNER, dir], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise((resolve) => child.on('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
    home.remove();
  });
  const port = await new Promise<number>((resolve, reject) => {
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4000);
    });
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /ready (\d+)/.exec(chunk.toString())?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.on('exit', (code) => reject(new Error(`exit ${code}: ${errors}`)));
  });
  const keyIn = (name: string) => readFileSync(path.join(dir, name), 'utf8').trim();
  return { port, key: keyIn('key'), ownerKey: keyIn('owner-key'), dir, child, exited };
}

const owner = async (gateway: Gateway, method: string, where: string, body?: object): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${gateway.ownerKey}`, 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return asObject(JSON.parse((await ask(gateway.port, { method, path: where, headers, ...text })).text));
};
const add = (name: string, description: string, content: string) => ({
  op: 'add',
  id: name,
  kind: 'skill',
  state: 'live',
  text: lessonText({ name, description, content }),
});
const publish = (gateway: Gateway, ...changes: object[]) =>
  owner(gateway, 'POST', '/api/lessons', { changes, reason: 'a test' });
const generationOf = async (gateway: Gateway): Promise<unknown> =>
  asObject((await owner(gateway, 'GET', '/api/status')).library).generation;

/** One turn through a gateway; the bytes that the provider got. */
async function turn(gateway: Gateway, messages: readonly object[], session?: string): Promise<string> {
  const before = provider.seen.length;
  const { status } = await ask(gateway.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages }),
    headers: {
      'x-instar-key': gateway.key,
      'x-instar-agent': 'ada',
      ...(session === undefined ? {} : { 'x-instar-session': session }),
    },
  });
  expect(status).toBe(200);
  return provider.seen[before]?.body.toString() ?? '';
}

const TASKS = [
  'Write the meeting dates and times into the table in notes.md',
  'Deploy the billing service to the staging cluster',
  'Rename the column customer_id of the invoices table in the database',
  'Why does the login page test fail on the build server?',
  'Write the dates of the next release into the calendar file',
];
const LESSONS = [
  [
    'date-offsets',
    'When you write dates or times into a table or a file.',
    'Use the offset +02:00 in every time.',
  ],
  [
    'staging-deploys',
    'When you deploy a service to the staging cluster.',
    'Run the smoke tests after each deploy.',
  ],
  [
    'column-renames',
    'When you rename a column of a table in the database.',
    'Write a migration with a view for the old name.',
  ],
  [
    'login-tests',
    'When the login page test fails on the build server.',
    'Clear the session store of the build server first.',
  ],
] as const;

/**
 * Conversations with turns, lessons that are published between them, and steps back. The same for every number of gateways;
 * `pick` chooses the one for the next turn.
 */
async function converse(
  url: string,
  gateways: readonly Gateway[],
  seed: string,
  pick: () => number,
): Promise<readonly string[]> {
  const random = createRandom(seed);
  const sent: string[] = [];
  const at = (): Gateway => gateways[pick() % gateways.length] as Gateway;
  const lessons = LESSONS.map(([name, description, content]) => add(name, description, content));
  await publish(at(), ...lessons.splice(0, 2));
  const talks = [0, 1, 2, 3].map((n) => ({
    session: n % 2 === 0 ? `talk-${n}` : undefined,
    messages: [] as object[],
  }));
  for (const talk of talks)
    talk.messages.push({
      role: 'user',
      content: `${TASKS[random.below(TASKS.length)]} (${talks.indexOf(talk)})`,
    });
  const pool = openPgPool(readPgUrl(url), { most: 1 });
  onTestFinished(() => pool.close());
  /** How long a gateway waits for the turn of another one is no matter here: on a busy machine it would decide. */
  const recorded = (): Promise<void> =>
    expect
      .poll(async () => (await pool.all<{ n: number }>('select count(end_seq) as n from turns'))[0]?.n, SOON)
      .toBe(sent.length);
  let generation = 1;
  // Whether a lesson is known yet is a matter of time, not of the number of gateways.
  const known = async (): Promise<void> => {
    for (const gateway of gateways) await expect.poll(() => generationOf(gateway), SOON).toBe(generation);
  };
  await known();
  for (let step = 0; step < 14; step++) {
    if (step === 5 || step === 10) {
      await publish(at(), ...lessons.splice(0, 1));
      generation++;
      await known();
    }
    const talk = talks[random.below(talks.length)] as (typeof talks)[number];
    sent.push(await turn(at(), talk.messages, talk.session));
    await recorded();
    // The same request again.
    if (random.next() < 0.25) sent.push(await turn(at(), talk.messages, talk.session));
    await recorded();
    talk.messages.push(
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: `${TASKS[random.below(TASKS.length)]} ${step}` },
    );
  }
  return sent;
}

describe('three gateways of one PostgreSQL', () => {
  it.each(['hops 1', 'hops 2', 'hops 3'])(
    'send the bytes of a single gateway when the sessions of a client hop between them at random (seed %s)',
    async (seed) => {
      const url = server.freshUrl();
      const three = await Promise.all([1, 2, 3].map(() => startGateway(url)));
      const other = server.freshUrl();
      const alone = await startGateway(other);
      const random = createRandom(`${seed} gateways`);
      const hopped = await converse(url, three, seed, () => random.below(3));
      const stayed = await converse(other, [alone], seed, () => 0);
      expect(hopped).toEqual(stayed);
      expect(hopped.some((body) => body.includes('smoke tests'))).toBe(true);
      const { sessions } = await owner(three[0] as Gateway, 'GET', '/api/page/sessions?limit=20');
      expect(asArray(sessions)).toHaveLength(4);
    },
    400_000,
  );
});
