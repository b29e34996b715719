import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createLruMap } from '../base/lru-map.ts';
import { credentialHeaders } from './headers.ts';

/** Callers' own credentials that a provider accepted a short time ago. Only their digests are kept, in memory. */
export interface AcceptedCredentials {
  has(request: IncomingMessage): boolean;
  add(request: IncomingMessage): void;
}

const MOST = 1000;
const VALID_MS = 3_600_000;

export function createAcceptedCredentials(monotonic: () => number): AcceptedCredentials {
  const until = createLruMap<string, number>(MOST);
  return {
    has: (request) => {
      const name = digestOf(request);
      return name !== undefined && (until.get(name) ?? Number.NEGATIVE_INFINITY) > monotonic();
    },
    add: (request) => {
      const name = digestOf(request);
      if (name !== undefined) until.set(name, monotonic() + VALID_MS);
    },
  };
}

function digestOf({ headers }: IncomingMessage): string | undefined {
  const values = Object.values(credentialHeaders(headers));
  return values.length === 0
    ? undefined
    : createHash('sha256').update(JSON.stringify(values)).digest('base64url');
}
