import { hash } from 'node:crypto';
import { createLruMap } from '../base/lru-map.ts';
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

interface ApplyOverlaysOptions {
  readonly active: ActiveOverlays;
  /** The share of sessions that go without an overlay, so that it is measured; 0: none. */
  readonly holdout: () => number;
  /** The settings that limits must be tighter than, unless a person approved them. */
  readonly settings: () => Required<Pick<TurnLimits, 'retries' | 'headersMs' | 'idleMs'>>;
  /** Returns at once. */
  readonly append: (fact: OverlayFact, key: string) => void;
}

interface OverlaidTurn extends OverlayQuery {
  readonly session: string;
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
  return ({ session, ...query }) => {
    const found = options.active.for(query);
    if (found.length === 0) return undefined;
    const served = found.filter(({ payload }) => SERVED.has(payload.type));
    if (served.length === 0) return undefined;
    const share = options.holdout() > 0 ? SHARE : 0;
    const heldOut = served.filter(({ lesson }) => isHeldOut(session, lesson, share));
    const applied = served.filter((one) => !heldOut.includes(one));
    const ids = applied.map(({ lesson }) => lesson);
    const without = heldOut.map(({ lesson }) => lesson);
    const limiting = applied.filter(isLimit);
    const limits = limitsOfOverlays(limiting, options.settings());
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

/** The tightest of each. A limit that is looser than the settings counts only where a person approved it. */
export function limitsOfOverlays(
  overlays: readonly ActiveOverlay<LimitOverlay>[],
  settings: ReturnType<ApplyOverlaysOptions['settings']>,
): TurnLimits | undefined {
  if (overlays.length === 0) return undefined;
  const least = (field: 'retries' | 'headersMs' | 'idleMs'): number | undefined => {
    const values = overlays.flatMap(({ payload, isApproved }) => {
      const value = payload[field];
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
