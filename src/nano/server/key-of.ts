import type { IncomingHttpHeaders } from 'node:http';

const MAX_LENGTH = 256;

/** What a client writes on a request and on all its retries. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['x-idempotency-key'];
  return typeof key === 'string' && key !== '' && key.length <= MAX_LENGTH ? key : undefined;
}
