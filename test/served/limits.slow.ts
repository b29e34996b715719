import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import type { TurnLimits } from '../../src/core/overlay.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, type Reply, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };

let answer: Reply = () => undefined;
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let nth = 0;
let asked = 0;

beforeAll(async () => {
  provider = await startProvider((request, response) => answer(request, response, ++asked));
  home = makeHome({
    providers: { fake: { wire: ['openai'], baseUrl: `${provider.url}/v1` } },
  });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = async (method: string, where: string, body?: object): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}`, 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const reply = await ask(daemon.port, { method, path: where, headers, ...text });
  expect(reply.status, reply.text).toBeLessThan(300);
  return JSON.parse(reply.text);
};
const publish = (changes: readonly object[]) => owner('POST', '/api/lessons', { changes, reason: 'a test' });

/** A limit in force for runs of the kind `batch`; the id of its lesson. */
async function limit(limits: TurnLimits): Promise<string> {
  const id = `limit-${++nth}`;
  const text = {
    ...lessonText({ name: id, description: 'Limits of batch runs.', content: 'See the overlay.' }),
    scope: { runKind: 'batch' },
    overlay: { payload: { type: 'validator_policy_tweak', ...limits } },
  };
  await publish([{ op: 'add', id, kind: 'limit', state: 'live', text }]);
  return id;
}
const retire = (id: string) => publish([{ op: 'retire', id, reason: 'over' }]);
afterEach(async () => {
  for (const { lesson } of await inForce()) await retire(String(lesson));
});
const inForce = async (): Promise<readonly JsonObject[]> =>
  asArray(await owner('GET', '/api/overlays?runKind=batch')).map(asObject);

const TASK = 'Write the meeting dates and times into the table in notes.md';

/** One request of a batch run; `calls`: how many requests the provider got for it. */
async function send(more: object = {}, headers: Record<string, string> = {}, content = TASK) {
  asked = 0;
  const body = JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content }], ...more });
  const reply = await ask(daemon.port, {
    path: '/v1/chat/completions',
    body,
    headers: { 'x-instar-key': daemon.key, 'x-instar-run-kind': 'batch', ...headers },
  });
  return { ...reply, calls: asked, turn: String(reply.headers['x-instar-turn']) };
}

const completion = (content: string): string =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    model: 'm-1',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  });
const sayJson =
  (...contents: readonly string[]): Reply =>
  (_, response, count) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(completion(contents[Math.min(count, contents.length) - 1] ?? ''));
  };
const contentOf = (text: string) => JSON.parse(text).choices[0].message.content as string;
const JSON_ASKED = { response_format: { type: 'json_object' } };
const logLines = (): string => readFileSync(path.join(home.dir, 'logs', 'instar.log'), 'utf8');

describe('a limit of a kind of run', () => {
  it('retries: 0 gives the client the first failure; without it the provider is asked again', async () => {
    answer = (_, response, count) => {
      response.writeHead(count <= 3 ? 503 : 200, { 'content-type': 'application/json' });
      response.end(count <= 3 ? '{"error":{"message":"full"}}' : completion('late'));
    };
    const id = await limit({ retries: 0 });
    const limited = await send();
    expect(limited).toMatchObject({ status: 503, calls: 1 });
    expect(limited.headers['x-instar-lessons']).toContain(id);
    await vi.waitFor(() => expect(logLines()).toContain(`"limitedBy":["${id}"]`), SOON);
    expect(await send({}, { 'x-instar-run-kind': 'talk' })).toMatchObject({ status: 503, calls: 3 });
    await retire(id);
    expect(await send()).toMatchObject({ status: 503, calls: 3 });
  });

  it('checks give the client the good reply after a broken one, and the turn has the usage of both', async () => {
    answer = sayJson('{"ok":', '{"ok":true}');
    const id = await limit({ checks: ['json'] });
    const good = await send(JSON_ASKED);
    expect(contentOf(good.text)).toBe('{"ok":true}');
    expect(good.calls).toBe(2);
    await vi.waitFor(async () => {
      const turn = await owner('GET', `/api/turns/${good.turn}`);
      expect(turn.usage).toMatchObject({ inputTokens: 200, outputTokens: 20 });
    }, SOON);
    const metrics = await ask(daemon.port, {
      method: 'GET',
      path: '/metrics',
      headers: { authorization: `Bearer ${daemon.ownerKey}` },
    });
    expect(metrics.text).toContain('instar_response_checks_total{check="json",result="failed"} 1');
    expect(metrics.text).toContain('instar_response_checks_total{check="json",result="passed"} 1');
    await vi.waitFor(() => expect(logLines()).toContain(`"overlays":["${id}"]`), SOON);
    const words = await send();
    expect(words).toMatchObject({ calls: 1, status: 200 });
    await retire(id);
    const broken = await send(JSON_ASKED);
    expect([contentOf(broken.text), broken.calls]).toEqual(['{"ok":', 1]);
  });

  it('checks leave a stream as it is', async () => {
    const bytes = [
      { choices: [{ index: 0, delta: { role: 'assistant', content: '{"ok":' } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ].map((chunk) => `data: ${JSON.stringify({ id: 'c', model: 'm-1', ...chunk })}\n\n`);
    const stream = `${bytes.join('')}data: [DONE]\n\n`;
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(stream);
    };
    await limit({ checks: ['json'], reasks: 2 });
    const streamed = await send({ ...JSON_ASKED, stream: true });
    expect([streamed.text, streamed.calls]).toEqual([stream, 1]);
  });

  it('headersMs cuts a provider that hangs', async () => {
    answer = () => undefined;
    const id = await limit({ headersMs: 300 });
    const cut = await send();
    expect(cut).toMatchObject({ status: 504, calls: 1 });
    expect(cut.text).toContain('sent no reply for 0.3 s');
    await retire(id);
    answer = (_, response) => void setTimeout(() => response.end(completion('slow')), 500);
    expect(await send()).toMatchObject({ status: 200, calls: 1 });
  });

  it('idleMs cuts a provider that hangs in the middle of its reply', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
    };
    await limit({ idleMs: 300 });
    const cut = await send({ stream: true });
    expect(cut.text).toContain('sent no further byte of its reply for 0.3 s');
  });

  it('lessons limits the texts in a prompt, which then stays as it is for the session', async () => {
    answer = sayJson('Done.');
    const skill = (id: string, content: string) => ({
      op: 'add',
      id,
      kind: 'skill',
      state: 'live',
      text: lessonText({ name: id, description: 'When you write dates or times into a table.', content }),
    });
    await publish([
      skill('offsets', 'Keep times comparable.\n\nUse the offset +02:00 in every time.'),
      skill('columns', 'Keep tables narrow.\n\nGive every date a column of its own, named in lower case.'),
    ]);
    const sent = () => provider.seen.at(-1)?.body.toString() ?? '';
    const texts = () => ['+02:00', 'a column of its own'].filter((words) => sent().includes(words)).length;
    await send({}, { 'x-instar-session': 'free' });
    expect(texts()).toBe(2);
    const one = await limit({ lessons: 1 });
    await send({}, { 'x-instar-session': 'limited' });
    expect(texts()).toBe(1);
    const limited = sent();
    // A session keeps the block that it began with: the provider has it in its cache.
    await send({}, { 'x-instar-session': 'free' });
    expect(texts()).toBe(2);
    const count = async (): Promise<number> => {
      const body = { model: 'm-1', max_tokens: 9, messages: [{ role: 'user', content: TASK }] };
      const { text } = await ask(daemon.port, {
        path: '/v1/messages/count_tokens',
        body: JSON.stringify(body),
        headers: { 'x-instar-key': daemon.key, 'x-instar-run-kind': 'batch', 'x-instar-session': 'counted' },
      });
      return Number(JSON.parse(text).input_tokens);
    };
    const counted = await count();
    const none = await limit({ lessons: 0 });
    expect(await count()).toBeLessThan(counted);
    await send({}, { 'x-instar-session': 'limited' });
    expect(sent()).toBe(limited);
    await send({}, { 'x-instar-session': 'bare' });
    expect(texts()).toBe(0);
    await retire(one);
    await retire(none);
    await send({}, { 'x-instar-session': 'limited' });
    expect(sent()).toBe(limited);
    await send({}, { 'x-instar-session': 'later' });
    expect(texts()).toBe(2);
  });
});
