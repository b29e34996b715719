import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { ChatModel } from '../../src/core/chat.ts';
import { WIRE_NAMES } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';
import { ask } from '../support/client.ts';
import {
  KEY,
  providerAt,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
} from '../support/gateway.ts';
import { type Provider, type Reply, startProvider } from '../support/provider.ts';
import { ROUTES, requestBody, streamedReply, wholeReply } from '../support/samples.ts';
import { joined } from '../wire/arbitraries.ts';
import { readStream } from '../wire/wire-contract.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
async function provide(reply: Reply): Promise<Provider> {
  const provider = await startProvider(reply);
  open.push(provider);
  return provider;
}
async function serve(options: TestGatewayOptions): Promise<TestGateway> {
  const gateway = await startGateway(options);
  open.unshift(gateway);
  return gateway;
}
const own = { kind: 'own', credentials: () => ({ authorization: 'Bearer p' }) } as const;
const asKnown = { 'x-instar-key': KEY };
const withKey = { authorization: `Bearer ${KEY}` };
const echoing: Reply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'r1' });
  response.end('{"ok":1}');
};

describe('the same wire in and out', () => {
  it.each(WIRE_NAMES)('%s: body, path and query reach the provider as they are', async (wire) => {
    const provider = await provide(echoing);
    const gateway = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)] });
    const odd = `{ "unknown":{"a":[1,2.50,"\\u00e9\\ud83d\\ude00"]},"stream" : false,\n ${requestBody(wire, false).slice(1)} `;
    const answer = await ask(gateway.port, { path: `${ROUTES[wire]}?beta=true&x=%20y`, body: odd });
    expect(provider.seen[0]?.body.toString()).toBe(odd);
    expect(provider.seen[0]?.url).toBe(`${ROUTES[wire]}?beta=true&x=%20y`);
    expect(answer).toMatchObject({ status: 200, text: '{"ok":1}' });
    expect(answer.headers).toMatchObject({ 'x-request-id': 'r1', 'x-instar-policy': 'fake/m-1' });
  });

  it.each(WIRE_NAMES)('%s: without the block, the outgoing bytes are the incoming ones', async (wire) => {
    const provider = await provide(echoing);
    const block = '## Active Skills\n\n### "quoted"\n_é_\n\tbody\n';
    const gateway = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)], block });
    const body = requestBody(wire, true);
    await ask(gateway.port, { path: ROUTES[wire], body, headers: asKnown });
    const sent = provider.seen[0]?.body.toString() ?? '';
    expect(
      wires[wire]
        .decodeRequest(JSON.parse(sent))
        .system.map((part) => part.text)
        .join(''),
    ).toContain(block.trim());
    const places = wires[wire].outline(Buffer.from(body))?.place(block) ?? [];
    expect(places.length).toBeGreaterThan(0);
    expect(places.reduce((text, { text: inserted }) => text.replace(inserted, ''), sent)).toBe(body);
  });

  it('a compressed body is forwarded compressed without a block, and uncompressed with one', async () => {
    const provider = await provide(echoing);
    const body = gzipSync(requestBody('anthropic', false));
    const headers = { 'content-encoding': 'gzip' };
    const plain = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)] });
    await ask(plain.port, { path: ROUTES.anthropic, body, headers });
    expect(provider.seen[0]?.body.equals(body)).toBe(true);
    expect(provider.seen[0]?.headers['content-encoding']).toBe('gzip');
    const teaching = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)], block: 'LESSON' });
    await ask(teaching.port, { path: ROUTES.anthropic, body, headers: { ...headers, ...asKnown } });
    expect(provider.seen[1]?.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(provider.seen[1]?.body.toString() ?? '').system).toBe('LESSON');
  });

  it('an unsupported encoding is forwarded (not refused) to the provider of that wire', async () => {
    const provider = await provide(echoing);
    const gateway = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)], block: 'LESSON' });
    const body = Buffer.from([1, 2, 3]);
    for (const encoding of ['future', 'constructor', '__proto__', 'gzip, br']) {
      const headers = { 'content-encoding': encoding };
      const answer = await ask(gateway.port, { path: ROUTES.anthropic, body, headers });
      expect(answer.status).toBe(200);
      expect(provider.seen.at(-1)?.body.equals(body)).toBe(true);
    }
    expect(gateway.faults).toEqual([]);
  });

  it('a zip bomb is 413 and broken gzip 400 (neither reaches the provider)', async () => {
    const provider = await provide(echoing);
    const gateway = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)], maxBodyBytes: 100_000 });
    const headers = { 'content-encoding': 'gzip' };
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    expect((await ask(gateway.port, { path: ROUTES.anthropic, body: bomb, headers })).status).toBe(413);
    expect((await ask(gateway.port, { path: ROUTES.anthropic, body: 'no gzip', headers })).status).toBe(400);
    expect(provider.seen).toHaveLength(0);
  });

  it.each(WIRE_NAMES)(
    '%s: an oversized body is 413 in the wire format, declared or chunked',
    async (wire) => {
      const gateway = await serve({ maxBodyBytes: 1000 });
      const body = Buffer.alloc(5000, 32);
      for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
        const answer = await ask(gateway.port, {
          path: ROUTES[wire],
          body,
          headers: headers as Record<string, string>,
        });
        expect(answer.status).toBe(413);
        expect(wires[wire].decodeFailure(413, answer.text).kind).toBe('too-large');
      }
    },
  );
});

