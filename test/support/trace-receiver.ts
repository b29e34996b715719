import http, { type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import {
  type ProtobufField,
  protobufBytes,
  protobufDouble,
  protobufFields,
  protobufInteger,
  protobufText,
} from '../../src/base/protobuf.ts';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly error: string | undefined;
}

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly spans: readonly ReceivedSpan[];
}

export interface TraceReceiver {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Of all requests that were answered with 2xx. */
  spans(): readonly ReceivedSpan[];
  close(): Promise<void>;
}

/** How one request is answered; `nth` counts from 1. By default each is taken. */
export type TraceReply = (nth: number, response: ServerResponse, socket: Socket) => void;

const take: TraceReply = (_nth, response) => {
  response.writeHead(200, { 'content-type': 'application/x-protobuf' });
  response.end();
};

/** A real HTTP server that reads OTLP in protobuf by the field numbers of its schema. */
export async function startTraceReceiver(
  reply: TraceReply = take,
  tls?: { readonly key: Buffer; readonly cert: Buffer },
): Promise<TraceReceiver> {
  const requests: ReceivedRequest[] = [];
  const taken: ReceivedSpan[] = [];
  const sockets = new Set<Socket>();
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { resource, spans } = decodeTraces(body);
      requests.push({ path: request.url ?? '', headers: request.headers, body, resource, spans });
      response.on('finish', () => {
        if (response.statusCode < 300) taken.push(...spans);
      });
      reply(requests.length, response, request.socket);
    });
  };
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    requests,
    spans: () => taken,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const all = (message: Uint8Array, number: number): readonly ProtobufField[] =>
  [...protobufFields(message)].filter((field) => field.number === number);
const inner = (message: Uint8Array, number: number): readonly Uint8Array[] =>
  all(message, number).map(protobufBytes);
const text = (message: Uint8Array, number: number): string => all(message, number).map(protobufText)[0] ?? '';
const hex = (message: Uint8Array, number: number): string =>
  Buffer.from(inner(message, number)[0] ?? []).toString('hex');
const milliseconds = (message: Uint8Array, number: number): number =>
  Number((all(message, number)[0]?.bits ?? 0n) / 1_000_000n);

export function decodeTraces(body: Uint8Array): Pick<ReceivedRequest, 'resource' | 'spans'> {
  const groups = inner(body, 1);
  return {
    resource: Object.assign(
      {},
      ...groups.flatMap((group) => inner(group, 1).map((one) => attributes(one, 1))),
    ),
    spans: groups.flatMap((group) => inner(group, 2).flatMap((scope) => inner(scope, 2).map(decodeSpan))),
  };
}

const decodeSpan = (span: Uint8Array): ReceivedSpan => ({
  traceId: hex(span, 1),
  spanId: hex(span, 2),
  parentSpanId: hex(span, 4),
  name: text(span, 5),
  kind: all(span, 6).map(protobufInteger)[0] ?? 0,
  startedAt: milliseconds(span, 7),
  endedAt: milliseconds(span, 8),
  attributes: attributes(span, 9),
  events: inner(span, 11).map((event) => ({ name: text(event, 2), attributes: attributes(event, 3) })),
  links: inner(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
  error: inner(span, 15).map((status) => text(status, 2))[0],
});

const attributes = (message: Uint8Array, number: number): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    inner(message, number).map((entry) => [text(entry, 1), inner(entry, 2).map(decodeValue)[0]]),
  );

function decodeValue(value: Uint8Array): unknown {
  const [field] = protobufFields(value);
  if (field === undefined) return undefined;
  if (field.number === 1) return protobufText(field);
  if (field.number === 2) return protobufInteger(field) === 1;
  if (field.number === 3) return protobufInteger(field);
  if (field.number === 4) return protobufDouble(field);
  return inner(protobufBytes(field), 1).map(decodeValue);
}
