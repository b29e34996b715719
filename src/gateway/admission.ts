import type { Socket } from 'node:net';
import { defaultRetryRule, type RetryRule } from '../core/retry.ts';

/** One admitted request; `hold` counts the bytes it keeps in memory. */
export interface AdmissionSlot {
  /** False when the bytes would exceed a memory limit. */
  hold(bytes: number): boolean;
  /** Watches the body of the request while it arrives; `onSlow` is called when it arrives too slowly. */
  watch(onSlow: () => void): BodyProgress;
  leave(): void;
}

/** What is known about a request when its headers have arrived. */
export interface AdmissionRequest {
  /** Whether the caller was verified by its headers alone. */
  readonly isKnown: boolean;
  /** The connection of the request: callers that are not known are limited by connection, too. */
  readonly connection?: object;
  /** A request to Instar itself: these have room of their own, so that requests to models never block them. */
  readonly isApi?: boolean;
  /** An attempt at a practice task: it is no sign of a person at work. */
  readonly isPractice?: boolean;
}

export interface Admission {
  /** Undefined when there is no room or the gateway drains, so that the caller is refused at once instead of hanging. */
  enter(request: AdmissionRequest): AdmissionSlot | undefined;
  /** Requests to models. */
  readonly inFlight: number;
  /** Admits no further request; resolves when the last one has left. */
  drain(): Promise<void>;
}

/** The limits are read for each request, so that they can change. */
export interface AdmissionOptions {
  readonly maxInFlight: number;
  readonly maxBodyBytes: number;
  readonly monotonic: () => number;
  /** For tests. */
  readonly pace?: { readonly known: BodyPaceRule; readonly unknown: BodyPaceRule };
}

/** What all requests of one kind may use together. */
interface Pool {
  readonly mostRequests: () => number;
  readonly mostBytes: () => number;
  requests: number;
  bytes: number;
}

/** What one connection of a caller that is not known uses. */
interface ConnectionUse {
  requests: number;
  bytes: number;
}

/** Bodies of known callers that fit into memory at once; of all others together. */
const KNOWN_BODIES = 8;
const UNKNOWN_BODIES = 2;
/** Callers that are not known share this part of the requests, but never fewer than a few. */
const UNKNOWN_SHARE = 0.25;
const FEW_REQUESTS = 64;
/** Pipelined requests of one connection. */
const MOST_PER_CONNECTION = 8;
const API_REQUESTS = 256;
const API_BYTES = 64 * 1024 * 1024;

const PACE = {
  known: { graceMs: 30_000, bytesPerSecond: 512 },
  unknown: { graceMs: 5_000, bytesPerSecond: 4096 },
};

/**
 * Three pools: callers that are known by their headers, all others, and requests to Instar itself. However many requests
 * of unknown callers are held open, they use up only their own pool.
 */
export function createAdmission(options: AdmissionOptions): Admission {
  const { pace: rules = PACE } = options;
  const known = createPool(
    () => options.maxInFlight,
    () => KNOWN_BODIES * options.maxBodyBytes,
  );
  const unknown = createPool(
    () => shareOfUnknown(options.maxInFlight),
    () => UNKNOWN_BODIES * options.maxBodyBytes,
  );
  const api = createPool(
    () => API_REQUESTS,
    () => API_BYTES,
  );
  const pace = createBodyPace(options.monotonic);
  const connections = new WeakMap<object, ConnectionUse>();
  const useOf = (connection: object | undefined): ConnectionUse => {
    const use = (connection && connections.get(connection)) ?? { requests: 0, bytes: 0 };
    if (connection !== undefined) connections.set(connection, use);
    return use;
  };
  let onEmpty: (() => void) | undefined;
  let draining = false;
  const isEmpty = (): boolean => known.requests + unknown.requests + api.requests === 0;

  return {
    get inFlight() {
      return known.requests + unknown.requests;
    },
    enter: ({ isKnown, connection, isApi = false }) => {
      const pool = !isKnown ? unknown : isApi ? api : known;
      const use = isKnown ? undefined : useOf(connection);
      if (draining || pool.requests >= pool.mostRequests()) return undefined;
      if (use !== undefined && use.requests >= MOST_PER_CONNECTION) return undefined;
      pool.requests++;
      if (use !== undefined) use.requests++;
      let held = 0;
      let isInside = true;
      return {
        hold: (bytes) => {
          if (pool.bytes + bytes > pool.mostBytes()) return false;
          if (use !== undefined && use.bytes + bytes > options.maxBodyBytes) return false;
          pool.bytes += bytes;
          held += bytes;
          if (use !== undefined) use.bytes += bytes;
          return true;
        },
        watch: (onSlow) => pace.watch(isKnown ? rules.known : rules.unknown, onSlow),
        leave: () => {
          if (!isInside) return;
          isInside = false;
          pool.bytes -= held;
          pool.requests--;
          if (use !== undefined) {
            use.bytes -= held;
            use.requests--;
          }
          if (isEmpty()) onEmpty?.();
        },
      };
    },
    drain: () => {
      draining = true;
      return isEmpty() ? Promise.resolve() : new Promise((resolve) => (onEmpty = resolve));
    },
  };
}

