import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Payload, Reply } from './route.ts';

export function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: Reply,
): void {
  if (response.destroyed) return;
  const payload = toPayload(body);
  response.writeHead(status, {
    ...headers,
    ...(payload === undefined ? {} : { 'content-type': payload.type }),
    ...(status === 204 ? {} : { 'content-length': payload?.bytes.length ?? 0 }),
    // The unread rest of a body must not be parsed as the next request.
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(payload?.bytes);
}

function toPayload(body: Reply['body']): Payload | undefined {
  if (body === undefined || isPayload(body)) return body;
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) };
}

const isPayload = (body: NonNullable<Reply['body']>): body is Payload => body.bytes instanceof Uint8Array;
