import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { WIRE_NAMES } from '../../src/core/wire.ts';
import { accountUseOf } from '../../src/gateway/provider-account.ts';
import { findRoute } from '../../src/gateway/serve-request.ts';
import { type Answer, ask } from '../support/client.ts';
import { KEY, providerAt, startGateway, type TestGateway } from '../support/gateway.ts';
import { type Provider, startProvider } from '../support/provider.ts';

const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
const OWN = { kind: 'own', credentials: () => ({ authorization: 'Bearer sk-of-the-owner' }) } as const;
const bearer = { authorization: `Bearer ${KEY}` };

/** A provider that answers everything; what is created has an id. */
async function provide(): Promise<Provider> {
  const provider = await startProvider(({ url }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: url.includes('messages') ? 'msgbatch_1' : 'batch_1', data: [] }));
  });
  open.push(() => provider.close());
  return provider;
}
async function serve(options: Parameters<typeof startGateway>[0]): Promise<TestGateway> {
  const gateway = await startGateway(options);
  open.push(() => gateway.close());
  return gateway;
}
const seenBy = ({ seen }: Provider): readonly string[] => seen.map(({ method, url }) => `${method} ${url}`);
/** As SDKs cancel something: no body, and no content type. */
const post = (port: number, path: string, headers: Record<string, string> = bearer): Promise<Answer> =>
  ask(port, { path, headers, bare: true });

describe('the paths that are sent with the owner’s provider key', () => {
  const request = { headers: {} } as IncomingMessage;
  const word = fc.constantFrom(
    ...[
      'v1',
      'V1',
      'files',
      'FILES',
      'Files',
      'models',
      'audio',
      'images',
      'responses',
      'batches',
      'messages',
    ],
    ...[
      'organization',
      'resp_1',
      'cancel',
      '.',
      '..',
      '',
      '%2e%2e',
      '%2E',
      '%2f',
      '..%2ffiles',
      '...',
      'a.b',
      '@',
      ';x',
      '\\',
    ],
  );
  const path = fc.array(word, { minLength: 1, maxLength: 6 }).map((parts) => `/v1/${parts.join('/')}`);
  const query = fc.constantFrom('', '?x=1', '?/../files', '?path=/v1/files', '?a=%2e%2e/files');

  it('are those of the list alone: no spelling of a path that a provider could read as another one gets through', () => {
    let allowed = 0;
    fc.assert(
      fc.property(path, query, fc.constantFrom('GET', 'POST', 'DELETE'), (asked, more, method) => {
        const route = findRoute(method, asked, more, request);
        if (route === undefined || route === 'models') return;
        const use = accountUseOf(method, route.path.split('?', 1)[0] ?? '', []);
        if (use.kind === 'account') return;
        allowed++;
        // What a provider makes of the path: decoded, with dots resolved, slashes joined, in lower case.
        const meant = decodeURIComponent(new URL(`http://x/v1${route.path}`).pathname).replace(/\/+/g, '/');
        expect(meant).toBe(`/v1${route.path.split('?', 1)[0]}`);
        expect(meant.toLowerCase()).not.toMatch(/^\/v1\/(?:files|organization)/);
        expect(meant).toMatch(/^\/v1\/(?:models|audio|images|responses|batches|messages)(?:\/|$)/);
      }),
      { numRuns: 20_000 },
    );
    expect(allowed).toBeGreaterThan(200);
  });

  it('are more with gateway.forward: exact ones, or all under one that ends with a slash, with or without /v1', () => {
    const kinds = (forward: readonly string[], ...paths: readonly string[]): readonly string[] =>
      paths.map((one) => accountUseOf('GET', one, forward).kind);
    expect(kinds(['/files'], '/files', '/files/f-1', '/filesystem')).toEqual([
      'allowed',
      'account',
      'account',
    ]);
    expect(kinds(['/v1/files/'], '/files', '/files/f-1', '/files//f', '/files/./f')).toEqual([
      'account',
      'allowed',
      'account',
      'account',
    ]);
    expect(kinds(['/responses/'], '/responses/resp_1', '/batches/b')).toEqual(['allowed', 'object']);
  });

  it('ask models as before: embeddings, moderations, sound and images are forwarded with the owner’s key', async () => {
    const provider = await provide();
    const gateway = await serve({ providers: [providerAt(provider.url, WIRE_NAMES, { access: OWN })] });
    const paths = ['/v1/embeddings', '/v1/moderations', '/v1/audio/speech', '/v1/images/generations'];
    for (const one of paths)
      expect((await ask(gateway.port, { path: one, headers: bearer, body: '{"input":"x"}' })).status).toBe(
        200,
      );
    expect((await ask(gateway.port, { method: 'GET', path: '/v1/models/m-1', headers: bearer })).status).toBe(
      200,
    );
    expect(provider.seen.every(({ headers }) => headers.authorization === 'Bearer sk-of-the-owner')).toBe(
      true,
    );
    expect(seenBy(provider)).toEqual([...paths.map((one) => `POST ${one}`), 'GET /v1/models/m-1']);
  });

  it('are not limited where the caller’s own credential passes through', async () => {
    const provider = await provide();
    const remote = provider.url.replace('127.0.0.1', '0.0.0.0');
    const gateway = await serve({
      providers: [
        providerAt(remote, ['openai-chat'], { access: OWN, name: 'owners' }),
        providerAt(remote, ['openai-chat'], { name: 'passing' }),
      ],
    });
    const own = { 'x-instar-key': KEY, authorization: 'Bearer sk-of-the-caller' };
    const files = { method: 'GET', path: '/v1/files' };
    expect((await ask(gateway.port, { ...files, headers: own })).status).toBe(200);
    expect(provider.seen.at(-1)?.headers.authorization).toBe('Bearer sk-of-the-caller');
    expect((await ask(gateway.port, { ...files, headers: bearer })).status).toBe(403);
    expect(provider.seen).toHaveLength(1);
  });
});

