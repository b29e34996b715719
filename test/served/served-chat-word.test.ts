import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { startScriptedProvider } from '../clients/scripted-provider.ts';
import { type Answer, ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import type { Provider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
const WORD = 'instar: bad, use ISO dates';
const TASK = 'write the export of all orders';
const SAVED = `Saved: bad, "use ISO dates" (about: “${TASK}”).`;
const ZERO = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

beforeAll(async () => {
  provider = await startScriptedProvider();
  home = makeHome({
    providers: { fake: { wire: ['openai', 'anthropic'], baseUrl: `${provider.url}/v1` } },
    models: { default: 'fake/m-1', evolver: 'off', judge: 'off' },
  });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = async (path: string): Promise<JsonObject> =>
  JSON.parse(
    (await ask(daemon.port, { method: 'GET', path, headers: { authorization: `Bearer ${daemon.ownerKey}` } }))
      .text,
  );
const rewardsOf = async (session: string): Promise<readonly JsonObject[]> => {
  const { turns = [] } = (await owner(`/api/sessions/${session}`)) as { turns?: readonly JsonObject[] };
  return turns.flatMap((turn) => turn.rewards as readonly JsonObject[]);
};

interface ChatOptions {
  readonly session?: string;
  readonly key?: string | undefined;
  readonly headers?: Record<string, string>;
}

const chat = (
  messages: readonly object[],
  { session, key = daemon.key, headers = {} }: ChatOptions = {},
): Promise<Answer> =>
  ask(daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages }),
    headers: {
      ...(key === '' ? {} : { 'x-instar-key': key }),
      ...(session === undefined ? {} : { 'x-instar-session': session }),
      ...headers,
    },
  });
const textOf = ({ text }: Answer): string => JSON.parse(text).choices[0].message.content;
const user = (content: string) => ({ role: 'user' as const, content });
const assistant = (content: string) => ({ role: 'assistant' as const, content });
const history = (answer: string) => [user(TASK), assistant(answer), user(WORD)];

describe('a word to Instar, through the official packages', () => {
  const headersFor = (session: string) => ({ 'x-instar-session': session });
  const openai = () =>
    new OpenAI({ baseURL: `http://127.0.0.1:${daemon.port}/v1`, apiKey: daemon.key, maxRetries: 0 });
  const anthropic = () =>
    new Anthropic({ baseURL: `http://127.0.0.1:${daemon.port}`, apiKey: daemon.key, maxRetries: 0 });

  it.each([false, true])('is saved and answered on the chat wire, stream %s', async (stream) => {
    const session = `sdk-chat-${stream}`;
    const headers = headersFor(session);
    const client = openai();
    await client.chat.completions.create({ model: 'default', messages: [user(TASK)] }, { headers });
    const asked = provider.seen.length;
    if (stream) {
      const body = { model: 'default', messages: history('Done.'), stream: true as const };
      const chunks = await client.chat.completions.create(
        { ...body, stream_options: { include_usage: true } },
        { headers },
      );
      let text = '';
      let usage: object | undefined | null;
      for await (const chunk of chunks) {
        text += chunk.choices[0]?.delta.content ?? '';
        usage = chunk.usage ?? usage;
      }
      expect(text).toBe(SAVED);
      expect(usage).toMatchObject(ZERO);
    } else {
      const { data, response } = await client.chat.completions
        .create({ model: 'default', messages: history('Done.') }, { headers })
        .withResponse();
      expect(data.choices[0]).toMatchObject({
        finish_reason: 'stop',
        message: { role: 'assistant', content: SAVED },
      });
      expect(data.usage).toMatchObject(ZERO);
      expect(response.headers.get('x-instar-answer')).toBe('saved');
      expect(response.headers.get('x-instar-session')).toBe(session);
      expect(response.headers.get('x-instar-rated')).toMatch(/^t_/);
    }
    expect(provider.seen.length).toBe(asked);
    expect(await rewardsOf(session)).toMatchObject([{ source: 'chat', score: -1, note: 'use ISO dates' }]);
  });

  it.each([false, true])('is saved and answered on the responses wire, stream %s', async (stream) => {
    const session = `sdk-responses-${stream}`;
    const headers = headersFor(session);
    const client = openai();
    await client.responses.create({ model: 'default', input: TASK }, { headers });
    const asked = provider.seen.length;
    const body = { model: 'default', input: history('Done.') };
    if (stream) {
      const events = await client.responses.create({ ...body, stream: true }, { headers });
      let text = '';
      let last: OpenAI.Responses.Response | undefined;
      for await (const event of events) {
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (event.type === 'response.completed') last = event.response;
      }
      expect(text).toBe(SAVED);
      expect(last?.usage).toMatchObject({ input_tokens: 0, output_tokens: 0 });
      expect(last?.status).toBe('completed');
    } else {
      const reply = await client.responses.create(body, { headers });
      expect(reply.output_text).toBe(SAVED);
      expect(reply.usage).toMatchObject({ input_tokens: 0, output_tokens: 0, total_tokens: 0 });
    }
    expect(provider.seen.length).toBe(asked);
    expect(await rewardsOf(session)).toMatchObject([{ source: 'chat', score: -1, note: 'use ISO dates' }]);
  });

  it.each([false, true])('is saved and answered on the messages wire, stream %s', async (stream) => {
    const session = `sdk-messages-${stream}`;
    const headers = headersFor(session);
    const client = anthropic();
    const base = { model: 'default', max_tokens: 100 };
    await client.messages.create({ ...base, messages: [user(TASK)] }, { headers });
    const asked = provider.seen.length;
    const body = { ...base, messages: history('Done.') };
    const message = stream
      ? await client.messages.stream(body, { headers }).finalMessage()
      : await client.messages.create(body, { headers });
    expect(message.content).toMatchObject([{ type: 'text', text: SAVED }]);
    expect(message).toMatchObject({ stop_reason: 'end_turn', usage: { input_tokens: 0, output_tokens: 0 } });
    expect(provider.seen.length).toBe(asked);
    expect(await rewardsOf(session)).toMatchObject([{ source: 'chat', score: -1, note: 'use ISO dates' }]);
    // Counting its tokens is a question to the provider, which has no such route here, and rates nothing.
    const counted = client.messages.countTokens({ model: 'default', messages: body.messages }, { headers });
    await expect(counted).rejects.toThrow('404');
    expect(await rewardsOf(session)).toHaveLength(1);
  });
});

describe('a word to Instar', () => {
  it('is found to belong to its session by the messages alone, and stays in the history unchanged', async () => {
    const answer = textOf(await chat([user('sum up the ledger')]));
    const before = [user('sum up the ledger'), assistant(answer)];
    const word = await chat([...before, user('Instar: use ISO dates')]);
    expect(textOf(word)).toBe('Saved: "use ISO dates" (about: “sum up the ledger”).');
    const messages = [
      ...before,
      user('Instar: use ISO dates'),
      assistant(textOf(word)),
      user('thanks, go on'),
    ];
    const after = await chat(messages);
    expect(after.headers['x-instar-session']).toBe(word.headers['x-instar-session']);
    expect(JSON.parse(provider.seen.at(-1)?.body.toString() ?? '').messages).toStrictEqual(messages);
    const session = String(word.headers['x-instar-session']);
    await vi.waitFor(async () => {
      const { turns } = (await owner(`/api/sessions/${session}`)) as unknown as {
        turns: readonly JsonObject[];
      };
      expect(turns).toHaveLength(2);
      expect(turns[0]?.rewards).toMatchObject([{ source: 'chat', score: -0.5, note: 'use ISO dates' }]);
    }, SOON);
  });

  it('counts once when the client repeats its request, and the last of two words wins', async () => {
    await chat([user(TASK)], { session: 'twice' });
    for (let times = 0; times < 2; times++) await chat(history('Done.'), { session: 'twice' });
    expect(await rewardsOf('twice')).toHaveLength(1);
    const changed = [...history('Done.'), assistant(SAVED), user('instar: good')];
    expect(textOf(await chat(changed, { session: 'twice' }))).toBe(`Saved: good (about: “${TASK}”).`);
    expect(await rewardsOf('twice')).toMatchObject([{ score: -1 }, { score: 1 }]);
  });

  it('rates nothing where there is no answer, no key, another key or no recording, and says why', async () => {
    const first = await chat([user('instar: good')], { session: 'empty' });
    expect(textOf(first)).toContain('There is nothing to rate yet');
    expect(first.headers['x-instar-answer']).toBe('nothing-to-rate');
    await chat([user(TASK)], { session: 'mine' });
    const asked = provider.seen.length;
    const keyless = await chat(history('Done.'), { session: 'mine', key: '' });
    expect(textOf(keyless)).toMatch(/^Not saved: this client sends no key .*instar team keys create NAME\.$/);
    const off = await chat(history('Done.'), { session: 'mine', headers: { 'x-instar-record': 'off' } });
    expect(textOf(off)).toMatch(/^Not saved: this client turns recording off/);
    expect(textOf(await chat([user('instar: help')], { session: 'mine' }))).toContain(
      '- instar: bad, use ISO dates',
    );
    const created = await ask(daemon.port, {
      path: '/api/keys',
      body: JSON.stringify({ name: 'other' }),
      headers: { authorization: `Bearer ${daemon.ownerKey}` },
    });
    // Another key has a session of its own by that name, with no answer in it.
    const other = await chat(history('Done.'), { session: 'mine', key: JSON.parse(created.text).key });
    expect(textOf(other)).toContain('There is nothing to rate yet');
    expect(provider.seen.length).toBe(asked);
    expect(await rewardsOf('mine')).toEqual([]);
  });

  it('keeps no secret that someone types into it', async () => {
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    await chat([user(TASK)], { session: 'secret' });
    const said = await chat([user(TASK), assistant('Done.'), user(`instar: bad, use the token ${secret}`)], {
      session: 'secret',
    });
    expect(textOf(said)).toContain('Saved: bad');
    const [reward] = await rewardsOf('secret');
    expect(reward?.note).toContain('use the token');
    expect(reward?.note).not.toContain(secret);
  });

  it('is counted apart: neither as a served nor as a refused request', async () => {
    const requests = async () => (await owner('/api/status')).requests as Record<string, number>;
    const before = await requests();
    await chat(history('Done.'), { session: 'mine' });
    const after = await requests();
    expect(after).toMatchObject({ served: before.served, failed: before.failed, refused: before.refused });
    expect(after.chatWords).toBe((before.chatWords ?? 0) + 1);
    const metrics = await ask(daemon.port, {
      method: 'GET',
      path: '/metrics',
      headers: { authorization: `Bearer ${daemon.ownerKey}` },
    });
    expect(metrics.text).toMatch(/instar_chat_words_total\{end="saved"\} \d/);
  });

  it('said in three chats becomes a lesson without a model, at once, and weighs less than feedback', async () => {
    const asked = 'instar: bad, always write dates as ISO dates such as 2026-03-04';
    for (const session of ['one', 'two', 'three']) {
      const headers = { 'x-instar-agent': 'exporter' };
      const task = `export the orders of week ${session}`;
      await chat([user(task)], { session, headers });
      const messages = [user(task), assistant('04/03/2026;12'), user(asked)];
      expect(textOf(await chat(messages, { session, headers }))).toContain('Saved: bad, "always write dates');
    }
    await vi.waitFor(async () => {
      const lessons = (await owner('/api/lessons')) as unknown as readonly JsonObject[];
      const lesson = lessons.find(({ scope }) => (scope as JsonObject).agent === 'exporter');
      expect(lesson).toBeDefined();
      const shown = await owner(`/api/lessons/${lesson?.id}`);
      expect(JSON.stringify(shown)).toContain('ISO dates');
      expect(shown).toMatchObject({ state: 'live', source: 'experience' });
      expect(JSON.stringify(shown)).not.toContain('instar:');
    }, SOON);
  });
});

describe('a command to Instar in the chat', () => {
  const RULE = 'No, we always use ISO dates in shipping reports.';
  let otherKey = '';
  const say = async (word: string, key?: string): Promise<string> => {
    const session = `commands-${key === undefined ? 'mine' : 'other'}`;
    return textOf(await chat([user(TASK), assistant('Done.'), user(word)], { session, ...(key && { key }) }));
  };

  beforeAll(async () => {
    const created = await ask(daemon.port, {
      path: '/api/keys',
      body: JSON.stringify({ name: 'a second application' }),
      headers: { authorization: `Bearer ${daemon.ownerKey}` },
    });
    otherKey = JSON.parse(created.text).key;
    const session = 'commands-mine';
    await chat([user('write the shipping report')], { session });
    await chat([user('write the shipping report'), assistant('Shipped 4/3/26.'), user(RULE)], { session });
    await vi.waitFor(async () => expect(await say('instar: list')).toContain('shipping reports'), SOON);
  }, SOON.timeout);

  it('lists what its own caller taught, as sentences, and nothing of it to another key', async () => {
    expect(await say('instar: list')).toMatch(/^- Use ISO dates in shipping reports/m);
    await chat([user(TASK)], { session: 'commands-other', key: otherKey });
    expect(await say('instar: list', otherKey)).toMatch(/^Nothing that you taught here is in use\./);
  });

  it('says which lessons the last answer was shown (not: how to rate it)', async () => {
    const session = 'commands-why';
    await chat([user('write the shipping report of May')], { session });
    const messages = [user('write the shipping report of May'), assistant('Done.'), user('instar: why?')];
    const text = textOf(await chat(messages, { session }));
    expect(text).toMatch(/Shown for the last answer[\s\S]*- Use ISO dates in shipping reports/);
  });

  it('forgets and takes back only what its own caller taught', async () => {
    expect(await say('instar: undo', otherKey)).toMatch(/^Nothing that you taught/);
    expect(await say('instar: forget ISO dates', otherKey)).toMatch(/^Nothing that you taught/);
    expect(await say('instar: list')).toContain('shipping reports');
    expect(await say('instar: forget tabs and spaces')).toMatch(/^Nothing that you taught here says that/);
    expect(await say('instar: forget shipping reports')).toBe(
      'Forgotten: “Use ISO dates in shipping reports”. It is not used any more.',
    );
    expect(await say('instar: list')).not.toContain('shipping reports');
    expect(await rewardsOf('commands-mine')).not.toContainEqual(
      expect.objectContaining({ note: expect.stringContaining('forget') }),
    );
  });
});
