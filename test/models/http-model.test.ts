import { setTimeout as wait } from 'node:timers/promises';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ChatEvent, ChatRequest } from '../../src/core/chat.ts';
import { createManualClock } from '../../src/core/clock.ts';
import type { Exchange } from '../../src/core/upstream.ts';
import { createHttpModel, type HttpModelOptions } from '../../src/models/http-model.ts';
import { createPlainWire } from './plain-wire.ts';
import {
  collect,
  createSignal,
  END,
  lastFailure,
  openExchange,
  REPLY,
  REQUEST,
  type Reply,
  START,
  say,
  sendEvents,
  sendJson,
  startProvider,
  until,
} from './provider.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');

function createModel(origin: string, more: Partial<HttpModelOptions> = {}) {
  const wire = more.wire ?? createPlainWire();
  return createHttpModel({
    exchange: more.exchange ?? openExchange(),
    wire,
    upstream: { wire: wire.name, origin, basePath: '/base' },
    access: { kind: 'open' },
    clock: createManualClock(NOW),
    ...more,
  });
}

async function ask(reply: Reply, request: ChatRequest = REQUEST): Promise<ChatEvent[]> {
  const provider = await startProvider(reply);
  return collect(createModel(provider.origin)(request, { signal: createSignal() }));
}

const sendText =
  (status: number, type: string, body: string | Buffer, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { ...(type === '' ? {} : { 'content-type': type }), ...headers });
    response.end(body);
  };

