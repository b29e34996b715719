import { hash } from 'node:crypto';
import { createLruMap } from '../base/lru-map.ts';
import { keyTag } from '../core/caller.ts';
import { compact } from '../core/json.ts';
import {
  type ActiveOverlay,
  type ActiveOverlays,
  type FlowOverlay,
  type LimitOverlay,
  MOST_BIAS,
  type OverlayFact,
  type OverlayPayload,
  type OverlayQuery,
  type RouteOverlay,
  type TurnLimits,
  type TurnOverlays,
} from '../core/overlay.ts';
import { sessionTag } from '../core/principal.ts';
import { LEAST_FLOORS, type LimitFloors, type MeasuredAgent, withinFloors } from '../lessons/limit-floors.ts';

interface ApplyOverlaysOptions {
  readonly active: ActiveOverlays;
  /** The share of sessions that go without an overlay, so that it is measured; 0: none. */
  readonly holdout: () => number;
  /** The settings that limits must be tighter than, unless a person approved them. */
  readonly settings: () => Required<Pick<TurnLimits, 'retries' | 'headersMs' | 'idleMs'>>;
  /** How far learned limits may shorten an agent's waits; undefined while it is not known: then they shorten none. */
  readonly floors: (agent: MeasuredAgent) => LimitFloors | undefined;
  /** Returns at once. */
  readonly append: (fact: OverlayFact, key: string) => void;
}

interface OverlaidTurn extends OverlayQuery {
  readonly session: string;
  /** The id of the key that the request came with. */
  readonly key?: string | undefined;
}

/** Gives the overlays of a turn: those in force for its agent and kind of run that its session is not held out from. */
export type ApplyOverlays = (turn: OverlaidTurn) => TurnOverlays | undefined;

/** What acts at the gateway. Fragments and fixes act in the prompt (`lessons/shown`). */
const SERVED: ReadonlySet<OverlayPayload['type']> = new Set([
  'routing_hint',
  'validator_policy_tweak',
  'flow_offload',
]);
const MOST_SESSIONS = 5_000;
/** Overlays have few sessions to be measured by: a quarter of them goes without. Where nothing is to be held out, none. */
const SHARE = 0.25;

export function createApplyOverlays(options: ApplyOverlaysOptions): ApplyOverlays {
  const recorded = createLruMap<string, true>(MOST_SESSIONS);
  return ({ session, key, ...query }) => {
    const found = options.active.for(query);
    if (found.length === 0) return undefined;
    const served = found.filter(
      ({ payload, onlyFor }) => SERVED.has(payload.type) && isOfKey(onlyFor, key, session),
    );
    if (served.length === 0) return undefined;
    const share = options.holdout() > 0 ? SHARE : 0;
    const heldOut = served.filter(({ lesson }) => isHeldOut(session, lesson, share));
    const applied = served.filter((one) => !heldOut.includes(one));
    const ids = applied.map(({ lesson }) => lesson);
    const without = heldOut.map(({ lesson }) => lesson);
    const limiting = applied.filter(isLimit);
    const floors = limiting.some(shortensWaits)
      ? options.floors({ agent: query.agent, member: query.member })
      : undefined;
    const limits = limitsOfOverlays(limiting, options.settings(), floors);
    const bias = biasOf(applied.filter(isRoute));
    return {
      lessons: ids,
      ...(limits === undefined ? {} : { limits, limitedBy: limiting.map(({ lesson }) => lesson) }),
      ...(bias === undefined ? {} : { bias }),
      flows: applied.filter(isFlow),
      record: (turn, choice) => {
        const key = `overlays:${session}:${hash('sha256', JSON.stringify([ids, without, choice?.target ?? '', choice?.thread ?? '']))}`;
        if (recorded.get(key) === true) return;
        recorded.set(key, true);
        options.append(
          { type: 'overlays-applied', session, turn, lessons: ids, heldOut: without, ...choice },
          key,
        );
      },
    };
  };
}

