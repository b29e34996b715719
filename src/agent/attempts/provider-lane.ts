import type { Clock } from '../../core/clock.ts';

/** How many attempts one provider is given at a time. */
export interface LaneLimits {
  /** At the beginning; 4 by default. */
  readonly start: number;
  /** 64 by default. */
  readonly most: number;
}

export const DEFAULT_LANE_LIMITS: LaneLimits = { start: 4, most: 64 };

/** How an attempt ended, for the provider's limit. */
export type LaneReport =
  | { readonly is: 'healthy' }
  /** The provider refused it, and perhaps said when to come back. */
  | { readonly is: 'limited'; readonly retryAfterMs?: number }
  /** It failed otherwise. */
  | { readonly is: 'failed' };

/** A place in flight. */
interface LanePlace {
  /** Only the first call counts. */
  leave(report: LaneReport): void;
}

export interface LaneState {
  readonly inFlight: number;
  readonly waiting: number;
  readonly limit: number;
  /** Until when nothing is sent, on the monotonic clock. */
  readonly pausedUntil?: number;
}

/** One provider's attempts: first come, first served, as many at a time as it has proved to take. */
export interface ProviderLane {
  /** A place, or undefined when the signal aborts. `isFirst`: before those that wait already. */
  enter(signal: AbortSignal, isFirst?: boolean): Promise<LanePlace | undefined>;
  state(): LaneState;
  /** Called when a pause begins or ends, and when it becomes longer. */
  onPause(listener: (pausedUntil: number | undefined) => void): void;
}

/** After a refusal the limit falls to what the provider does serve; while it was doubled, or at once again, to this share. */
const CUT = 0.85;
/** Near the number at which the provider refused before, the limit grows this much slower. */
const CAREFUL = 0.2;
/** So many failures in a row that are nobody's limit: the provider, or the way to it, is broken. */
const MOST_FAILURES = 5;
const BREAK_MS = 1000;
const LONGEST_BREAK_MS = 60_000;

interface Waiter {
  readonly start: (place: LanePlace | undefined) => void;
}

/** How many attempts may be in flight. */
interface AdaptiveLimit {
  current(): number;
  grow(): void;
  /** `inFlight`: what the provider still serves. */
  shrink(inFlight: number): void;
}

/**
 * Additive increase, multiplicative decrease. Until the first refusal the limit doubles with every round. A refusal lowers it
 * to the number that the provider serves, and by a share when that was too much again. Then it grows by one a round, and
 * slowly near the number that was too much.
 */
function createAdaptiveLimit({ start, most }: LaneLimits): AdaptiveLimit {
  let limit = Math.max(1, Math.min(start, most));
  /** The limit at which the provider refused. */
  let ceiling = Number.POSITIVE_INFINITY;
  let isDoubling = true;
  let afterCut = 0;
  return {
    current: () => Math.floor(limit),
    grow: () => {
      const step = isDoubling ? 1 : (limit >= ceiling - 2 ? CAREFUL : 1) / limit;
      limit = Math.min(most, limit + step);
      if (limit > ceiling) ceiling = Number.POSITIVE_INFINITY;
    },
    shrink: (inFlight) => {
      const share = isDoubling || limit <= afterCut ? CUT : 1;
      isDoubling = false;
      ceiling = limit;
      limit = Math.max(1, Math.min(limit * share, Math.max(inFlight, limit / 2)));
      afterCut = limit;
    },
  };
}

/** A time in which nothing is sent. Its listeners hear when it begins, becomes longer and ends. */
function createPause(clock: Pick<Clock, 'monotonic'>) {
  let until = 0;
  const listeners = new Set<(until: number | undefined) => void>();
  return {
    until: () => until,
    left: () => until - clock.monotonic(),
    /** At least so long from now on; undefined changes nothing. */
    extend: (ms: number | undefined): void => {
      if (ms === undefined) return;
      const longer = clock.monotonic() + ms;
      if (longer <= until) return;
      until = longer;
      for (const tell of listeners) tell(until);
    },
    end: (): void => {
      if (until === 0) return;
      until = 0;
      for (const tell of listeners) tell(undefined);
    },
    listen: (listener: (until: number | undefined) => void): void => void listeners.add(listener),
  };
}

/** How long nothing is sent after a failure; undefined until there were many in a row. */
function createBreaker() {
  let failures = 0;
  return {
    healthy: (): void => {
      failures = 0;
    },
    failed: (): number | undefined => {
      failures++;
      if (failures < MOST_FAILURES) return undefined;
      return Math.min(LONGEST_BREAK_MS, BREAK_MS * 2 ** Math.min(10, failures - MOST_FAILURES));
    },
  };
}

/** The limit falls once for all attempts that were under way. What the provider asks for (`Retry-After`) is waited for by all. */
export function createProviderLane(clock: Clock, limits: LaneLimits): ProviderLane {
  const limit = createAdaptiveLimit(limits);
  let inFlight = 0;
  /** Attempts begun so far, and at the last cut. */
  let begun = 0;
  let cutAt = 0;
  const breaker = createBreaker();
  const pause = createPause(clock);
  let timer: NodeJS.Timeout | undefined;
  let waiting: Waiter[] = [];

  const drain = (): void => {
    clearTimeout(timer);
    const left = pause.left();
    if (left > 0) {
      // Timers may fire early by less than a millisecond.
      if (waiting.length > 0) timer = setTimeout(drain, Math.min(left + 1, LONGEST_TIMER_MS));
      return;
    }
    pause.end();
    while (inFlight < limit.current()) {
      const next = waiting.shift();
      if (next === undefined) return;
      next.start(begin());
    }
  };
  const begin = (): LanePlace => {
    inFlight++;
    const mine = ++begun;
    const wasFull = inFlight >= limit.current();
    let isOver = false;
    return {
      leave: (report) => {
        if (isOver) return;
        isOver = true;
        inFlight--;
        if (report.is === 'healthy') {
          breaker.healthy();
          if (wasFull) limit.grow();
        } else if (report.is === 'limited') refuse(mine, report.retryAfterMs);
        else pause.extend(breaker.failed());
        drain();
      },
    };
  };
  const refuse = (mine: number, retryAfterMs: number | undefined): void => {
    pause.extend(retryAfterMs);
    // Those that were under way at the last cut say nothing new.
    if (mine <= cutAt) return;
    cutAt = begun;
    limit.shrink(inFlight);
  };
  return {
    enter: (signal, isFirst = false) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(undefined);
        const leave = (): void => {
          waiting = waiting.filter((one) => one !== waiter);
          resolve(undefined);
        };
        const waiter: Waiter = {
          start: (place) => {
            signal.removeEventListener('abort', leave);
            resolve(place);
          },
        };
        signal.addEventListener('abort', leave, { once: true });
        if (isFirst) waiting.unshift(waiter);
        else waiting.push(waiter);
        drain();
      }),
    state: () => ({
      inFlight,
      waiting: waiting.length,
      limit: limit.current(),
      ...(pause.left() > 0 ? { pausedUntil: pause.until() } : {}),
    }),
    onPause: pause.listen,
  };
}

/** Timers take 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
