import { setMaxListeners } from 'node:events';
import { createRandom } from '../../base/random.ts';
import { sleep } from '../../base/sleep.ts';
import { undefinedIfAborted } from '../../base/until-aborted.ts';
import {
  addSpending,
  type Budget,
  NOTHING_SPENT,
  type Reservation,
  type Spending,
} from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import { errorMessage } from '../../core/failure.ts';
import type { Attempt, AttemptOrder, AttemptOutcome, MakeAttempt } from '../../core/practice.ts';
import { createQueue } from '../sandbox/workspace.ts';
import {
  createProviderLane,
  DEFAULT_LANE_LIMITS,
  type LaneLimits,
  type LaneReport,
  type LaneState,
  type ProviderLane,
} from './provider-lane.ts';

interface AttemptQueueParts {
  readonly make: MakeAttempt;
  readonly clock: Clock;
  /** Whose limit an order counts towards, such as the provider of its agent's model. */
  readonly provider: (order: AttemptOrder) => string;
  /** What an attempt may use at most is reserved before it begins; one that would pass a limit is not begun. */
  readonly budget?: Budget;
  readonly most?: (order: AttemptOrder) => Partial<Spending>;
  readonly limits?: Partial<LaneLimits & RepeatLimits>;
  /** A provider asked for a pause, or it is over. */
  readonly onPause?: (pause: ProviderPause) => void;
}

interface RepeatLimits {
  /** Further tries after an infrastructure error; 2 by default. */
  readonly repeats: number;
  /** Further tries after a provider's refusal; 8 by default. */
  readonly repeatsWhenLimited: number;
  /** A longer pause is not waited for: what waits ends at once with the time to come back; 10 minutes by default. */
  readonly longestPauseMs: number;
  /** The first pause before a further try, doubled each time; half a second by default. */
  readonly baseMs: number;
}

const DEFAULT_REPEATS: RepeatLimits = {
  repeats: 2,
  repeatsWhenLimited: 8,
  longestPauseMs: 600_000,
  baseMs: 500,
};

export interface ProviderPause {
  readonly provider: string;
  /** Wall-clock time; absent when the pause is over. */
  readonly until?: number;
  /** Nothing waits for its end: the run goes on later. */
  readonly isDeferred: boolean;
}

/** Makes many attempts. */
interface AttemptQueue {
  /**
   * Each attempt waits for a place at its provider and for the budget; one that failed through nobody's fault is made again
   * under the same id and seed. The order in which attempts end changes no result. Never rejects.
   */
  readonly make: MakeAttempt;
  /** By provider. */
  state(): Readonly<Record<string, LaneState>>;
}

export function createAttemptQueue(parts: AttemptQueueParts): AttemptQueue {
  const { clock, onPause } = parts;
  const limits = { ...DEFAULT_LANE_LIMITS, ...DEFAULT_REPEATS, ...parts.limits };
  const lanes = new Map<string, QueueLane>();
  const reserve = createReserve(parts);

  const laneOf = (provider: string): QueueLane => {
    const before = lanes.get(provider);
    if (before !== undefined) return before;
    const lane = createProviderLane(clock, limits);
    const made: QueueLane = { lane, deferring: newController(), deferredUntil: 0 };
    lane.onPause((until) => {
      const ms = until === undefined ? 0 : until - clock.monotonic();
      const isDeferred = ms > limits.longestPauseMs;
      if (isDeferred && until !== undefined) {
        made.deferredUntil = until;
        // All that wait end now; those that come later find the time.
        made.deferring.abort();
        made.deferring = newController();
      }
      onPause?.({ provider, isDeferred, ...(until === undefined ? {} : { until: clock.now() + ms }) });
    });
    lanes.set(provider, made);
    return made;
  };

  const make: MakeAttempt = async (order, signal) => {
    // Every attempt of a run listens to it.
    setMaxListeners(0, signal);
    const provider = parts.provider(order);
    const one = laneOf(provider);
    const random = createRandom(`${order.seed}/pause`);
    let used: Spending = NOTHING_SPENT;
    for (let failed = 0, limited = 0; ; ) {
      const deferredMs = one.deferredUntil - clock.monotonic();
      if (deferredMs > 0) return unmade(order, provider, deferred(provider, deferredMs), used);
      const wait = anyOf(signal, one.deferring.signal);
      const place = await one.lane.enter(wait.signal, failed + limited > 0);
      wait.end();
      if (place === undefined) {
        if (signal.aborted) return unmade(order, provider, STOPPED, used);
        continue;
      }
      const attempt = await inBudget(order, signal, reserve, parts.make).catch((error: unknown) =>
        unmade(order, provider, { is: 'infrastructure', why: errorMessage(error) }, NOTHING_SPENT),
      );
      const { outcome } = attempt;
      used = addSpending(used, attempt.used);
      place.leave(signal.aborted ? { is: 'healthy' } : reportOf(outcome));
      const isOver = outcome.is !== 'infrastructure' || outcome.isLasting === true || signal.aborted;
      const isLimited = outcome.is === 'infrastructure' && outcome.isLimited === true;
      if (isLimited) limited++;
      else failed++;
      if (isOver || failed > limits.repeats || limited > limits.repeatsWhenLimited)
        return { ...attempt, used };
      const pause = limits.baseMs * 2 ** Math.min(6, failed + limited - 1);
      await sleep(pause / 2 + random.next() * (pause / 2), signal);
    }
  };
  return {
    make,
    state: () => Object.fromEntries([...lanes].map(([provider, { lane }]) => [provider, lane.state()])),
  };
}

