import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createLruMap } from '../base/lru-map.ts';
import { credentialHeaders } from './headers.ts';

/**
 * Limits connections whose peer has not been verified and that are not being served: they are still sending headers or a
 * body, or are idle. Beyond the limit the oldest of them is closed, so that a new caller can always connect. Many callers that connect
 * at the same moment get time to send their headers first: those may have a key.
 */
export interface ConnectionLimit {
  opened(socket: Socket): void;
  /** A request was received completely and is being served: until `idle` the connection does not count. */
  serving(socket: Socket): void;
  /** The request was answered. */
  idle(socket: Socket): void;
  /** The peer is verified: its connection never counts again. */
  trust(socket: Socket): void;
}

interface ConnectionLimitOptions {
  readonly most: number;
  readonly monotonic: () => number;
  /** Closes a connection; a request whose headers were read is answered. */
  readonly close: (socket: Socket) => void;
}

/** How long a connection may be open before it makes room for another; with `MOST_AT_ONCE` times as many it has to at once. */
const GRACE_MS = 5000;
const MOST_AT_ONCE = 4;
const LATE_MS = 500;

export function createConnectionLimit({ most, monotonic, close }: ConnectionLimitOptions): ConnectionLimit {
  /** Since when each has counted; the oldest first. */
  const counted = new Map<Socket, number>();
  const trusted = new WeakSet<Socket>();
  let isScheduled = false;
  const makeRoom = (): void => {
    for (const [socket, since] of counted) {
      if (counted.size <= most) return;
      const waitMs = since + GRACE_MS - monotonic();
      if (waitMs > 0 && counted.size <= MOST_AT_ONCE * most) {
        schedule(waitMs);
        return;
      }
      counted.delete(socket);
      close(socket);
    }
  };
  const schedule = (waitMs: number): void => {
    if (isScheduled) return;
    isScheduled = true;
    const due = monotonic() + waitMs;
    setTimeout(() => {
      isScheduled = false;
      // When this process is late, so is what it reads: headers may have arrived long ago.
      if (monotonic() > due + LATE_MS) schedule(GRACE_MS);
      else makeRoom();
    }, waitMs).unref();
  };
  const count = (socket: Socket): void => {
    counted.delete(socket);
    counted.set(socket, monotonic());
    if (counted.size > most) makeRoom();
  };
  return {
    opened: (socket) => {
      count(socket);
      socket.once('close', () => counted.delete(socket));
    },
    serving: (socket) => void counted.delete(socket),
    idle: (socket) => {
      if (!trusted.has(socket) && !socket.destroyed) count(socket);
    },
    trust: (socket) => {
      if (trusted.has(socket)) return;
      trusted.add(socket);
      counted.delete(socket);
    },
  };
}

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
