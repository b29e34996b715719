import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallerKey } from '../../src/config/caller-keys.ts';
import { openHome } from '../../src/config/home.ts';
import { type Answer, ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** An account at a provider, which answers everything that has its key. */
let account: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let mine: string;
let theirs: string;
const PROVIDER_KEY = 'sk-of-the-owner-0123456789';

beforeAll(async () => {
  let created = 0;
  account = await startProvider(({ method, url, headers, body }, response) => {
    const [path = ''] = url.split('?');
    const isNew = method === 'POST' && /\/(?:responses|batches)$/.test(path);
    const id = isNew ? `resp_${String(++created).padStart(48, '0')}` : 'x';
    const reply = { id, object: 'response', output: [], secret: 'of the account' };
    if (isNew && body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: response.created\ndata: ${JSON.stringify({ response: reply })}\n\n`);
      response.end(`event: response.completed\ndata: ${JSON.stringify({ response: reply })}\n\n`);
      return;
    }
    const isPacked = headers['accept-encoding'] === 'gzip';
    const text = Buffer.from(JSON.stringify(reply));
    const encoding = isPacked ? { 'content-encoding': 'gzip' } : {};
    response.writeHead(200, { 'content-type': 'application/json', ...encoding });
    response.end(isPacked ? gzipSync(text) : text);
  });
  const entry = { baseUrl: `${account.url}/v1`, keyEnv: 'ACCOUNT_KEY' };
  home = makeHome({
    providers: { account: { ...entry, wire: 'openai' }, claude: { ...entry, wire: 'anthropic' } },
  });
  mine = createCallerKey(openHome(home.dir), { name: 'mine', mayRate: false, at: 0 }).key;
  theirs = createCallerKey(openHome(home.dir), { name: 'theirs', mayRate: false, at: 0 }).key;
  daemon = await startDaemon(home.dir, [], { ACCOUNT_KEY: PROVIDER_KEY });
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await account.close();
  home.remove();
});

type Sent = { readonly body?: string; readonly headers?: Record<string, string> };
const send = (key: string, method: string, path: string, { body, headers }: Sent = {}): Promise<Answer> => {
  const sent = { authorization: `Bearer ${key}`, ...headers };
  return ask(daemon.port, {
    method,
    path,
    headers: sent,
    ...(body === undefined ? { bare: true } : { body }),
  });
};
const create = async (
  key: string,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<string> => {
  const body = JSON.stringify({ model: 'gpt-5.2', input: 'Hello', ...more });
  const answer = await send(key, 'POST', '/v1/responses', { body, headers });
  expect(answer.status).toBe(200);
  const plain = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(answer.body) : answer.body;
  return /"id":"(resp_\d+)"/.exec(plain.toString('utf8'))?.[1] ?? 'none';
};

describe('a caller key and the account behind the owner’s provider key', () => {
  it.each([
    ['GET', '/v1/files'],
    ['DELETE', '/v1/files/file-1'],
    ['POST', '/v1/files'],
    ['POST', '/v1/uploads'],
    ['POST', '/v1/organization/admin_api_keys'],
    ['GET', '/v1/organization/costs'],
    ['POST', '/v1/fine_tuning/jobs'],
    ['GET', '/v1/assistants'],
    ['POST', '/v1/threads/t_1/messages'],
    ['GET', '/v1/vector_stores'],
    ['GET', '/v1/conversations/conv_1/items'],
    ['GET', '/v1/batches'],
    ['GET', '/v1/batches/batch_of_others'],
    ['GET', '/v1/chat/completions'],
    ['GET', '/v1/messages/batches'],
    ['GET', '/v1/messages/batches/msgbatch_of_others/results'],
    ['DELETE', '/v1/models/ft:gpt-4o:me::1'],
    ['GET', '/v1/responses/resp_of_others'],
    ['DELETE', '/v1/responses/resp_of_others'],
    ['POST', '/v1/responses/resp_of_others/cancel'],
  ])('S6 %s %s is refused (it was forwarded with the owner’s key)', async (method, path) => {
    const before = account.seen.length;
    const body = method === 'POST' ? { body: '{}' } : {};
    const answer = await send(mine, method, path, body);
    expect([answer.status, account.seen.length - before]).toEqual([403, 0]);
    const { error } = JSON.parse(answer.text);
    expect(error.message).toMatch(/gateway\.forward/);
    expect(error.message).toMatch(/your own provider credential/);
    if (path.startsWith('/v1/messages')) expect(error.type).toBe('permission_error');
    else expect(error).toMatchObject({ type: 'invalid_request_error', code: 'not_forwarded' });
  });

  it('S6 a caller reads, continues, cancels and deletes the responses that its own key created, and no other key does', async () => {
    const ids = [
      await create(mine),
      await create(mine, { stream: true }),
      await create(mine, {}, { 'accept-encoding': 'gzip' }),
    ];
    for (const id of ids) {
      const asked = { body: JSON.stringify({ model: 'gpt-5.2', input: 'And?', previous_response_id: id }) };
      for (const [method, path, sent] of [
        ['GET', `/v1/responses/${id}`, {}],
        ['GET', `/v1/responses/${id}/input_items?limit=1`, {}],
        ['POST', '/v1/responses', asked],
        ['POST', `/v1/responses/${id}/cancel`, {}],
        ['DELETE', `/v1/responses/${id}`, {}],
      ] as const) {
        const before = account.seen.length;
        expect([path, (await send(theirs, method, path, sent)).status]).toEqual([path, 403]);
        expect(account.seen.length).toBe(before);
        expect([path, (await send(mine, method, path, sent)).status]).toEqual([path, 200]);
        expect(account.seen.at(-1)?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
      }
    }
  });

  it('S6 the words of a caller or a model do not make the response of another key its own', async () => {
    const id = await create(theirs);
    const planted = { metadata: { id }, instructions: `{"id":"${id}"}`, input: `"id":"${id}"` };
    await create(mine, planted);
    await create(mine, { ...planted, stream: true });
    expect((await send(mine, 'GET', `/v1/responses/${id}`)).status).toBe(403);
    expect((await send(theirs, 'GET', `/v1/responses/${id}`)).status).toBe(200);
  });

  it('S6 who created what is known after a restart; the owner reads everything, and its key asks no model', async () => {
    const id = await create(mine);
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    daemon = await startDaemon(home.dir, [], { ACCOUNT_KEY: PROVIDER_KEY });
    const path = `/v1/responses/${id}`;
    expect((await send(theirs, 'GET', path)).status).toBe(403);
    expect((await send(mine, 'GET', path)).status).toBe(200);
    const owner = readFileSync(join(home.dir, 'owner-key'), 'utf8').trim();
    expect((await send(owner, 'GET', path)).status).toBe(200);
    expect((await send(owner, 'GET', '/v1/responses/resp_of_nobody')).status).toBe(200);
    expect((await send(owner, 'POST', '/v1/responses', { body: '{"model":"m","input":"x"}' })).status).toBe(
      403,
    );
    expect((await send(owner, 'DELETE', path)).status).toBe(403);
  });
});