interface QueueLane {
  readonly lane: ProviderLane;
  /** Aborts when what waits is deferred. */
  deferring: AbortController;
  deferredUntil: number;
}

function newController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Aborts with either; without the listeners that `AbortSignal.any` leaves on signals that live long. */
function anyOf(one: AbortSignal, other: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const leave = (): void => controller.abort();
  for (const signal of [one, other]) {
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
  }
  return {
    signal: controller.signal,
    end: () => {
      for (const signal of [one, other]) signal.removeEventListener('abort', leave);
    },
  };
}

const STOPPED: AttemptOutcome = { is: 'infrastructure', why: 'it was stopped before it began' };

const deferred = (provider: string, ms: number): AttemptOutcome => ({
  is: 'infrastructure',
  why: `${provider} is limited for another ${Math.ceil(ms / 60_000)} min`,
  retryAfterMs: Math.ceil(ms),
  isLimited: true,
});

function reportOf(outcome: AttemptOutcome): LaneReport {
  if (outcome.is !== 'infrastructure') return { is: 'healthy' };
  const { retryAfterMs, isLimited, isLasting } = outcome;
  if (isLimited === true) return { is: 'limited', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  // What lies in the task or the settings says nothing about the provider.
  return { is: isLasting === true ? 'healthy' : 'failed' };
}

type Reserve = (
  order: AttemptOrder,
  signal: AbortSignal,
) => Promise<
  ({ readonly ok: true } & Pick<Reservation, 'settle'>) | { readonly ok: false; readonly why: string }
>;

/**
 * A reservation. Most of what attempts reserve comes back: while others are under way, one that does not fit waits for them,
 * and only when none is left is it refused.
 */
function createReserve({ budget, most, provider }: AttemptQueueParts): Reserve {
  const settling = new Set<Promise<void>>();
  const oneByOne = createQueue();
  return async (order, signal) => {
    if (budget === undefined) return { ok: true, settle: async () => undefined };
    const work = { kind: 'attempt', model: provider(order), purpose: 'practice' };
    return await oneByOne(async () => {
      for (;;) {
        const reserved = await budget.reserve(most?.(order) ?? { calls: 1 }, work);
        if (reserved.isGranted) {
          let isSettled = (): void => undefined;
          const end = new Promise<void>((resolve) => {
            isSettled = resolve;
          });
          settling.add(end);
          return {
            ok: true,
            settle: async (used) => {
              await reserved.settle(used);
              settling.delete(end);
              isSettled();
            },
          };
        }
        if (settling.size === 0 || signal.aborted) return { ok: false, why: reserved.why };
        await undefinedIfAborted(() => Promise.race(settling), signal);
      }
    });
  };
}

async function inBudget(
  order: AttemptOrder,
  signal: AbortSignal,
  reserve: Reserve,
  make: MakeAttempt,
): Promise<Attempt> {
  const reserved = await reserve(order, signal);
  if (!reserved.ok)
    return unmade(
      order,
      '',
      signal.aborted
        ? STOPPED
        : { is: 'infrastructure', why: reserved.why, isLasting: true, isOverBudget: true },
      NOTHING_SPENT,
    );
  let used: Partial<Spending> = {};
  try {
    const attempt = await make(order, signal);
    used = attempt.used;
    return attempt;
  } finally {
    await reserved.settle(used);
  }
}

/** An attempt that was not begun. */
const unmade = (
  { id, task, shown }: AttemptOrder,
  by: string,
  outcome: AttemptOutcome,
  used: Spending,
): Attempt => ({
  id,
  task: task.id,
  by,
  generation: shown.generation,
  lessons: shown.lessons,
  outcome,
  output: '',
  steps: [],
  used,
});
