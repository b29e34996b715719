import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { ChatEvent, ChatRequest } from '../../src/core/chat.ts';
import type { Exchange } from '../../src/core/upstream.ts';
import { createExchange } from '../../src/models/exchange.ts';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Reply = (response: ServerResponse, received: Received, request: IncomingMessage) => void;

/** A real server on loopback that answers the nth request with the nth reply, and the rest with the last. */
export async function startProvider(...replies: readonly Reply[]) {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const one = { method, path: url, headers, body: await text(request) };
    received.push(one);
    replies[Math.min(received.length, replies.length) - 1]?.(response, one, request);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  let connections = 0;
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port, received, connections: () => connections };
}

/** The shipped transport, closed with the test. Its time-outs are longer than a test's limit, so none decides a test. */
export function openExchange(): Exchange {
  const timeouts = { connectMs: 5_000, headersMs: 90_000, firstByteMs: 90_000, idleMs: 90_000 };
  const { exchange, close } = createExchange({ timeouts });
  onTestFinished(close);
  return exchange;
}

export const sendJson =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

export const sendEvents =
  (events: readonly ChatEvent[], headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end();
  };

export const START: ChatEvent = { type: 'reply-start', id: 'r1', model: 'm' };
export const END: ChatEvent = { type: 'reply-end', stop: 'end' };
export const say = (text: string): ChatEvent => ({ type: 'text-delta', text });
export const REPLY: readonly ChatEvent[] = [START, say('hello '), say('there'), END];

export const REQUEST: ChatRequest = {
  model: 'asked-for',
  system: [{ type: 'text', text: 'Be brief.' }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  tools: [],
  stream: true,
};

export const createSignal = (): AbortSignal => new AbortController().signal;

export async function collect(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const all: ChatEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

export function lastFailure(events: readonly ChatEvent[]) {
  const last = events.at(-1);
  if (last?.type !== 'failure') throw new Error(`ended with ${last?.type}, not with a failure`);
  return last.failure;
}

/** Polls until the condition holds; only the test's own time limit ends it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