const stream = (events: readonly ChatEvent[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

describe('the request', () => {
  it('goes to the base path plus the wire’s path, with the target’s model name', async () => {
    const provider = await startProvider(sendEvents(REPLY));
    await collect(createModel(provider.origin, { model: 'real' })(REQUEST, { signal: createSignal() }));
    const [sent] = provider.received;
    expect(sent).toMatchObject({ method: 'POST', path: '/base/talk' });
    expect(JSON.parse(sent?.body ?? '')).toEqual({ ...REQUEST, model: 'real' });
    expect(sent?.headers).toMatchObject({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    });
  });

  it('keeps the requested model name when the target has none', async () => {
    const provider = await startProvider(sendEvents(REPLY));
    await collect(createModel(provider.origin)(REQUEST, { signal: createSignal() }));
    expect(JSON.parse(provider.received[0]?.body ?? '')).toMatchObject({ model: 'asked-for' });
  });
});

describe('the reply', () => {
  it('is decoded from a stream of events', async () => {
    expect(await ask(sendEvents(REPLY))).toEqual(REPLY);
  });

  it('is decoded as one document when the server answers a streaming request with JSON', async () => {
    expect(await ask(sendJson(200, { events: REPLY }))).toEqual(REPLY);
  });

  it('is decoded as a stream when the server streams without being asked to', async () => {
    expect(await ask(sendEvents(REPLY), { ...REQUEST, stream: false })).toEqual(REPLY);
  });

  it('is decoded as JSON when the server sends no content-type', async () => {
    expect(await ask(sendText(200, '', JSON.stringify({ events: REPLY })))).toEqual(REPLY);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['GZIP', gzipSync],
  ] as const)(
    'is unpacked when the server sends %s although identity was asked for',
    async (encoding, pack) => {
      const headers = { 'content-encoding': encoding };
      expect(await ask(sendText(200, 'text/event-stream', pack(stream(REPLY)), headers))).toEqual(REPLY);
      expect(
        await ask(sendText(200, 'application/json', pack(JSON.stringify({ events: REPLY })), headers)),
      ).toEqual(REPLY);
      expect(
        lastFailure(await ask(sendText(429, 'application/json', pack('{"error":"slow down"}'), headers))),
      ).toMatchObject({
        kind: 'rate-limited',
        message: 'slow down',
      });
    },
  );

  it('yields the events of a compressed stream as they arrive (not at its end)', async () => {
    let finish = (): void => undefined;
    const provider = await startProvider((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write(stream([START, say('early')]));
      gzip.flush();
      finish = () => gzip.end(stream([END]));
    });
    const events = createModel(provider.origin)(REQUEST, { signal: createSignal() })[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual(START);
    expect((await events.next()).value).toEqual(say('early'));
    finish();
    expect((await events.next()).value).toEqual(END);
    expect((await events.next()).done).toBe(true);
  });

  it('is truncated when a compressed reply breaks off', async () => {
    const cut = gzipSync(
      stream([START, ...Array.from({ length: 200 }, (_, i) => say(`${i} ${Math.sin(i)}`)), END]),
    );
    const reply = sendText(200, 'text/event-stream', cut.subarray(0, cut.length - 20), {
      'content-encoding': 'gzip',
    });
    expect(lastFailure(await ask(reply)).kind).toBe('truncated');
  });

  it('fails for an unsupported encoding, and for one that differs from the headers', async () => {
    const zstd = sendText(200, 'application/json', 'x', { 'content-encoding': 'zstd' });
    expect(lastFailure(await ask(zstd))).toMatchObject({ kind: 'upstream-error', final: true });
    const lie = sendText(200, 'application/json', '{"events":[]}', { 'content-encoding': 'gzip' });
    expect(lastFailure(await ask(lie)).kind).toBe('upstream-error');
  });

  it('ends with one terminal event whatever follows it', async () => {
    const provider = await startProvider(sendEvents([...REPLY, say('more'), END, END]));
    expect(await collect(createModel(provider.origin)(REQUEST, { signal: createSignal() }))).toEqual(REPLY);
  });

  it('ends with a truncated failure when the stream or the document has no terminal event', async () => {
    expect(lastFailure(await ask(sendEvents([START, say('half')]))).kind).toBe('truncated');
    expect(lastFailure(await ask(sendJson(200, { events: [START] }))).kind).toBe('truncated');
  });

  it('yields the events before a broken connection, then the failure', async () => {
    const events = await ask((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(stream([START, say('half')]), () => response.socket?.destroy());
    });
    expect(events.slice(0, 2)).toEqual([START, say('half')]);
    expect(lastFailure(events).kind).toBe('truncated');
    expect(events).toHaveLength(3);
  });

  it('leaves the connection usable after its last event (not one connection per request)', async () => {
    const provider = await startProvider(sendEvents(REPLY));
    const inner = openExchange();
    let ended = 0;
    const exchange: Exchange = (request, sink) =>
      inner(request, {
        onHead: (status, headers) => sink.onHead(status, headers),
        onChunk: (chunk) => sink.onChunk(chunk),
        onFailure: (failure) => sink.onFailure(failure),
        onEnd: () => {
          ended++;
          sink.onEnd();
        },
      });
    const model = createModel(provider.origin, { exchange });
    for (let i = 0; i < 5; i++) {
      await collect(model(REQUEST, { signal: createSignal() }));
      await until(() => ended === i + 1);
      // undici offers a connection again one turn of the event loop after the reply's end.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(provider.connections()).toBe(1);
  });

  it('closes a connection whose server keeps sending after the last event', async () => {
    let closed = false;
    const provider = await startProvider((response) => {
      response.on('close', () => {
        closed = true;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const go = () => {
        while (!closed && response.write(`: ${'x'.repeat(8_192)}\n\n`));
      };
      response.on('drain', go);
      response.write(stream(REPLY));
      go();
    });
    expect(await collect(createModel(provider.origin)(REQUEST, { signal: createSignal() }))).toEqual(REPLY);
    await until(() => closed);
  });
});

describe('a failure', () => {
  it('has the provider’s message and status', async () => {
    expect(lastFailure(await ask(sendJson(400, { error: 'prompt is too long' })))).toMatchObject({
      kind: 'bad-request',
      status: 400,
      message: 'prompt is too long',
    });
  });

  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Sun, 15 Nov 2026 12:00:09 GMT' }, 9_000],
    [{ 'retry-after': 'Sun, 15 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '1250', 'retry-after': '7' }, 1_250],
    [{ 'retry-after-ms': 'soon', 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'later' }, undefined],
    [{ 'retry-after': '9'.repeat(70) }, undefined],
    [{}, undefined],
  ])('reads %o as a pause of %s ms', async (headers, ms) => {
    expect(lastFailure(await ask(sendJson(429, { error: 'busy' }, headers))).retryAfterMs).toBe(ms);
  });

  it('is final when the provider marks it so', async () => {
    expect(lastFailure(await ask(sendJson(500, { error: 'no' }, { 'x-should-retry': 'false' }))).final).toBe(
      true,
    );
    expect(
      lastFailure(await ask(sendJson(500, { error: 'no' }, { 'x-should-retry': 'true' }))).final,
    ).toBeUndefined();
  });

  it('is read up to 1 MiB, and the connection of a server that sends more is closed', async () => {
    let closed = false;
    const failure = lastFailure(
      await ask((response) => {
        response.on('close', () => {
          closed = true;
        });
        response.writeHead(500, { 'content-type': 'text/plain' });
        const go = () => {
          while (!closed && response.write('x'.repeat(65_536)));
        };
        response.on('drain', go);
        go();
      }),
    );
    expect(failure.message).toBe('HTTP 500 (1048576 characters)');
    await until(() => closed);
  });

  it('keeps its status when the connection breaks in its body', async () => {
    const failure = lastFailure(
      await ask((response) => {
        response.writeHead(503, { 'content-type': 'text/plain', 'content-length': '100' });
        response.write('half', () => response.socket?.destroy());
      }),
    );
    expect(failure).toMatchObject({ kind: 'overloaded', status: 503 });
  });

  it('for a redirect names the fix, and the redirect is not followed', async () => {
    const elsewhere = await startProvider(sendEvents(REPLY));
    const failure = lastFailure(
      await ask((response) => {
        response.writeHead(307, { location: `${elsewhere.origin}/secret?token=1` });
        response.end();
      }),
    );
    expect(failure).toMatchObject({ kind: 'upstream-error', final: true });
    expect(failure.message).toContain(elsewhere.origin);
    expect(failure.message).toContain('baseUrl');
    expect(failure.message).not.toContain('token');
    expect(elsewhere.received).toEqual([]);
  });

  it('for an HTML page has one short plain line', async () => {
    const page = `<html><body><h1>Sign in\u001b[31m</h1>\r\n<p>${'to the hotel network '.repeat(50)}</p></body></html>`;
    const { kind, message } = lastFailure(await ask(sendText(200, 'text/html', page)));
    expect(kind).toBe('upstream-error');
    expect(message).toContain('text/html instead of a reply: Sign in');
    expect(message.length).toBeLessThan(400);
    expect(message).not.toMatch(/[<>\p{Cc}]/u);
  });

  it.each(['', 'null', '[]', '{"events":', 'plain words'])(
    'in JSON that is none (%s) is an upstream error',
    async (body) => {
      expect(lastFailure(await ask(sendText(200, 'application/json', body))).kind).toBe('upstream-error');
    },
  );

  it('to connect is a value (not an exception)', async () => {
    const model = createModel('http://127.0.0.1:1');
    expect(await collect(model(REQUEST, { signal: createSignal() }))).toMatchObject([
      { type: 'failure', failure: { kind: 'unreachable' } },
    ]);
  });

  it('that the transport reports before it returns is one event', async () => {
    const exchange: Exchange = (_request, sink) => {
      sink.onFailure({ kind: 'bad-request', status: 400, message: 'no such header' });
      return { resume: () => undefined, abort: () => undefined };
    };
    const model = createModel('http://127.0.0.1:1', { exchange });
    expect(await collect(model(REQUEST, { signal: createSignal() }))).toMatchObject([
      { type: 'failure', failure: { message: 'no such header' } },
    ]);
  });

  it('before the request, such as a missing key, is a value too', async () => {
    const credentials = () => {
      throw new Error('OPENAI_API_KEY is not set');
    };
    const model = createModel('http://127.0.0.1:1', { access: { kind: 'own', credentials } });
    expect(await collect(model(REQUEST, { signal: createSignal() }))).toMatchObject([
      { type: 'failure', failure: { kind: 'internal', message: 'OPENAI_API_KEY is not set' } },
    ]);
  });
});

describe('an abort', () => {
  /** Sends two events, then nothing; reports when its client has disconnected. */
  async function startSilent() {
    let gone = false;
    const provider = await startProvider((response) => {
      response.on('close', () => {
        gone = true;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(stream([START, say('a')]));
    });
    return { ...provider, isGone: () => gone };
  }

  it('by breaking out of the loop ends the exchange', async () => {
    const provider = await startSilent();
    for await (const event of createModel(provider.origin)(REQUEST, { signal: createSignal() })) {
      if (event.type === 'text-delta') break;
    }
    await until(provider.isGone);
  });

  it('in the middle of a pending read ends the exchange at once (not at the next byte)', async () => {
    const provider = await startSilent();
    const events = createModel(provider.origin)(REQUEST, { signal: createSignal() })[Symbol.asyncIterator]();
    await events.next();
    await events.next();
    const pending = events.next();
    await events.return?.();
    expect((await pending).value).toMatchObject({ type: 'failure', failure: { kind: 'aborted' } });
    await until(provider.isGone);
  });

  it('by the signal gives one aborted failure and ends the exchange', async () => {
    const provider = await startSilent();
    const leaving = new AbortController();
    const events: ChatEvent[] = [];
    for await (const event of createModel(provider.origin)(REQUEST, { signal: leaving.signal })) {
      events.push(event);
      if (event.type === 'text-delta') setImmediate(() => leaving.abort());
    }
    expect(events).toMatchObject([START, say('a'), { type: 'failure', failure: { kind: 'aborted' } }]);
    await until(provider.isGone);
  });

  it('before the head arrives ends the exchange', async () => {
    let gone = false;
    const provider = await startProvider((response) => {
      response.on('close', () => {
        gone = true;
      });
    });
    const leaving = new AbortController();
    const reply = collect(createModel(provider.origin)(REQUEST, { signal: leaving.signal }));
    await until(() => provider.received.length === 1);
    leaving.abort();
    expect(lastFailure(await reply).kind).toBe('aborted');
    await until(() => gone);
  });

  it('before the start sends nothing', async () => {
    const provider = await startProvider(sendEvents(REPLY));
    const events = await collect(createModel(provider.origin)(REQUEST, { signal: AbortSignal.abort() }));
    expect(events).toMatchObject([{ type: 'failure', failure: { kind: 'aborted' } }]);
    expect(provider.received).toEqual([]);
  });
});

describe('a slow reader', () => {
  it.each(['identity', 'gzip'])(
    'holds the provider back (%s), and then gets every event',
    async (encoding) => {
      const COUNT = 3_000;
      const word = 'x'.repeat(8_000);
      const provider = await startProvider((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding });
        const out = encoding === 'gzip' ? createGzip({ level: 0 }) : response;
        if (out !== response) out.pipe(response);
        let sent = 0;
        const go = () => {
          while (sent < COUNT && out.write(stream([say(`${sent++} ${word}`)])));
          if (sent === COUNT) out.end(stream([END]));
        };
        out.on('drain', go);
        out.write(stream([START]));
        go();
      });
      let taken = 0;
      const inner = openExchange();
      const counting: Exchange = (request, sink) =>
        inner(request, {
          onHead: (status, headers) => sink.onHead(status, headers),
          onEnd: () => sink.onEnd(),
          onFailure: (failure) => sink.onFailure(failure),
          onChunk: (chunk) => {
            taken += chunk.length;
            return sink.onChunk(chunk);
          },
        });
      const model = createModel(provider.origin, { exchange: counting });
      const events = model(REQUEST, { signal: createSignal() })[Symbol.asyncIterator]();
      expect((await events.next()).value).toEqual(START);
      for (let before = -1; before !== taken; await wait(100)) before = taken;
      expect(taken).toBeLessThan(1_024 * 1_024);
      let words = 0;
      for (let next = await events.next(); !next.done; next = await events.next()) {
        if (next.value.type === 'text-delta') expect(next.value.text.split(' ')[0]).toBe(String(words++));
      }
      expect(words).toBe(COUNT);
      expect(taken).toBeGreaterThan(COUNT * word.length);
    },
  );
});
