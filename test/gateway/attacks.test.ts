import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import { WIRE_NAMES } from '../../src/core/wire.ts';
import { createAuthorizer } from '../../src/gateway/access-control.ts';
import { ask } from '../support/client.ts';
import {
  accountOver,
  callersOf,
  KEY,
  providerAt,
  startGateway,
  type TestGateway,
} from '../support/gateway.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { requestBody, wholeReply } from '../support/samples.ts';

const CHAT = '/v1/chat/completions';
const PROVIDER_KEY = 'sk-provider-secret';
let provider: Provider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startProvider((_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'set-cookie': 'a=b',
      'access-control-allow-origin': '*',
      'strict-transport-security': 'max-age=1',
      'alt-svc': 'h3=":443"',
      'x-instar-turn': 'forged',
      'x-provider': 'kept',
    });
    response.end(wholeReply('openai-chat'));
  });
  const own = { kind: 'own', credentials: () => ({ authorization: `Bearer ${PROVIDER_KEY}` }) } as const;
  gateway = await startGateway({
    providers: [
      providerAt(provider.url, ['openai-chat'], { name: 'keyed', access: own }),
      providerAt(provider.url.replace('127.0.0.1', 'provider.invalid'), ['openai-chat'], { name: 'passing' }),
      providerAt(provider.url, ['openai-chat'], { name: 'local' }),
    ],
    isForbiddenAddress: (address) => address.startsWith('169.254.'),
  });
});
afterEach(() => expect(gateway.faults).toEqual([]));
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

const body = requestBody('openai-chat', false).replace('m-1', 'keyed/m-1');
const withKey = { authorization: `Bearer ${KEY}` };
const seenBefore = () => provider.seen.length;