describe('model names', () => {
  it('an alias and a provider prefix change only the model name in the body', async () => {
    const provider = await provide(echoing);
    const providers = [providerAt(provider.url, ['openai-chat'], { name: 'a', access: own })];
    const gateway = await serve({ providers, aliases: { default: ['a/real-1'] } });
    const body = (model: string) => `{"x":"m","model" : ${JSON.stringify(model)},"messages":[]}`;
    for (const name of ['default', 'a/deep/name']) {
      await ask(gateway.port, { path: ROUTES['openai-chat'], body: body(name), headers: withKey });
    }
    expect(provider.seen.map((seen) => seen.body.toString())).toEqual([body('real-1'), body('deep/name')]);
  });

  it('a busy first choice is replaced by its fallback, also on another wire', async () => {
    const busy = await provide((_request, response) => {
      response.writeHead(529, { 'content-type': 'application/json', 'x-should-retry': 'false' });
      response.end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}');
    });
    const spare = await provide((request, response) => {
      const isStream = JSON.parse(request.body.toString()).stream === true;
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
      response.end(isStream ? streamedReply('openai-chat').join('') : wholeReply('openai-chat'));
    });
    const gateway = await serve({
      providers: [
        providerAt(busy.url, ['anthropic'], { name: 'busy', access: own }),
        providerAt(spare.url, ['openai-chat'], { name: 'spare', access: own }),
      ],
      aliases: { default: ['busy/m-1', 'spare/m-2'] },
    });
    for (const stream of [true, false]) {
      const body = requestBody('anthropic', stream).replace('m-1', 'default');
      const answer = await ask(gateway.port, { path: ROUTES.anthropic, body, headers: withKey });
      expect(answer.status).toBe(200);
      expect(answer.headers['x-instar-policy']).toBe('spare/m-2');
      const events = stream
        ? readStream(wires.anthropic, answer.text)
        : wires.anthropic.decodeReply(JSON.parse(answer.text));
      expect(joined(events).find((event) => event.type === 'text-delta')).toMatchObject({
        text: 'In Zürich it is 晴れ ☀️ and 21 °C.',
      });
    }
    expect(JSON.parse(spare.seen[0]?.body.toString() ?? '').model).toBe('m-2');
  });

  it('a caller’s credentials are not sent to a fallback provider', async () => {
    const down = await provide((_request, response) => void response.socket?.destroy());
    const other = await provide(echoing);
    const gateway = await serve({
      providers: [
        providerAt(down.url, ['openai-chat'], { name: 'asked' }),
        providerAt(other.url, ['openai-chat'], { name: 'other' }),
      ],
      aliases: { default: ['asked/m', 'other/m'] },
    });
    const headers = { authorization: 'Bearer sk-mine' };
    const body = requestBody('openai-chat', false).replace('m-1', 'default');
    const answer = await ask(gateway.port, { path: ROUTES['openai-chat'], body, headers });
    expect(answer.status).toBe(502);
    expect(other.seen).toHaveLength(0);
  });

  it('are listed in both formats: aliases first, then the provider’s own list', async () => {
    const provider = await provide((request, response) => {
      expect(request.url).toBe('/v1/models');
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: [{ id: 'live-1', object: 'model', type: 'model', extra: 1 }] }));
    });
    const providers = [providerAt(provider.url, WIRE_NAMES, { access: own })];
    const gateway = await serve({ providers, aliases: { default: ['fake/m-1'] } });
    const openai = await ask(gateway.port, { method: 'GET', path: '/v1/models', headers: withKey });
    expect(JSON.parse(openai.text)).toMatchObject({
      object: 'list',
      data: [{ id: 'default', object: 'model' }, { id: 'fake/m-1' }, { id: 'live-1', extra: 1 }],
    });
    const headers = { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' };
    const anthropic = JSON.parse(
      (await ask(gateway.port, { method: 'GET', path: '/v1/models', headers })).text,
    );
    expect(anthropic).toMatchObject({
      has_more: false,
      first_id: 'default',
      data: [{ type: 'model' }, {}, {}],
    });
    expect((await ask(gateway.port, { method: 'GET', path: '/v1/models' })).status).toBe(401);
  });

  it('without any provider, every wire answers without a key that nothing is configured', async () => {
    const gateway = await serve({});
    for (const wire of WIRE_NAMES) {
      for (const stream of [true, false]) {
        const answer = await ask(gateway.port, { path: ROUTES[wire], body: requestBody(wire, stream) });
        expect(answer.status).toBe(200);
        const events = stream
          ? readStream(wires[wire], answer.text)
          : wires[wire].decodeReply(JSON.parse(answer.text));
        expect(JSON.stringify(joined(events))).toContain('instar init');
      }
    }
  });

  it('unknown routes are forwarded unchanged to the provider; an embedded model has none', async () => {
    const provider = await provide(echoing);
    const gateway = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)] });
    await ask(gateway.port, { path: '/v1/embeddings?a=1', body: '{"model":"e","input":"x"}' });
    await ask(gateway.port, { method: 'GET', path: '/v1/responses/resp_1' });
    await ask(gateway.port, { method: 'DELETE', path: '/v1/files/f-1' });
    expect(provider.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /v1/embeddings?a=1',
      'GET /v1/responses/resp_1',
      'DELETE /v1/files/f-1',
    ]);
    const bare = await serve({});
    expect((await ask(bare.port, { path: '/v1/embeddings', body: '{}' })).status).toBe(404);
  });

  it('serves base URLs given with /v1, without it and with it twice', async () => {
    const provider = await provide(echoing);
    const gateway = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)] });
    for (const path of ['/messages', '/v1/messages', '/v1/v1/messages']) {
      await ask(gateway.port, { path, body: requestBody('anthropic', false) });
    }
    expect(provider.seen.map(({ url }) => url)).toEqual(['/v1/messages', '/v1/messages', '/v1/messages']);
  });

  it('answers HEAD / and HEAD /api/hello, which clients probe', async () => {
    const gateway = await serve({});
    for (const path of ['/', '/api/hello']) {
      expect((await ask(gateway.port, { method: 'HEAD', path })).status).toBe(200);
    }
  });

  it('tokens are counted by the provider if it can, else estimated, the block included', async () => {
    const path = '/v1/messages/count_tokens';
    const provider = await provide(echoing);
    const native = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)], block: 'LESSON' });
    await ask(native.port, { path, body: requestBody('anthropic', false), headers: asKnown });
    expect(provider.seen[0]?.url).toBe(path);
    expect(provider.seen[0]?.body.toString()).toContain('LESSON');
    const counts: number[] = [];
    for (const block of [undefined, 'word '.repeat(400)]) {
      const gateway = await serve({
        providers: [providerAt(provider.url, ['openai-chat'])],
        ...(block ? { block } : {}),
      });
      const answer = await ask(gateway.port, {
        path,
        body: requestBody('anthropic', false),
        headers: asKnown,
      });
      counts.push(JSON.parse(answer.text).input_tokens);
    }
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts[1]).toBeGreaterThan((counts[0] ?? 0) + 300);
  });
});

