import type { Log } from '../base/log.ts';
import { createLruMap } from '../base/lru-map.ts';
import type { Clock } from '../core/clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { Library } from '../core/library.ts';
import type { ActiveOverlays, OverlayQuery } from '../core/overlay.ts';
import type { Records } from '../core/store.ts';
import { type LimitFloors, type MeasuredAgent, readLimitFloors } from '../lessons/limit-floors.ts';
import {
  type ApplyOverlays,
  createActiveOverlays,
  createApplyOverlays,
  createKillSwitch,
  listOverlays,
} from './active-overlays.ts';
import { type AnswerFlows, createAnswerFlows } from './answer-flows.ts';
import { type ServedRouter, type ServeRouterOptions, serveRouter } from './router/serve-router.ts';

interface ServeOverlaysOptions {
  readonly home: string;
  readonly library: () => Library | undefined;
  readonly records: ServeRouterOptions['records'];
  readonly lotOf: Parameters<typeof createApplyOverlays>[0]['lotOf'];
  readonly settings: () => { readonly retries: number; readonly headersMs: number; readonly idleMs: number };
  /** `gateway.flows`. */
  readonly answersFlows: () => boolean;
  readonly hasSucceeded: Parameters<typeof createAnswerFlows>[0]['hasSucceeded'];
  readonly router: Pick<ServeRouterOptions, 'settings' | 'served'>;
  readonly catalogue: ServeRouterOptions['catalogue'];
  readonly prices: ServeRouterOptions['prices'];
  readonly clock: Clock;
  readonly log: Log;
}

export interface ServedOverlays {
  readonly active: ActiveOverlays;
  readonly apply: ApplyOverlays;
  /** The next call of a flow that a turn's conversation is in. */
  readonly flows: AnswerFlows;
  readonly router: ServedRouter;
  /** Whether the kill switch is set: nothing learned acts. */
  readonly isOff: () => boolean;
  /** For `GET /api/overlays`: those in force for an agent and a kind of run. */
  describe(query: OverlayQuery): readonly JsonObject[];
}

/** The overlays of a running daemon. */
export function serveOverlays(options: ServeOverlaysOptions): ServedOverlays {
  const { library, records, catalogue, prices, clock, log } = options;
  const { isOff } = createKillSwitch(options.home, log);
  const active = createActiveOverlays({ library, now: clock.now, isOff });
  const apply = createApplyOverlays({
    active,
    lotOf: options.lotOf,
    settings: options.settings,
    floors: createMeasuredFloors({ records, clock, log }),
    append: (fact, key) =>
      void records
        .append([{ at: clock.now(), fact, key }], [], true)
        .catch((error: unknown) => log.warn({ err: error }, 'an overlay of a session could not be recorded')),
  });
  const flows = createAnswerFlows({ isOn: options.answersFlows, hasSucceeded: options.hasSucceeded, log });
  const router = serveRouter({ ...options.router, isOff, catalogue, prices, records, clock, log });
  return {
    active,
    apply,
    flows,
    router,
    isOff,
    describe: (query) => (isOff() ? [] : listOverlays(library()?.lessons() ?? [], query)),
  };
}

interface MeasuredFloorsOptions {
  readonly records: Pick<Records, 'sessions' | 'turns'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface ReadFloors {
  /** Undefined while the first read is under way, or failed. */
  readonly floors: LimitFloors | undefined;
  readonly readAt: number;
}

const MOST_AGENTS = 500;
/** How long a measurement counts: an agent's replies get slower or faster by the day, not by the minute. */
const FRESH_MS = 600_000;
const RETRY_MS = 30_000;

/** The floors of agents by the record. Asked on the request path, so it answers what it knows and reads beside it. */
function createMeasuredFloors({
  records,
  clock,
  log,
}: MeasuredFloorsOptions): (agent: MeasuredAgent) => LimitFloors | undefined {
  const known = createLruMap<string, ReadFloors>(MOST_AGENTS);
  const read = async (name: string, of: MeasuredAgent, before: LimitFloors | undefined): Promise<void> => {
    try {
      known.set(name, { floors: await readLimitFloors(records, of), readAt: clock.monotonic() });
    } catch (error) {
      log.warn({ err: error }, 'how long replies take could not be read: learned limits shorten no wait');
      known.set(name, { floors: before, readAt: clock.monotonic() - FRESH_MS + RETRY_MS });
    }
  };
  return (of) => {
    const name = JSON.stringify([of.agent ?? null, of.member ?? null]);
    const found = known.get(name);
    if (found === undefined || clock.monotonic() - found.readAt >= FRESH_MS) {
      known.set(name, { floors: found?.floors, readAt: clock.monotonic() });
      void read(name, of, found?.floors);
    }
    return found?.floors;
  };
}