const shareOfUnknown = (maxInFlight: number): number =>
  Math.max(Math.min(maxInFlight, FEW_REQUESTS), Math.ceil(maxInFlight * UNKNOWN_SHARE));

const createPool = (mostRequests: () => number, mostBytes: () => number): Pool => ({
  mostRequests,
  mostBytes,
  requests: 0,
  bytes: 0,
});

/**
 * The same admission; `notice` is told how many requests are in flight whenever one comes or leaves. Attempts at practice tasks
 * are not counted: they are no sign of a person.
 */
export function watchAdmission(admission: Admission, notice: (inFlight: number) => void): Admission {
  let practising = 0;
  const tell = (): void => notice(admission.inFlight - practising);
  return {
    get inFlight() {
      return admission.inFlight;
    },
    enter: (request) => {
      const visit = admission.enter(request);
      const { isPractice = false } = request;
      if (visit !== undefined && isPractice) practising++;
      if (!isPractice) tell();
      let isInside = visit !== undefined;
      return (
        visit && {
          ...visit,
          leave: () => {
            visit.leave();
            if (isInside && isPractice) practising--;
            isInside = false;
            if (!isPractice) tell();
          },
        }
      );
    },
    drain: admission.drain,
  };
}

export interface GatewayLimits {
  readonly maxInFlight: number;
  readonly maxBodyBytes: number;
  readonly maxMessages: number;
  readonly retry: RetryRule;
}

/** Beyond what agents send, and within what two cores and the memory of a small server hold. */
export const GATEWAY_LIMITS: GatewayLimits = {
  /** Further requests are asked to retry later. */
  maxInFlight: 2000,
  /** A conversation with a dozen images. */
  maxBodyBytes: 64 * 1024 * 1024,
  /** The longest sessions of coding agents have about 3,000. */
  maxMessages: 10_000,
  retry: defaultRetryRule,
};

/** The slowest average at which a body may arrive, once the grace period is over. */
export interface BodyPaceRule {
  readonly graceMs: number;
  readonly bytesPerSecond: number;
}

/** One body that is being received. */
export interface BodyProgress {
  received(bytes: number): void;
  /** The body is complete, refused or abandoned. */
  end(): void;
}

export interface BodyPace {
  /** `onSlow` is called at most once, when the average since the start is below the rule. */
  watch(rule: BodyPaceRule, onSlow: () => void): BodyProgress;
}

const SWEEP_MS = 500;

interface WatchedBody extends BodyProgress {
  readonly rule: BodyPaceRule;
  readonly startedAt: number;
  readonly onSlow: () => void;
  bytes: number;
}

/**
 * Finds bodies that arrive too slowly. One timer for all of them, which runs only while there are any; `monotonic` is
 * read once per body and once per sweep.
 */
function createBodyPace(monotonic: () => number): BodyPace {
  const bodies = new Set<WatchedBody>();
  let timer: NodeJS.Timeout | undefined;

  const sweep = (): void => {
    const now = monotonic();
    for (const body of bodies) {
      const { rule, startedAt, bytes, onSlow } = body;
      const elapsed = now - startedAt;
      if (elapsed <= rule.graceMs || bytes * 1000 >= rule.bytesPerSecond * elapsed) continue;
      bodies.delete(body);
      onSlow();
    }
    if (bodies.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    watch: (rule, onSlow) => {
      const body: WatchedBody = {
        rule,
        onSlow,
        startedAt: monotonic(),
        bytes: 0,
        received: (bytes) => {
          body.bytes += bytes;
        },
        end: () => void bodies.delete(body),
      };
      bodies.add(body);
      if (timer === undefined) {
        timer = setInterval(sweep, SWEEP_MS);
        timer.unref();
      }
      return body;
    },
  };
}

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
