import { describe, expect, it } from 'vitest';
import { createGatewayClient, type GatewayClientOptions } from '../../lab/suites/gateway-client.ts';
import type { ChatEvent } from '../../src/core/chat.ts';
import { createManualClock } from '../../src/core/clock.ts';
import type { CallerIdentity } from '../../src/core/gateway-client.ts';
import { wires } from '../../src/wire/wires.ts';
import { closedPort } from '../support/provider.ts';
import {
  createSignal,
  openExchange,
  REQUEST,
  type Reply,
  sendJson,
  startProvider,
  until,
} from './provider.ts';

const wire = wires['openai-chat'];
const SPEAKER: CallerIdentity = { session: 's-1', agent: 'ada', runKind: 'bench' };
const EVENTS: readonly ChatEvent[] = [
  { type: 'reply-start', id: 'r', model: 'm' },
  { type: 'text-delta', text: 'Looking. ' },
  { type: 'tool-start', id: 'c1', name: 'run_command' },
  { type: 'tool-delta', id: 'c1', json: '{"command":' },
  { type: 'tool-delta', id: 'c1', json: '"ls"}' },
  { type: 'tool-start', id: 'c2', name: 'other' },
  { type: 'reply-end', stop: 'tool-calls', usage: { inputTokens: 10, outputTokens: 4 } },
];
const MARKS = { 'x-instar-turn': 't_1', 'x-instar-generation': '12', 'x-instar-lessons': 'a,b' };

const whole = sendJson(200, wire.encodeReply(EVENTS), MARKS);
const streamed: Reply = (response) => {
  const encoder = wire.createStreamEncoder({ stream_options: { include_usage: true } });
  response.writeHead(200, { 'content-type': 'text/event-stream', ...MARKS });
  for (const event of EVENTS) response.write(encoder.encode(event));
  response.end();
};
const reset: Reply = (response) => response.destroy();

const speakTo = (origin: string, more: Partial<GatewayClientOptions> = {}) =>
  createGatewayClient({
    exchange: openExchange(),
    wire,
    gateway: { origin, basePath: '/v1' },
    credentials: () => ({ authorization: 'Bearer k' }),
    clock: createManualClock(),
    ...more,
  });

