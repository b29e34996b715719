import type { Log } from '../../base/log.ts';
import type { Usage } from '../../core/chat.ts';
import type { Clock } from '../../core/clock.ts';
import type { StoredFact } from '../../core/fact.ts';
import type { JsonObject } from '../../core/json.ts';
import type { FoldedType, Records } from '../../core/store.ts';
import type { Catalogue } from '../../core/upstream.ts';
import { costOf, createPrices, type PriceRules } from '../../cost/prices.ts';
import { dollars, plural } from '../../text/phrases.ts';
import { createRouteOutcomes, MOST_SESSIONS, type RouteOutcomes } from './route-outcomes.ts';
import { createRouter, type RouterSettings, type TurnRouter } from './router.ts';
import { createSessionChoices, type SessionChoices } from './session-choices.ts';

export interface ServeRouterOptions {
  /** `router` of the config. */
  readonly settings: () => (RouterSettings & { readonly usdPerDay?: number | undefined }) | undefined;
  /** Whether everything learned is switched off: then the strong model answers. */
  readonly isOff: () => boolean;
  readonly catalogue: Pick<Catalogue, 'resolve'>;
  readonly prices: () => PriceRules;
  /** What turns cost since the start, by model. */
  readonly served: () => readonly { readonly usd: number }[];
  readonly records: Pick<
    Records,
    'append' | 'factsOf' | 'totals' | 'recalls' | 'judgements' | 'sessions' | 'turns'
  >;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ServedRouter extends TurnRouter {
  /** For `status`; undefined while it is off. */
  describe(): JsonObject | undefined;
  /** When everything recorded so far counts. */
  settle(): Promise<void>;
}

const PAGE = 2_000;
/** How often the record is read for new outcomes while requests are routed. */
const EVERY_MS = 500;
/** Facts that are read back at the start; more when they have too few outcomes. */
const FIRST_FACTS = 50_000;

/** The router of a running daemon. Its state is read from the record at the first request that is routed, and followed from then on. */
export function serveRouter(options: ServeRouterOptions): ServedRouter {
  const { records, clock, log } = options;
  const fault = (error: unknown): void =>
    log.warn({ err: error }, 'the router cannot read the record: it chooses without new outcomes');
  const history = followOutcomes(records, clock, fault);
  let spending: DaySpending | undefined;
  const spentToday = (): number => {
    if (spending === undefined) {
      const servedUsd = (): number => options.served().reduce((sum, { usd }) => sum + usd, 0);
      const usdOf: UsdOf = (usage, model) => costOf(usage, createPrices(options.prices())(model)).usd;
      spending = createDaySpending({ records, usdOf, servedUsd, now: clock.now });
      void spending.load().catch(fault);
    }
    return spending.today();
  };
  const pressure = (): number => {
    const most = options.settings()?.usdPerDay;
    if (most === undefined) return 0;
    return most === 0 ? 1 : Math.min(1, spentToday() / most);
  };
  // Opened with the daemon: what was served before the start is not counted twice.
  if (options.settings()?.usdPerDay !== undefined) spentToday();

  const router = createRouter({
    settings: () => (options.isOff() ? undefined : options.settings()),
    catalogue: options.catalogue,
    outcomes: history.outcomes,
    choices: history.choices,
    restore: history.restore,
    prices: (name) => createPrices(options.prices())(name),
    pressure,
    append: (fact, key) =>
      void records
        .append([{ at: clock.now(), fact, key }], [], true)
        .catch((error: unknown) => log.warn({ err: error }, 'a choice of the router could not be recorded')),
    log,
  });
  return {
    isAsked: router.isAsked,
    route: (turn, overlays) => {
      const routed = router.route(turn, overlays);
      history.refresh();
      return routed;
    },
    describe: () => {
      const set = options.settings();
      if (set === undefined) return undefined;
      const { cheap, strong, usdPerDay } = set;
      const { size } = history.outcomes();
      const budget =
        usdPerDay === undefined ? '' : `; ${dollars(spentToday())} of ${dollars(usdPerDay)} today`;
      const which = set.for === 'all' ? 'requests for either model' : 'requests for instar/auto';
      const state = options.isOff() ? 'off, like everything learned' : plural(size, 'scored session');
      return {
        ...set,
        sessions: size,
        line: `cheap ${cheap}, strong ${strong}, for ${which}; ${state}${budget}`,
      };
    },
    settle: history.settle,
  };
}

/** Past sessions by tier, and the choices of running ones, as the record has them. */
interface RouteHistory {
  outcomes(): RouteOutcomes;
  readonly choices: SessionChoices;
  /** Reads what was chosen for a session. Never rejects. */
  restore(session: string): Promise<void>;
  /** Starts a read if none was started lately; nothing before the first `restore`. Nobody waits for it. */
  refresh(): void;
  /** When everything recorded so far counts. */
  settle(): Promise<void>;
}

function followOutcomes(
  records: ServeRouterOptions['records'],
  clock: Clock,
  fault: (error: unknown) => void,
): RouteHistory {
  const choices = createSessionChoices();
  let outcomes = createRouteOutcomes();
  let scored = 0;
  let appraised = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let loaded: Promise<void> | undefined;

  /** Reads facts of a type to the end of the log; resolves with the number of the last one. */
  const readFacts = async (type: FoldedType, after: number, add: (stored: StoredFact) => void) => {
    for (let seq = after; ; ) {
      const page = await records.factsOf(type, seq, PAGE);
      for (const stored of page) {
        add(stored);
        seq = stored.seq;
      }
      if (page.length < PAGE) return seq;
    }
  };
  const load = async (): Promise<void> => {
    const { facts } = await records.totals();
    appraised = facts;
    for (let window = FIRST_FACTS; ; window *= 4) {
      const from = Math.max(0, facts - window);
      const read = createRouteOutcomes();
      scored = await readFacts('session-scored', from, read.add);
      outcomes = read;
      if (from === 0 || read.size >= MOST_SESSIONS) return;
    }
  };
  const follow = async (): Promise<void> => {
    scored = await readFacts('session-scored', scored, outcomes.add);
    await readFacts('turn-appraised', appraised, (stored) => {
      choices.add(stored);
      appraised = stored.seq;
    });
  };
  const open = (): Promise<void> => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      fault(error);
    });
    return loaded;
  };
  return {
    outcomes: () => outcomes,
    choices,
    restore: async (session) => {
      await open();
      try {
        const [recalls, judged] = await Promise.all([
          records.recalls(session),
          records.judgements(session, 'turn-appraised'),
        ]);
        for (const stored of [...recalls, ...judged]) choices.add(stored, session);
      } catch (error) {
        fault(error);
      }
      choices.know(session);
    },
    refresh: () => {
      if (loaded === undefined || reading !== undefined || clock.monotonic() - readAt < EVERY_MS) return;
      readAt = clock.monotonic();
      reading = follow()
        .catch(fault)
        .finally(() => {
          reading = undefined;
        });
    },
    settle: async () => {
      await open();
      await reading;
      await follow();
    },
  };
}

