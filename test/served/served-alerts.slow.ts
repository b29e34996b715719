import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
/** Longer than three looks. */
const A_WHILE_MS = 16_000;
const SECRET = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`;
const ENV = { ALERT_SECRET: SECRET };
const TASK = 'Write the shipping report for the parcels of last week.';
const RULE = 'No, we always use ISO dates in shipping reports.';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** A receiver that answers with `status()`. */
async function openReceiver(status: () => number = () => 204): Promise<Provider> {
  const receiver = await startProvider((_request, response) => void response.writeHead(status()).end());
  undo.push(() => receiver.close());
  return receiver;
}

interface Place {
  readonly home: string;
  daemon: RunningDaemon;
  answer: string;
  restart(): Promise<void>;
  set(alerts: object): Promise<void>;
}

/** A real daemon with a scripted provider and these alerts. */
async function open(alerts: object): Promise<Place> {
  const provider = await startProvider((_request, response) => {
    const message = { role: 'assistant', content: place.answer };
    const choices = [{ index: 0, finish_reason: 'stop', message }];
    const usage = { prompt_tokens: 60, completion_tokens: 25, total_tokens: 85 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'r', model: 'm', choices, usage }));
  });
  undo.push(() => provider.close());
  const config = {
    providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'local/m', evolver: 'off', judge: 'off' },
    log: { alerts },
  };
  const home = makeHome(config);
  undo.push(() => home.remove());
  const place: Place = {
    home: home.dir,
    daemon: await startDaemon(home.dir, [], ENV),
    answer: 'The parcels left on 2026-11-16.',
    restart: async () => {
      place.daemon.child.kill('SIGKILL');
      await place.daemon.exited;
      place.daemon = await startDaemon(home.dir, [], ENV);
    },
    set: async (next) => {
      const file = path.join(home.dir, 'config.json');
      writeFileSync(file, JSON.stringify({ ...config, log: { alerts: next } }), { mode: 0o600 });
    },
  };
  undo.push(async () => {
    place.daemon.child.kill('SIGTERM');
    await place.daemon.exited;
  });
  return place;
}

const chat = (port: number, key: string, session: string, messages: readonly object[]) =>
  ask(port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages }),
    headers: { 'x-instar-key': key, 'x-instar-agent': 'clerk', 'x-instar-session': session },
  });
const user = (content: string) => ({ role: 'user', content });
const alertsOf = (receiver: Provider): readonly JsonObject[] =>
  receiver.seen.flatMap(({ body }) => asArray(asObject(JSON.parse(body.toString())).alerts).map(asObject));
const eventsOf = (receiver: Provider) => alertsOf(receiver).map(({ event }) => event);
const propose = (place: Place, id: string) =>
  ask(place.daemon.port, {
    path: '/api/lessons',
    headers: { authorization: `Bearer ${place.daemon.ownerKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      reason: 'a test',
      changes: [
        {
          op: 'add',
          id,
          kind: 'skill',
          state: 'proposed',
          text: lessonText({ name: id, description: '"Keep subjects short."', content: 'Keep them short.' }),
        },
      ],
    }),
  });
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('alerts', () => {
  it('tell once, signed, of 80 % of a budget and of a decision, without words of people; a restart tells nothing again', async () => {
    const receiver = await openReceiver();
    const alerts = { url: `${receiver.url}/hook`, secretEnv: 'ALERT_SECRET', quiet: 'off' };
    const place = await open(alerts);
    const made = await runInProcess([
      'team',
      'keys',
      'create',
      'app',
      '--limit',
      '100 tokens/day',
      '--home',
      place.home,
    ]);
    const key = made.stdout.split('\n')[0]?.trim() ?? '';
    expect((await propose(place, 'short-subjects')).status).toBe(200);
    await chat(place.daemon.port, key, 'a', [user(TASK)]);
    await vi.waitFor(
      () => expect(eventsOf(receiver)).toEqual(expect.arrayContaining(['hello', 'budget', 'decision'])),
      SOON,
    );
    const budget = alertsOf(receiver).find(({ event }) => event === 'budget');
    expect(budget?.text).toBe('The key "app" has used 85 tokens of 100 tokens a day (85 %).');
    const decision = alertsOf(receiver).find(({ event }) => event === 'decision');
    expect(decision).toMatchObject({
      text: '1 lesson waits for your decision. See: instar lessons review.',
      lessons: ['short-subjects'],
    });
    for (const { headers, body } of receiver.seen) {
      const [id, at] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
      const secret = Buffer.from(SECRET.slice(6), 'base64');
      const hmac = createHmac('sha256', secret).update(`${id}.${at}.${body.toString()}`).digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${hmac}`);
      expect(Math.abs(Date.now() / 1000 - Number(at))).toBeLessThan(100);
      expect(body.toString()).not.toMatch(/shipping|parcels|Keep subjects/);
    }
    expect(new Set(receiver.seen.map(({ headers }) => headers['webhook-id'])).size).toBe(
      receiver.seen.length,
    );
    const metrics = await ask(place.daemon.port, {
      method: 'GET',
      path: '/metrics',
      headers: { authorization: `Bearer ${place.daemon.ownerKey}` },
    });
    expect(metrics.text).toContain('instar_alert_requests_total{end="sent"}');
    expect(metrics.text).toContain('instar_alerts_waiting 0');

    const told = receiver.seen.length;
    await place.restart();
    await chat(place.daemon.port, key, 'c', [user(TASK)]);
    await wait(A_WHILE_MS);
    expect(receiver.seen.length).toBe(told);
  });

  it('are kept through a kill while the receiver is away, and arrive with the same id and the same words', async () => {
    let status = 503;
    const receiver = await openReceiver(() => status);
    const place = await open({ url: receiver.url, quiet: 'off', events: ['decision'] });
    await vi.waitFor(() => expect(receiver.seen.length).toBe(1), SOON);
    await place.restart();
    status = 200;
    await vi.waitFor(() => expect(receiver.seen.length).toBe(2), SOON);
    const [first, second] = receiver.seen;
    expect(second?.body.toString()).toBe(first?.body.toString());
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.headers['webhook-signature']).toBeUndefined();
    await wait(A_WHILE_MS);
    expect(receiver.seen.length).toBe(2);
  });

  it('are held in quiet hours and sent together after them, without those that are not among its events', async () => {
    const receiver = await openReceiver();
    const alerts = { url: receiver.url, events: ['decision'], content: true };
    const place = await open({ ...alerts, quiet: '00:00-24:00' });
    for (const id of ['first-rule', 'second-rule']) {
      await propose(place, id);
      await wait(6_000);
    }
    expect(receiver.seen).toEqual([]);
    await place.set({ ...alerts, quiet: 'off' });
    await vi.waitFor(() => expect(receiver.seen.length).toBe(1), SOON);
    expect(eventsOf(receiver)).toEqual(['hello', 'decision', 'decision']);
    // With content: the titles.
    expect(alertsOf(receiver)[1]?.text).toMatch(/waits for your decision: “.+”\. See/);
  });

  it('tell of a rule that an answer broke, with ids alone, and once a day', async () => {
    const receiver = await openReceiver();
    const place = await open({ url: receiver.url, quiet: 'off' });
    // It tells what happens from its first look on.
    await vi.waitFor(() => expect(eventsOf(receiver)).toEqual(['hello']), SOON);
    const { port, key } = place.daemon;
    const broken = 'The parcels left on 11/16/2026.';
    place.answer = broken;
    await chat(port, key, 'first', [user(TASK)]);
    place.answer = 'The parcels left on 2026-11-16.';
    await chat(port, key, 'first', [user(TASK), { role: 'assistant', content: broken }, user(RULE)]);
    const lessons = async (): Promise<readonly JsonObject[]> =>
      JSON.parse((await runInProcess(['lessons', 'list', '--json', '--home', place.home])).stdout);
    await vi.waitFor(async () => expect(await lessons()).toHaveLength(1), SOON);
    place.answer = broken;
    for (const session of ['second', 'third']) await chat(port, key, session, [user(TASK)]);
    await vi.waitFor(() => expect(eventsOf(receiver)).toContain('rule'), SOON);
    await wait(A_WHILE_MS);
    const rules = alertsOf(receiver).filter(({ event }) => event === 'rule');
    const [lesson] = await lessons();
    expect(rules).toMatchObject([
      {
        text: `The rule ${lesson?.id} was not kept by an answer. See: instar lessons show ${lesson?.id}.`,
        lessons: [lesson?.id],
      },
    ]);
    expect(receiver.seen.map(({ body }) => body.toString()).join()).not.toMatch(/ISO|shipping/);
  });

  it('tell of a record that fails although nothing can be recorded, and say so in status when nobody takes them', async () => {
    const receiver = await openReceiver();
    const home = makeHome({ log: { alerts: { url: receiver.url, secretEnv: 'NO_SUCH', quiet: 'off' } } });
    undo.push(() => home.remove());
    writeFileSync(path.join(home.dir, 'instar.sqlite'), 'remember the milk\n'.repeat(400), { mode: 0o600 });
    const run = async (env: NodeJS.ProcessEnv) => {
      const daemon = await startDaemon(home.dir, [], env);
      undo.push(async () => {
        daemon.child.kill('SIGTERM');
        await daemon.exited;
      });
      return daemon;
    };
    const first = await run({});
    const status = async () => (await runInProcess(['status', '--why', '--home', home.dir])).stdout;
    await vi.waitFor(
      async () =>
        expect(await status()).toContain('the variable NO_SUCH that log.alerts.secretEnv names is empty'),
      SOON,
    );
    expect(receiver.seen).toEqual([]);
    first.child.kill('SIGTERM');
    await first.exited;
    await run({ NO_SUCH: 'a plain secret' });
    await vi.waitFor(
      () => expect(eventsOf(receiver)).toEqual(expect.arrayContaining(['hello', 'degraded'])),
      SOON,
    );
    expect(alertsOf(receiver).find(({ event }) => event === 'degraded')?.text).toMatch(
      /^Recording waits for the store: .*instar doctor\.$/,
    );
    expect(receiver.seen[0]?.headers['webhook-signature']).toMatch(/^v1,/);
  });
});
