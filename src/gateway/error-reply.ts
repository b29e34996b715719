import type { ServerResponse } from 'node:http';
import type { Failure } from '../core/failure.ts';
import type { Wire } from '../core/wire.ts';
import { clientReplyHeaders } from './headers.ts';
import type { ProviderErrorReply, ReplyMarks, Turn } from './turn.ts';

const MAX_RETRY_AFTER_MS = 3_600_000;

/** Sends a failure in the caller's wire format, so that its SDK raises the error it would raise at the provider. */
export function sendFailure(
  response: ServerResponse,
  wire: Wire,
  failure: Failure,
  headers: ReplyMarks = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const body = Buffer.from(JSON.stringify(wire.encodeFailure(failure)));
  const retryAfter =
    failure.retryAfterMs === undefined
      ? {}
      : { 'retry-after': String(Math.ceil(Math.min(failure.retryAfterMs, MAX_RETRY_AFTER_MS) / 1000)) };
  response.writeHead(failure.status, {
    ...headers,
    ...retryAfter,
    'content-type': 'application/json',
    'content-length': body.length,
    // The unread rest of a body must not be parsed as the next request.
    ...(response.req.complete ? {} : { connection: 'close' }),
  });
  response.end(body);
}

/** Passes a provider's error on unchanged; one that is not JSON (a proxy's HTML page) is rewritten in the wire format. */
export function sendProviderError(
  { response, wire }: Pick<Turn, 'response' | 'wire'>,
  reply: ProviderErrorReply,
  failure: Failure,
  headers: ReplyMarks,
): void {
  if (!/\bjson\b/i.test(String(reply.headers['content-type'] ?? ''))) {
    const retryAfter = reply.headers['retry-after'];
    const stated = typeof retryAfter === 'string' ? { ...headers, 'retry-after': retryAfter } : headers;
    sendFailure(response, wire, failure, stated);
    return;
  }
  const own = clientReplyHeaders(reply.headers);
  response.writeHead(reply.status, { ...own, 'content-length': reply.body.length, ...headers });
  response.end(reply.body);
}