describe('access control', () => {
  it.each([
    ['evil.example', 403],
    ['evil.example:PORT', 403],
    ['127.0.0.1.evil.example:PORT', 403],
    ['127.evil.com:PORT', 403],
    ['localhost.evil.com:PORT', 403],
    ['localhost:1', 403],
    ['127.0.0.1', 403],
    ['127.1:PORT', 403],
    ['0.0.0.0:PORT', 403],
    ['[::1', 403],
    ['127.0.0.1:PORT@evil.com', 403],
    ['127.0.0.1:PORT', 200],
    ['LOCALHOST:PORT', 200],
    ['[::1]:PORT', 200],
  ])('answers Host %s with %i', async (host, status) => {
    const before = seenBefore();
    const headers = { ...withKey, host: host.replace('PORT', String(gateway.port)) };
    const answer = await ask(gateway.port, { path: CHAT, body, headers });
    expect(answer.status).toBe(status);
    expect(seenBefore() - before).toBe(status === 200 ? 1 : 0);
  });

  it.each([
    ['https://evil.example', 403],
    ['null', 403],
    ['http://localhost:1', 403],
    ['http://127.0.0.1.evil.com', 403],
    ['file://', 403],
    ['https://127.0.0.1:PORT', 403],
    ['http://127.0.0.1:PORT', 200],
  ])('answers Origin %s with %i, with a key or without', async (origin, status) => {
    const headers = { ...withKey, origin: origin.replace('PORT', String(gateway.port)) };
    const answer = await ask(gateway.port, { path: CHAT, body, headers });
    expect(answer.status).toBe(status);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it.each(['cross-site', 'same-site'])('refuses Sec-Fetch-Site: %s', async (site) => {
    const answer = await ask(gateway.port, {
      path: CHAT,
      body,
      headers: { ...withKey, 'sec-fetch-site': site },
    });
    expect(answer.status).toBe(403);
  });

  it.each(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain', ''])(
    'refuses a form post (content-type “%s”) with 415',
    async (type) => {
      const headers = type === '' ? withKey : { ...withKey, 'content-type': type };
      const answer = await ask(gateway.port, { path: CHAT, body, headers, bare: true });
      expect(answer.status).toBe(415);
    },
  );

  it('does not allow a CORS preflight', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const answer = await ask(gateway.port, { method: 'OPTIONS', path: CHAT, headers });
    expect(answer.status).toBe(403);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('the key', () => {
  it('is required before a provider’s configured key is used', async () => {
    const before = seenBefore();
    const missing = await ask(gateway.port, { path: CHAT, body });
    expect(missing.status).toBe(401);
    expect(missing.text).toContain('key');
    expect(seenBefore()).toBe(before);
  });

  it.each([
    ['authorization', `Bearer ${KEY}`],
    ['x-api-key', KEY],
    ['x-instar-key', KEY],
  ])('is accepted as %s and replaced by the provider’s key (never forwarded)', async (name, value) => {
    const answer = await ask(gateway.port, { path: CHAT, body, headers: { [name]: value } });
    expect(answer.status).toBe(200);
    const headers = provider.seen.at(-1)?.headers ?? {};
    expect(headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
    expect(JSON.stringify(headers)).not.toContain(KEY);
  });

  it('of Instar is not sent to a provider without a key', async () => {
    const asked = body.replace('keyed/', 'passing/');
    const answer = await ask(gateway.port, { path: CHAT, body: asked, headers: withKey });
    expect(answer.status).toBe(401);
    const local = await ask(gateway.port, {
      path: CHAT,
      body: body.replace('keyed/', 'local/'),
      headers: withKey,
    });
    expect(local.status).toBe(200);
    expect(JSON.stringify(provider.seen.at(-1)?.headers)).not.toContain(KEY);
  });

  it('of Anthropic is not sent to a provider of another wire', async () => {
    const before = seenBefore();
    const headers = { authorization: 'Bearer sk-ant-api03-secret' };
    const answer = await ask(gateway.port, { path: CHAT, body: body.replace('keyed/', 'local/'), headers });
    expect(answer.status).toBe(401);
    expect(seenBefore()).toBe(before);
  });

  it('of the caller is forwarded unchanged when the provider entry has none', async () => {
    const headers = { authorization: 'Bearer sk-mine', 'openai-organization': 'org-1' };
    await ask(gateway.port, { path: CHAT, body: body.replace('keyed/', 'local/'), headers });
    expect(provider.seen.at(-1)?.headers).toMatchObject(headers);
  });

  it('cannot be guessed: after ten wrong keys in a minute every further one is 429', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 14; n++) {
      const answer = await ask(gateway.port, { path: CHAT, body, headers: { 'x-api-key': `guess-${n}` } });
      statuses.push(answer.status);
      if (answer.status === 429) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
    expect(statuses.slice(-4)).toEqual([429, 429, 429, 429]);
    // A stale client must not lock the others out.
    expect((await ask(gateway.port, { path: CHAT, body, headers: withKey })).status).toBe(200);
  });

  it('failures count ::ffff:1.2.3.4 and 1.2.3.4 as one address, for one minute', () => {
    const clock = createManualClock();
    const authorize = createAuthorizer({
      keys: callersOf({}),
      onLoopback: false,
      clock,
      account: accountOver(),
    });
    const from = (remoteAddress: string) =>
      ({ headers: { 'x-api-key': 'wrong' }, socket: { remoteAddress } }) as unknown as IncomingMessage;
    const deny = (request: IncomingMessage) => authorize.forRoute(request, undefined, 'owner');
    const statuses = Array.from(
      { length: 12 },
      (_, n) => deny(from(n % 2 === 0 ? '1.2.3.4' : '::ffff:1.2.3.4'))?.status,
    );
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    clock.advance(60_001);
    expect(deny(from('1.2.3.4'))?.status).toBe(401);
  });

  it('is required for the status; the health check reveals nothing but that Instar runs', async () => {
    expect((await ask(gateway.port, { method: 'GET', path: '/api/status' })).status).toBe(401);
    expect((await ask(gateway.port, { method: 'GET', path: '/api/status', headers: withKey })).status).toBe(
      200,
    );
    expect((await ask(gateway.port, { method: 'GET', path: '/healthz' })).text).toBe('{"ok":true}');
  });
});

describe('request smuggling', () => {
  const raw = (text: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = net.connect(gateway.port, '127.0.0.1', () => socket.write(text));
      let got = '';
      socket.on('data', (chunk) => {
        got += chunk.toString('latin1');
        if (got.includes('\r\n\r\n')) socket.end();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(got));
    });
  const host = () => `Host: 127.0.0.1:${gateway.port}`;
  const status = (reply: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1] ?? 0);

  it.each([
    ['two Hosts', () => `GET /healthz HTTP/1.1\r\n${host()}\r\nHost: evil.example\r\n\r\n`],
    [
      'an absolute URL in the request line',
      () => `GET http://evil.example/healthz HTTP/1.1\r\n${host()}\r\n\r\n`,
    ],
    [
      'both content-length and transfer-encoding',
      () =>
        `POST ${CHAT} HTTP/1.1\r\n${host()}\r\ncontent-type: application/json\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'two different content-lengths',
      () => `POST ${CHAT} HTTP/1.1\r\n${host()}\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc`,
    ],
    ['a header folded over two lines', () => `GET /healthz HTTP/1.1\r\n${host()}\r\nx-a: b\r\n c: d\r\n\r\n`],
    ['a bare CR in a header', () => `GET /healthz HTTP/1.1\r\n${host()}\r\nx-a: b\rc: d\r\n\r\n`],
  ])('%s: 400', async (_name, text) => {
    expect(status(await raw(text()))).toBe(400);
  });

  it('an empty Host is refused', async () => {
    expect(status(await raw(`GET /healthz HTTP/1.1\r\nHost: \r\n\r\n`))).toBe(403);
  });

  it('a CONNECT tunnel is closed', async () => {
    expect(status(await raw(`CONNECT evil.example:443 HTTP/1.1\r\n${host()}\r\n\r\n`))).not.toBe(200);
  });

  it.each([
    '/v1/../admin',
    '/v1/files/..%2f..%2fetc',
    '/v1//evil.example/x\\y',
    '/v1/chat/completions/%2e%2e',
    '/v2/x',
    '/admin',
  ])('the path %s reaches no provider', async (path) => {
    const before = seenBefore();
    const answer = await ask(gateway.port, { path, body, headers: withKey });
    expect(answer.status).toBe(404);
    expect(seenBefore()).toBe(before);
  });

  it('hop-by-hop headers, cookies and x-instar headers are not forwarded; unknown ones are', async () => {
    const headers = {
      ...withKey,
      connection: 'close, x-hop',
      'x-hop': '1',
      cookie: 'session=secret',
      te: 'trailers',
      'proxy-authorization': 'Basic x',
      'x-instar-session': 's',
      'x-future': 'kept',
      'anthropic-beta': 'kept-too',
    };
    const answer = await ask(gateway.port, { path: CHAT, body, headers });
    const seen = provider.seen.at(-1)?.headers ?? {};
    for (const name of ['x-hop', 'cookie', 'te', 'proxy-authorization', 'x-instar-session'])
      expect(seen[name]).toBeUndefined();
    expect(seen).toMatchObject({ 'x-future': 'kept', 'anthropic-beta': 'kept-too' });
    for (const name of [
      'set-cookie',
      'access-control-allow-origin',
      'strict-transport-security',
      'alt-svc',
    ]) {
      expect(answer.headers[name]).toBeUndefined();
    }
    expect(answer.headers['x-provider']).toBe('kept');
    expect(answer.headers['x-instar-turn']).toMatch(/^t_/);
  });

  it.each(['base_url', 'api_base', 'baseUrl', 'api_key', 'user_config'])(
    'a body that names %s is still sent to the configured origin with the configured key',
    async (field) => {
      const evil = JSON.stringify({
        ...JSON.parse(body),
        [field]: { api_base: 'http://127.0.0.1:1/', api_key: 'x' },
      });
      const answer = await ask(gateway.port, { path: CHAT, body: evil, headers: withKey });
      expect(answer.status).toBe(200);
      expect(provider.seen.at(-1)?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
    },
  );

  it('a name that resolves to a forbidden address is not connected to', async () => {
    const wary = await startGateway({
      providers: [providerAt(provider.url.replace('127.0.0.1', 'localhost'), WIRE_NAMES)],
      isForbiddenAddress: (address) => address === '127.0.0.1' || address === '::1',
    });
    const before = seenBefore();
    const answer = await ask(wary.port, { path: CHAT, body: requestBody('openai-chat', false) });
    expect(answer.status).toBe(502);
    expect(answer.text).toContain('refused');
    expect(seenBefore()).toBe(before);
    await wary.close();
  });
});
