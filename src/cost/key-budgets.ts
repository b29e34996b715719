import {
  addSpending,
  type Budget,
  NOTHING_SPENT,
  type OpenBudget,
  type Prices,
  type Reservation,
  type Spending,
  type SpendingLimits,
} from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure, errorMessage, type Failure } from '../core/failure.ts';
import type { KeyLimit, LimitAnswer, LimitedKey, LimitedRequest } from '../core/key-limit.ts';
import { sessionTag } from '../core/principal.ts';
import type { AsyncReads, TurnView } from '../core/store.ts';
import { sayKeyLimit } from '../text/key-limit.ts';
import { costOf } from './prices.ts';

/*
 * What each key may use in a minute and in a day. A request is let in while something is left, and holds the most that it may use until
 * the record says what it did use: requests at the same time cannot pass a limit together, and the last one may pass it alone.
 */

interface KeyBudgetsOptions {
  readonly openBudget: OpenBudget;
  readonly prices: Prices;
  readonly clock: Clock;
  readonly records: Pick<AsyncReads, 'turn' | 'turns' | 'sessions'>;
}

export interface KeyBudgets {
  admit(key: LimitedKey, request: LimitedRequest): Promise<LimitAnswer>;
  /** Turns are durable: what they used replaces what they held. */
  settle(): void;
  /** What is used of each limit of a key, in its order; undefined before its first request. */
  used(key: Pick<LimitedKey, 'id' | 'limits'>): readonly (number | undefined)[];
}

type Period = KeyLimit['per'];
const PERIODS: readonly Period[] = ['minute', 'day'];
const KINDS = { requests: 'calls', tokens: 'tokens', usd: 'usd' } as const;

/** Of an answer whose longest size nobody knows. */
const USUAL_ANSWER = 4_096;
/** A token has about four bytes; three hold more than will be used. */
const BYTES_OF_TOKEN = 3;
/** After this time the record does not say any more what a request used: it counts with all that it held. */
const PATIENCE_MS = 60_000;
const MINUTE_MS = 60_000;

interface Held {
  readonly reservations: readonly Reservation[];
  readonly most: Partial<Spending>;
  /** On the monotonic clock. */
  readonly endedAt: number;
}

export function createKeyBudgets(options: KeyBudgetsOptions): KeyBudgets {
  const { prices, clock, records } = options;
  const open = openEach(options);
  const held = new Map<string, Held>();

  const settleOne = async (turn: string, one: Held): Promise<void> => {
    const view = await records.turn(turn).catch(() => undefined);
    const isOver = clock.monotonic() - one.endedAt > PATIENCE_MS;
    if (view?.status === undefined && !isOver) return;
    held.delete(turn);
    const used = (view && usedBy(view, prices)) ?? one.most;
    for (const reservation of one.reservations) await reservation.settle({ ...used, calls: 1 });
  };

  return {
    admit: async (key, { turn, model, bytes, isUnrecorded }) => {
      const usage = { inputTokens: Math.ceil(bytes / BYTES_OF_TOKEN), outputTokens: USUAL_ANSWER };
      const most = { ...costOf(usage, prices(model)), calls: 1 };
      const reservations: Reservation[] = [];
      const ended = (isAnswered: boolean): void => {
        const one = { reservations, most, endedAt: clock.monotonic() };
        if (isAnswered && !isUnrecorded) held.set(turn, one);
        else
          for (const reservation of reservations) void reservation.settle(isAnswered ? most : { calls: 1 });
      };
      for (const per of PERIODS) {
        const limits = key.limits.filter((limit) => limit.per === per);
        if (limits.length === 0) continue;
        const budget = await open(key, per, limits).catch(errorMessage);
        const answer =
          typeof budget === 'string'
            ? ({ isGranted: false, why: budget } as const)
            : await budget.reserve(most, { kind: 'request', model, purpose: 'serve' });
        if (answer.isGranted) {
          reservations.push(answer);
          continue;
        }
        const spent = typeof budget === 'string' ? NOTHING_SPENT : budget.spent();
        const passed = limits.find((limit) => spent[KINDS[limit.of]] >= limit.most);
        const isBudget = passed !== undefined && per === 'day' && passed.of !== 'requests';
        // The minute before it is counted: the fallback is no way past the pace.
        if (isBudget && key.fallback !== undefined) return { ok: true, fallback: key.fallback, ended };
        for (const reservation of reservations) void reservation.settle({});
        return { ok: false, failure: refuse(key, passed, answer.why, clock.now()) };
      }
      return { ok: true, ended };
    },
    settle: () => {
      for (const [turn, one] of held) void settleOne(turn, one);
    },
    used: ({ id, limits }) => limits.map(({ of, per }) => open.known(id, per)?.spent()[KINDS[of]]),
  };
}