describe('the gateway client', () => {
  it('identifies itself in headers and requests a complete reply (not a stream) by default', async () => {
    const gateway = await startProvider(whole);
    const speaker = { ...SPEAKER, domain: 'files', project: '/srv/größe', isLast: true };
    await speakTo(gateway.origin)(REQUEST, speaker, createSignal());
    const [sent] = gateway.received;
    expect(sent).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
    expect(sent?.headers).toMatchObject({
      authorization: 'Bearer k',
      'x-instar-session': 's-1',
      'x-instar-agent': 'ada',
      'x-instar-run-kind': 'bench',
      'x-instar-domain': 'files',
      'x-instar-session-done': 'true',
    });
    expect(Buffer.from(String(sent?.headers['x-instar-project']), 'latin1').toString()).toBe('/srv/größe');
    const body = JSON.parse(sent?.body ?? '');
    expect(body.stream ?? false).toBe(false);
    expect(wire.decodeRequest(body)).toEqual({ ...REQUEST, stream: false });
  });

  it('leaves out headers without a value', async () => {
    const gateway = await startProvider(whole);
    await speakTo(gateway.origin)(REQUEST, { ...SPEAKER, isLast: false }, createSignal());
    const names = Object.keys(gateway.received[0]?.headers ?? {}).filter((name) =>
      name.startsWith('x-instar'),
    );
    expect(names.sort()).toEqual(['x-instar-agent', 'x-instar-run-kind', 'x-instar-session']);
  });

  it.each([
    ['whole', whole, false],
    ['streamed', streamed, true],
  ] as const)('reads a %s reply, its calls and what the gateway says of it', async (_, reply, stream) => {
    const gateway = await startProvider(reply);
    expect(await speakTo(gateway.origin, { stream })(REQUEST, SPEAKER, createSignal())).toEqual({
      text: 'Looking. ',
      calls: [
        { type: 'tool-call', id: 'c1', name: 'run_command', arguments: '{"command":"ls"}' },
        { type: 'tool-call', id: 'c2', name: 'other', arguments: '{}' },
      ],
      usage: { inputTokens: 10, outputTokens: 4 },
      turn: 't_1',
      generation: 12,
      lessons: ['a', 'b'],
    });
    expect(JSON.parse(gateway.received[0]?.body ?? '').stream ?? false).toBe(stream);
  });

  it('has no turn, no generation and no lessons when the reply has no such headers', async () => {
    const gateway = await startProvider(
      sendJson(200, wire.encodeReply(EVENTS), { 'x-instar-generation': 'seven' }),
    );
    const said = await speakTo(gateway.origin)(REQUEST, SPEAKER, createSignal());
    expect(said).toMatchObject({ lessons: [], text: 'Looking. ' });
    expect(Object.keys(said)).not.toContain('turn');
    expect(Object.keys(said)).not.toContain('generation');
  });

  it('keeps the id of a refused turn, with the failure as a value', async () => {
    const gateway = await startProvider(sendJson(429, { error: { message: 'slow down' } }, MARKS));
    expect(await speakTo(gateway.origin)(REQUEST, SPEAKER, createSignal())).toEqual({
      text: '',
      calls: [],
      failure: expect.objectContaining({ kind: 'rate-limited', message: 'slow down' }),
      turn: 't_1',
      generation: 12,
      lessons: ['a', 'b'],
    });
    expect(gateway.received).toHaveLength(1);
  });

  it('retries once when the connection is reset before any byte', async () => {
    const gateway = await startProvider(reset, whole);
    expect(await speakTo(gateway.origin)(REQUEST, SPEAKER, createSignal())).toMatchObject({ turn: 't_1' });
    expect(gateway.received).toHaveLength(2);
    expect(gateway.received[1]?.body).toBe(gateway.received[0]?.body);
  });

  it('retries only once (not forever)', async () => {
    const gateway = await startProvider(reset);
    const said = await speakTo(gateway.origin)(REQUEST, SPEAKER, createSignal());
    expect(said).toMatchObject({ text: '', calls: [], lessons: [], failure: { kind: 'unreachable' } });
    expect(gateway.received).toHaveLength(2);
  });

  it('does not retry once a reply has begun, and keeps the part that arrived', async () => {
    const gateway = await startProvider((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...MARKS });
      const encoder = wire.createStreamEncoder();
      response.write(
        EVENTS.slice(0, 2)
          .map((event) => encoder.encode(event))
          .join(''),
        () => response.destroy(),
      );
    });
    const said = await speakTo(gateway.origin, { stream: true })(REQUEST, SPEAKER, createSignal());
    expect(said).toMatchObject({ text: 'Looking. ', turn: 't_1', failure: { kind: 'truncated' } });
    expect(gateway.received).toHaveLength(1);
  });

  it('does not retry when only the head of a reply arrived', async () => {
    const gateway = await startProvider((response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...MARKS });
      response.flushHeaders();
      response.socket?.end();
    });
    const said = await speakTo(gateway.origin)(REQUEST, SPEAKER, createSignal());
    expect(said).toMatchObject({ text: '', turn: 't_1', failure: { kind: 'unreachable' } });
    expect(gateway.received).toHaveLength(1);
  });

  it.each([500, 503, 404])('does not retry a %i: the gateway has done that', async (status) => {
    const gateway = await startProvider(sendJson(status, { error: { message: 'no' } }));
    expect((await speakTo(gateway.origin)(REQUEST, SPEAKER, createSignal())).failure?.message).toBe('no');
    expect(gateway.received).toHaveLength(1);
  });

  it('reports a refused connection and an invalid header as a value', async () => {
    const origin = `http://127.0.0.1:${await closedPort()}`;
    const speak = speakTo(origin);
    expect((await speak(REQUEST, SPEAKER, createSignal())).failure?.kind).toBe('unreachable');
    const broken = { ...SPEAKER, agent: 'a\r\nx-evil: 1' };
    expect((await speak(REQUEST, broken, createSignal())).failure?.kind).toBe('bad-request');
  });

  it('disconnects at once when it is aborted', async () => {
    const leaving = new AbortController();
    let left = false;
    const gateway = await startProvider((response) => {
      response.on('close', () => {
        left = true;
      });
      leaving.abort();
    });
    const said = await speakTo(gateway.origin)(REQUEST, SPEAKER, leaving.signal);
    expect(said.failure?.kind).toBe('aborted');
    await until(() => left);
    expect(gateway.received).toHaveLength(1);
    expect((await speakTo(gateway.origin)(REQUEST, SPEAKER, leaving.signal)).failure?.kind).toBe('aborted');
    expect(gateway.received).toHaveLength(1);
  });

  it('stops reading a stream that never ends', async () => {
    const line = wire.createStreamEncoder();
    const start = line.encode(EVENTS[0] as ChatEvent);
    const chunk = line.encode({ type: 'text-delta', text: 'x'.repeat(256 * 1024) });
    let left = false;
    const gateway = await startProvider((response) => {
      response.on('close', () => {
        left = true;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(start);
      const more = (): void => {
        while (!left && response.write(chunk));
        if (!left) response.once('drain', more);
      };
      more();
    });
    const said = await speakTo(gateway.origin, { stream: true })(REQUEST, SPEAKER, createSignal());
    expect(said.failure?.message).toContain('longer than');
    await until(() => left);
  });
});