/** Whether what one key's events taught acts on a session. A renewed key has another id and goes on with the sessions of its first. */
const isOfKey = (onlyFor: string | undefined, key: string | undefined, session: string): boolean =>
  onlyFor === undefined || onlyFor === key || sessionTag(session) === keyTag(onlyFor, true);

/** The same for the whole session, and for each lesson by itself. */
export const isHeldOut = (session: string, lesson: string, share: number): boolean =>
  share > 0 &&
  session !== '' &&
  hash('sha256', JSON.stringify(['overlay', session, lesson]), 'buffer').readUIntBE(0, 6) / 2 ** 48 < share;

const isLimit = (one: ActiveOverlay): one is ActiveOverlay<LimitOverlay> =>
  one.payload.type === 'validator_policy_tweak';
const isRoute = (one: ActiveOverlay): one is ActiveOverlay<RouteOverlay> =>
  one.payload.type === 'routing_hint';
const isFlow = (one: ActiveOverlay): one is ActiveOverlay<FlowOverlay> => one.payload.type === 'flow_offload';

const shortensWaits = ({ payload: { headersMs, idleMs }, isLearned }: ActiveOverlay<LimitOverlay>): boolean =>
  isLearned === true && (headersMs !== undefined || idleMs !== undefined);

/** A learned limit as it may act: records of earlier versions have some that would cut an agent off. */
function withFloors(
  one: ActiveOverlay<LimitOverlay>,
  floors: LimitFloors | undefined,
): ActiveOverlay<LimitOverlay> {
  if (one.isLearned !== true) return one;
  const { headersMs, idleMs, ...rest } = one.payload;
  const waits = floors === undefined ? {} : compact({ headersMs, idleMs });
  return { ...one, payload: withinFloors({ ...rest, ...waits }, floors ?? LEAST_FLOORS) };
}

/** The tightest of each. A limit that is looser than the settings counts only where a person approved it. */
export function limitsOfOverlays(
  active: readonly ActiveOverlay<LimitOverlay>[],
  settings: ReturnType<ApplyOverlaysOptions['settings']>,
  floors: LimitFloors | undefined,
): TurnLimits | undefined {
  if (active.length === 0) return undefined;
  const overlays = active.map((one) => withFloors(one, floors));
  const least = (field: 'retries' | 'headersMs' | 'idleMs'): number | undefined => {
    const values = overlays.flatMap(({ payload, isApproved }, at) => {
      const given = active[at]?.payload[field] ?? 0;
      // A floor keeps a limit from tightening; it loosens nothing.
      const value = payload[field] && Math.min(payload[field], Math.max(given, settings[field]));
      return value !== undefined && (isApproved || value <= settings[field]) ? [value] : [];
    });
    return values.length === 0 ? undefined : Math.min(...values);
  };
  const lessons = overlays.flatMap(({ payload }) => payload.lessons ?? []);
  const checks = [...new Set(overlays.flatMap(({ payload }) => payload.checks ?? []))];
  const reasks = overlays.flatMap(({ payload }) => payload.reasks ?? []);
  return compact({
    retries: least('retries'),
    headersMs: least('headersMs'),
    idleMs: least('idleMs'),
    checks: checks.length === 0 ? undefined : checks,
    reasks: reasks.length === 0 ? undefined : Math.min(...reasks),
    lessons: lessons.length === 0 ? undefined : Math.min(...lessons),
  });
}

/** Towards `strong` above 0. However many hints there are, they move the choice by no more than one may. */
export function biasOf(hints: readonly ActiveOverlay<RouteOverlay>[]): number | undefined {
  if (hints.length === 0) return undefined;
  const sum = hints.reduce(
    (total, { payload: { tier, bias } }) => total + (tier === 'strong' ? bias : -bias),
    0,
  );
  return Math.max(-MOST_BIAS, Math.min(MOST_BIAS, sum));
}
