import type { IncomingHttpHeaders } from 'node:http';

const MAX_LENGTH = 256;

/** The idempotency key: the same for a request and all its retries. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['x-idempotency-key'];
  return typeof key === 'string' && key !== '' && key.length <= MAX_LENGTH ? key : undefined;
}