describe('a client that disconnects', () => {
  const events = streamedReply('openai-chat').length;
  const rows = WIRE_NAMES.flatMap((wire) => Array.from({ length: events }, (_, after) => ({ wire, after })));

  it.each(rows)(
    '$wire: after $after events aborts the provider’s exchange at once',
    async ({ wire, after }) => {
      const provider = await provide((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const event of streamedReply(wire).slice(0, after + 1)) response.write(event);
      });
      const gateway = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)] });
      const enough = Buffer.byteLength(
        streamedReply(wire)
          .slice(0, after + 1)
          .join(''),
      );
      const leaveWhen = (soFar: Buffer) => soFar.length >= enough;
      await ask(gateway.port, { path: ROUTES[wire], body: requestBody(wire, true), leaveWhen });
      await provider.seen[0]?.abandoned;
      await expect.poll(() => gateway.reports[0]?.end, { timeout: 100_000 }).toBe('client-abort');
    },
  );

  it('stops an embedded model', async () => {
    let stopped = false;
    const endless: ChatModel = async function* (_request, { signal }) {
      try {
        yield { type: 'reply-start', id: 'x', model: 'x' };
        while (!signal.aborted) {
          yield { type: 'text-delta', text: 'more ' };
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      } finally {
        stopped = true;
      }
    };
    const gateway = await serve({ welcome: endless });
    const leaveWhen = (soFar: Buffer) => soFar.length > 2000;
    await ask(gateway.port, { path: ROUTES.anthropic, body: requestBody('anthropic', true), leaveWhen });
    await expect.poll(() => stopped, { timeout: 100_000 }).toBe(true);
    await expect.poll(() => gateway.reports[0]?.end, { timeout: 100_000 }).toBe('client-abort');
  });
});