/** What a model's tokens cost; 0 where its price is not known. */
type UsdOf = (usage: Usage, model: string) => number;

interface DaySpendingOptions {
  readonly records: Pick<Records, 'sessions' | 'turns'>;
  readonly usdOf: UsdOf;
  /** US dollars of all turns that were served since the start. */
  readonly servedUsd: () => number;
  readonly now: () => number;
}

/** US dollars that the turns of today cost. */
interface DaySpending {
  today(): number;
  /** Reads what was served today before the start. */
  load(): Promise<void>;
}

/** Sessions that are read at the start; older ones of a busy day are not counted. */
const SESSIONS_OF_DAY = 500;

function createDaySpending({ records, usdOf, servedUsd, now }: DaySpendingOptions): DaySpending {
  const startedAt = now();
  let day = midnightBefore(startedAt);
  /** Of the day, before this process; and of this process, before the day. */
  let earlier = 0;
  let before = 0;
  return {
    today: () => {
      const today = midnightBefore(now());
      if (today > day) {
        day = today;
        earlier = 0;
        before = servedUsd();
      }
      return Math.max(0, earlier + servedUsd() - before);
    },
    load: async () => {
      const since = day;
      const sessions = await records.sessions({ limit: SESSIONS_OF_DAY });
      let usd = 0;
      for (const { id, lastAt } of sessions) {
        if (lastAt < since) continue;
        for (const { usage, policy, endedAt = 0 } of await records.turns(id))
          if (usage !== undefined && endedAt >= since && endedAt < startedAt) usd += usdOf(usage, policy);
      }
      if (day === since && Number.isFinite(usd)) earlier = usd;
    },
  };
}

/** Of the local day. */
function midnightBefore(wall: number): number {
  const date = new Date(wall);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
