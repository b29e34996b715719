import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { AttemptOrder } from '../../src/core/practice.ts';
import { createAdmission, watchAdmission } from '../../src/gateway/admission.ts';
import { createExchange } from '../../src/models/exchange.ts';
import { createHttpModel } from '../../src/models/http-model.ts';
import { createInProcessAttempts } from '../../src/models/in-process-client.ts';
import { wires } from '../../src/wire/wires.ts';
import { attemptsWith, orderOf } from '../agent/attempts/orders.ts';
import { chatBody, createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';
import { ask } from '../support/client.ts';
import type { Provider } from '../support/provider.ts';
import { createGatewayAttempts } from './gateway-attempts.ts';

const stage = createStage();
const pool = createExchange({
  timeouts: { connectMs: 5_000, headersMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
});
let provider: Provider;
let instar: InstarHere;
beforeAll(async () => {
  provider = await stage.provider('p', (_, response) => replyWith(response, 'The answer: 42'));
  instar = await stage.open(
    'served-attempts',
    {
      providers: { p: { wire: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
    },
    { env: { P_KEY: 'provider-key-0123456789' } },
  );
  await instar.addLesson({
    name: 'sums-in-words',
    description: 'When a sum is asked for: give the number in words too.',
    content: 'Write 42 as forty-two besides the digits.',
  });
});
afterAll(async () => {
  await stage.close();
  await pool.close();
});

const PROMPT = 'What is the sum of 40 and 2? Give the number.';
const signal = new AbortController().signal;
const shownOf = (text: string): AttemptOrder['shown'] => ({ text, lessons: ['l_1', 'l_2'], generation: 9 });
const lastBody = () => chatBody(provider.seen.at(-1) ?? { body: Buffer.from('') });
const chatWith = (key: string, headers: Record<string, string> = {}, text = PROMPT) =>
  ask(instar.port, {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model: 'p/m', messages: [{ role: 'user', content: text }] }),
  });

describe('an attempt through the gateway', () => {
  it('sends the bytes that production sends, when it is shown the block that production shows', async () => {
    await chatWith(instar.key, { 'x-instar-session': 'as-usual' });
    const usual = provider.seen.at(-1)?.body.toString() ?? '';
    const block = lastBody().messages[0]?.content ?? '';
    expect(block).toContain('forty-two');
    const access = instar.daemon.openAttempt(orderOf({ prompt: PROMPT }, { shown: shownOf(block) }));
    await chatWith(access.key);
    access.close();
    expect(provider.seen.at(-1)?.body.toString()).toBe(usual);
  });

  it('places the block where the gateway does, also without a gateway, with and without a system prompt', async () => {
    const more = { name: 'p/m', model: 'm', clock: systemClock };
    const direct = createInProcessAttempts({
      ...more,
      chat: createHttpModel({
        exchange: pool.exchange,
        wire: wires['openai-chat'],
        upstream: { origin: provider.url, basePath: '/v1', wire: 'openai-chat' },
        access: { kind: 'open' },
        clock: systemClock,
      }),
    });
    const through = createGatewayAttempts({
      ...more,
      model: 'p/m',
      open: instar.daemon.openAttempt,
      exchange: pool.exchange,
    });
    for (const system of [undefined, 'You do sums.']) {
      const order = orderOf(
        {
          prompt: PROMPT,
          ...(system === undefined ? {} : { system }),
          check: { kind: 'number', expected: 42 },
        },
        { shown: shownOf('## Active Skills\n\nBe brief.') },
      );
      const seen = [];
      for (const open of [direct, through]) {
        const { make } = attemptsWith(async () => ({ text: '', calls: [], lessons: [] }), {
          agents: new Map([['own', { kind: 'model', open }]]),
        });
        const attempt = await make(order, signal);
        expect(attempt.outcome).toMatchObject({ is: 'graded', reward: 1 });
        expect(attempt.used.tokens).toBe(2000);
        seen.push(JSON.stringify(lastBody().messages));
      }
      expect(seen[0]).toBe(seen[1]);
      expect(seen[0]).toContain('Be brief.');
    }
  });
});

describe("an attempt's key", () => {
  it('decides session, kind and lessons, whatever the headers say; nothing is learned or counted', async () => {
    const order = orderOf({ prompt: PROMPT }, { id: 'run-7/task-1/0', shown: shownOf('ONLY THIS') });
    const access = instar.daemon.openAttempt(order);
    const answer = await chatWith(access.key, {
      'x-instar-session': 'another',
      'x-instar-run-kind': 'work',
      'x-instar-record': 'off',
      'x-instar-session-done': 'true',
    });
    expect(answer.headers['x-instar-session']).toBe('run-7/task-1/0');
    expect(answer.headers['x-instar-lessons']).toBe('l_1,l_2');
    expect(answer.headers['x-instar-generation']).toBe('9');
    expect(lastBody().messages[0]?.content).toBe('ONLY THIS');
    const { messages, usage, calls } = await access.turns();
    expect([messages.length, usage.length, calls]).toEqual([2, 1, 1]);
    access.close();
    const { turns } = await instar.owner('GET', '/api/sessions/run-7%2Ftask-1%2F0');
    expect(turns).toMatchObject([{ runKind: 'practice', caller: 'practice' }]);
  });

  it('is refused once it is closed, and is never passed on as a credential', async () => {
    const access = instar.daemon.openAttempt(orderOf());
    access.close();
    const before = provider.seen.length;
    expect((await chatWith(access.key)).status).toBe(401);
    expect(provider.seen.length).toBe(before);
  });

  it('opens nothing of the API, not even what callers may do', async () => {
    const access = instar.daemon.openAttempt(orderOf());
    const headers = { 'x-instar-key': access.key };
    const statuses = await Promise.all([
      ask(instar.port, { path: '/v1/feedback', headers, body: '{"turn":"last","score":1}' }),
      ask(instar.port, { path: '/v1/events', headers, body: '{"kind":"note"}' }),
      ask(instar.port, { method: 'GET', path: '/api/sessions', headers }),
    ]);
    access.close();
    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403]);
  });

  it('gives no other caller its block: a session named by a header is an ordinary one', async () => {
    const order = orderOf({}, { id: 'run-8/task-1/0', shown: shownOf('SECRET BLOCK') });
    const access = instar.daemon.openAttempt(order);
    await chatWith(instar.key, { 'x-instar-session': 'run-8/task-1/0', 'x-instar-run-kind': 'practice' });
    expect(JSON.stringify(lastBody())).not.toContain('SECRET BLOCK');
    access.close();
  });

  it('says nothing to Instar in a prompt: a word to it is sent to the model', async () => {
    const access = instar.daemon.openAttempt(orderOf());
    const before = provider.seen.length;
    await chatWith(access.key, {}, 'instar: bad, never do that');
    access.close();
    expect(provider.seen.length).toBe(before + 1);
  });
});

describe('the scheduler', () => {
  it('does not take an attempt for a person at work', () => {
    const told: number[] = [];
    const admission = watchAdmission(
      createAdmission({ maxInFlight: 10, maxBodyBytes: 1000, monotonic: systemClock.monotonic }),
      (inFlight) => told.push(inFlight),
    );
    const attempt = admission.enter({ isKnown: true, isPractice: true });
    expect(told).toEqual([]);
    const person = admission.enter({ isKnown: true });
    person?.leave();
    attempt?.leave();
    expect(told).toEqual([1, 0]);
  });
});