describe('a gateway at its limit', () => {
  it('answers 503 with Retry-After at once (instead of hanging), and serves again afterwards', async () => {
    let release: () => void = () => undefined;
    const provider = await provide((_request, response) => {
      release = () => response.end('{}');
    });
    const gateway = await serve({ providers: [providerAt(provider.url, WIRE_NAMES)], maxInFlight: 1 });
    const first = ask(gateway.port, { path: ROUTES.anthropic, body: requestBody('anthropic', false) });
    await expect.poll(() => provider.seen.length, { timeout: 100_000 }).toBe(1);
    const second = await ask(gateway.port, { path: ROUTES.anthropic, body: requestBody('anthropic', false) });
    expect(second.status).toBe(503);
    expect(second.headers['retry-after']).toBe('1');
    expect(wires.anthropic.decodeFailure(503, second.text).kind).toBe('overloaded');
    release();
    expect((await first).status).toBe(200);
    await expect.poll(() => gateway.reports.length, { timeout: 100_000 }).toBe(1);
  });

  it('lets running streams finish when it closes', async () => {
    let finish: () => void = () => undefined;
    const provider = await provide((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const [first = '', ...rest] = streamedReply('openai-chat');
      response.write(first);
      finish = () => response.end(rest.join(''));
    });
    const gateway = await startGateway({ providers: [providerAt(provider.url, WIRE_NAMES)] });
    const running = ask(gateway.port, {
      path: ROUTES['openai-chat'],
      body: requestBody('openai-chat', true),
    });
    await expect.poll(() => provider.seen.length, { timeout: 100_000 }).toBe(1);
    const closing = gateway.close(30_000);
    setTimeout(() => finish(), 20);
    const answer = await running;
    expect(answer.text).toBe(streamedReply('openai-chat').join(''));
    await closing;
    await expect(ask(gateway.port, { path: '/healthz', method: 'GET' })).rejects.toThrow();
  });
});