/** The tokens and the cost of a turn; undefined where its reply does not say. */
function usedBy({ usage, policy, httpStatus = 0 }: TurnView, prices: Prices): Partial<Spending> | undefined {
  if (usage !== undefined) return costOf(usage, prices(policy));
  return httpStatus >= 400 ? {} : undefined;
}

function refuse(key: LimitedKey, passed: KeyLimit | undefined, why: string, now: number): Failure {
  const whose = key.isMember ? `The member "${key.name}"` : `The key "${key.name}"`;
  if (passed === undefined)
    return createFailure(
      'overloaded',
      `What ${whose.replace('The', 'the')} has used cannot be counted: ${why}.`,
      {
        retryAfterMs: 1_000,
      },
    );
  const retryAfterMs = passed.per === 'minute' ? MINUTE_MS - (now % MINUTE_MS) : untilMidnight(now);
  const when = passed.per === 'minute' ? `in ${Math.ceil(retryAfterMs / 1000)} s` : 'after midnight';
  return createFailure(
    'rate-limited',
    `${whose} has used its ${sayKeyLimit(passed)}. Try again ${when}, or ask the owner: instar team ${key.isMember ? 'members limit' : 'keys set'} ${key.name} --limit.`,
    { retryAfterMs, code: 'key_limit' },
  );
}

function untilMidnight(now: number): number {
  const next = new Date(now);
  next.setHours(24, 0, 0, 0);
  return next.getTime() - now;
}

interface OpenEach {
  (key: LimitedKey, per: Period, limits: readonly KeyLimit[]): Promise<Budget>;
  known(id: string, per: Period): Budget | undefined;
}

/** One budget for a key and a period; another one when its limits were changed, which goes on with what was used. */
function openEach({ openBudget, clock, records, prices }: KeyBudgetsOptions): OpenEach {
  const opening = new Map<string, { readonly form: string; readonly budget: Promise<Budget> }>();
  const known = new Map<string, Budget>();
  const nameOf = (id: string, per: Period): string => `key/${id}/${per}`;
  const begin = async (key: LimitedKey, per: Period, limits: readonly KeyLimit[]): Promise<Budget> => {
    const name = nameOf(key.id, per);
    const before = known.get(name);
    const spent =
      before?.spent() ??
      (per === 'day' ? await spentToday(key, { records, prices, now: clock.now() }) : NOTHING_SPENT);
    const budget = await openBudget({
      budget: name,
      limits: limitsOf(limits),
      setting: `the key ${key.name}`,
      spent,
      per,
      isLastPassed: true,
    });
    known.set(name, budget);
    return budget;
  };
  const open = (key: LimitedKey, per: Period, limits: readonly KeyLimit[]): Promise<Budget> => {
    const name = nameOf(key.id, per);
    const form = JSON.stringify(limits);
    const found = opening.get(name);
    if (found?.form === form) return found.budget;
    const budget = begin(key, per, limits);
    opening.set(name, { form, budget });
    // What could not be opened is tried again.
    budget.catch(() => opening.delete(name));
    return budget;
  };
  return Object.assign(open, { known: (id: string, per: Period) => known.get(nameOf(id, per)) });
}

const limitsOf = (limits: readonly KeyLimit[]): SpendingLimits =>
  Object.fromEntries(limits.map(({ of, most }) => [KINDS[of], most]));

const PAGE = 200;

/** What the turns of a key used today, as the record has them: a restart gives no second day. */
async function spentToday(
  { id, tag, isMember }: LimitedKey,
  { records, prices, now }: Pick<KeyBudgetsOptions, 'records' | 'prices'> & { readonly now: number },
): Promise<Spending> {
  const from = new Date(now).setHours(0, 0, 0, 0);
  let spent = NOTHING_SPENT;
  let before: number | undefined;
  for (;;) {
    const page = await records.sessions({ from, limit: PAGE, ...(before === undefined ? {} : { before }) });
    for (const session of page.filter((one) => sessionTag(one.id) === tag))
      for (const turn of await records.turns(session.id))
        if ((isMember || turn.caller === id) && turn.startedAt >= from)
          spent = addSpending(spent, { ...usedBy(turn, prices), calls: 1 });
    before = page.at(-1)?.lastAt;
    if (page.length < PAGE || before === undefined) return spent;
  }
}