describe('requests that name no model', () => {
  it('go to a provider of their own wire (batches of Anthropic’s SDK went to an OpenAI provider)', async () => {
    const [openai, anthropic] = [await provide(), await provide()];
    const gateway = await serve({
      providers: [
        providerAt(openai.url, ['openai-chat', 'openai-responses'], { access: OWN, name: 'openai' }),
        providerAt(anthropic.url, ['anthropic'], { access: OWN, name: 'anthropic' }),
      ],
      aliases: { default: ['openai/gpt-5.2'] },
    });
    const body = JSON.stringify({
      requests: [{ custom_id: '1', params: { model: 'claude', messages: [] } }],
    });
    expect((await ask(gateway.port, { path: '/v1/messages/batches', headers: bearer, body })).status).toBe(
      200,
    );
    const batch = '/v1/messages/batches/msgbatch_1';
    for (const path of [batch, `${batch}/results`])
      expect((await ask(gateway.port, { method: 'GET', path, headers: bearer })).status).toBe(200);
    expect((await post(gateway.port, `${batch}/cancel`)).status).toBe(200);
    const file = JSON.stringify({ input_file_id: 'file-1', endpoint: '/v1/chat/completions' });
    expect((await ask(gateway.port, { path: '/v1/batches', headers: bearer, body: file })).status).toBe(200);
    expect((await post(gateway.port, '/v1/batches/batch_1/cancel')).status).toBe(200);
    expect(seenBy(anthropic)).toEqual([
      'POST /v1/messages/batches',
      `GET ${batch}`,
      `GET ${batch}/results`,
      `POST ${batch}/cancel`,
    ]);
    expect(seenBy(openai)).toEqual(['POST /v1/batches', 'POST /v1/batches/batch_1/cancel']);
  });

  it('go to the provider at which the caller created what they are about', async () => {
    const [first, second] = [await provide(), await provide()];
    const gateway = await serve({
      providers: [
        providerAt(first.url, ['openai-chat'], { access: OWN, name: 'first' }),
        providerAt(second.url, ['openai-responses'], { access: OWN, name: 'second', models: ['only-here'] }),
      ],
    });
    const body = JSON.stringify({ model: 'only-here', input: 'hello' });
    expect((await ask(gateway.port, { path: '/v1/responses', headers: bearer, body })).status).toBe(200);
    const read = { method: 'GET', path: '/v1/responses/batch_1', headers: bearer };
    expect((await ask(gateway.port, read)).status).toBe(200);
    expect([seenBy(first), seenBy(second)]).toEqual([
      [],
      ['POST /v1/responses', 'GET /v1/responses/batch_1'],
    ]);
  });

  it('say which provider is missing, in the caller’s dialect', async () => {
    const provider = await provide();
    const gateway = await serve({ providers: [providerAt(provider.url, ['openai-chat'], { access: OWN })] });
    const batches = await ask(gateway.port, { path: '/v1/messages/batches', headers: bearer, body: '{}' });
    expect(batches.status).toBe(404);
    expect(JSON.parse(batches.text)).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
    expect(batches.text).toMatch(/No configured provider speaks the Anthropic API.*providers\.anthropic/);
    expect(provider.seen).toEqual([]);
    const other = await serve({ providers: [providerAt(provider.url, ['anthropic'], { access: OWN })] });
    const files = await ask(other.port, { method: 'GET', path: '/v1/responses/resp_1', headers: bearer });
    expect([files.status, files.text]).toEqual([404, expect.stringMatching(/OpenAI API.*providers\.openai/)]);
  });

  it('may be a POST without a body (it got 415); a form of a web page still is refused', async () => {
    const provider = await provide();
    const gateway = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)] });
    expect((await post(gateway.port, '/v1/responses/resp_1/cancel', {})).status).toBe(200);
    expect(provider.seen.at(-1)?.headers['content-length']).toBe('0');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await post(gateway.port, '/v1/responses/resp_1/cancel', form)).status).toBe(415);
    expect((await post(gateway.port, '/v1/chat/completions', {})).status).toBe(415);
  });
});
