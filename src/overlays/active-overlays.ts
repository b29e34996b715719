import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '../base/log.ts';
import { createLruMap } from '../base/lru-map.ts';
import { keyTag } from '../core/caller.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
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
import { encodeOverlay } from '../lessons/check-overlay.ts';
import type { Holdout } from '../lessons/effect/hold-out.ts';
import { LEAST_FLOORS, type LimitFloors, type MeasuredAgent, withinFloors } from '../lessons/limit-floors.ts';
import { isInScope } from '../lessons/scope.ts';

interface ActiveOverlaysOptions {
  /** Undefined while the record cannot be read: then none is in force. */
  readonly library: () => Library | undefined;
  readonly now: () => number;
  /** Whether everything learned is switched off (see `kill-switch`). */
  readonly isOff: () => boolean;
}

const MOST_QUERIES = 512;
const NONE: readonly ActiveOverlay[] = [];

/**
 * The overlays of the library that are on trial or live, by agent, project and kind of run. They are collected once for each change of
 * the library; without any, a query is one comparison.
 */
export function createActiveOverlays(options: ActiveOverlaysOptions): ActiveOverlays {
  let followed: Library | undefined;
  let all: readonly { readonly lesson: Lesson; readonly overlay: ActiveOverlay }[] = [];
  const found = createLruMap<string, readonly ActiveOverlay[]>(MOST_QUERIES);
  const collect = (library: Library): void => {
    found.clear();
    all = library.lessons().flatMap((lesson) => {
      const overlay = activeOverlayOf(lesson, library);
      return overlay === undefined ? [] : [{ lesson, overlay }];
    });
  };
  const follow = (): void => {
    const library = options.library();
    if (library === undefined || library === followed) return;
    followed = library;
    library.onChange(() => collect(library));
    collect(library);
  };
  return {
    for: (query) => {
      follow();
      if (all.length === 0 || options.isOff()) return NONE;
      const { agent = null, project = null, runKind = null, member = null } = query;
      const key = JSON.stringify([agent, project, runKind, member]);
      let matching = found.get(key);
      if (matching === undefined) {
        matching = all.filter(({ lesson }) => isFor(lesson, query)).map(({ overlay }) => overlay);
        found.set(key, matching);
      }
      const now = options.now();
      const isExpired = all.some(({ lesson }) => (lesson.expiresAt ?? now + 1) <= now);
      return isExpired ? matching.filter((one) => !hasExpired(followed, one, now)) : matching;
    },
  };
}

const hasExpired = (library: Library | undefined, { lesson }: ActiveOverlay, now: number): boolean =>
  (library?.lesson(lesson)?.expiresAt ?? now + 1) <= now;

/** A query that names nothing asks for all. */
const isAll = ({ agent, project, runKind, member }: OverlayQuery): boolean =>
  agent === undefined && project === undefined && runKind === undefined && member === undefined;

const isFor = ({ text: { scope } }: Lesson, { agent, project, runKind, member }: OverlayQuery): boolean =>
  isInScope(
    scope,
    {
      agent: agent ?? 'unknown',
      ...(project === undefined ? {} : { project }),
      ...(runKind === undefined ? {} : { runKind }),
      ...(member === undefined ? {} : { member }),
    },
    undefined,
  );

/** Those in force among these lessons, as JSON: for people, with and without a daemon. */
export const listOverlays = (lessons: readonly Lesson[], query: OverlayQuery): readonly JsonObject[] =>
  lessons
    .filter((lesson) => isAll(query) || isFor(lesson, query))
    .flatMap((lesson) => {
      const { id, state, revision, text } = lesson;
      if (text.overlay === undefined || (state !== 'trial' && state !== 'live')) return [];
      const scope = { ...text.scope };
      const { visibility } = text.note;
      return [
        { lesson: id, name: text.name, revision, state, scope, visibility, ...encodeOverlay(text.overlay) },
      ];
    });

/** Undefined for a lesson without an overlay, and for one that is not in use. */
function activeOverlayOf({ id, state, revision, text }: Lesson, library: Library): ActiveOverlay | undefined {
  if (text.overlay === undefined || (state !== 'trial' && state !== 'live')) return undefined;
  const isApproved = library
    .history(id)
    .some(
      ({ by, op, revision: of }) =>
        by.kind === 'person' && (op === 'move' || op === 'add') && of === revision,
    );
  const { payload, from } = text.overlay;
  const learned = from === undefined ? {} : { isLearned: true, ...compact({ onlyFor: from.onlyFor }) };
  return { lesson: id, name: text.name, revision, state, payload, isApproved, ...learned };
}

/** The name of the file in the home. Whatever is in it: while it exists, nothing learned acts and nothing is learned. */
const KILL_FILE = 'learning-off';

/** In the same folder as the record. */
export const killFileBeside = (storeFile: string): string => path.join(path.dirname(storeFile), KILL_FILE);

const KNOWN_MS = 50;

interface KillSwitch {
  readonly isOff: () => boolean;
}

/**
 * A switch that works without the record and without the API: `touch HOME/learning-off`. It is for the moment when something learned
 * does harm and nothing else answers. Removing the file turns everything on again. It is looked for when somebody
 * asks, and again after 50 ms: a timer would wake an idle process, and a watch of the home would report every write to the record.
 */
export function createKillSwitch(home: string, log: Log): KillSwitch {
  const file = path.join(home, KILL_FILE);
  let wasOff = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const look = (): boolean => {
    const now = performance.now();
    if (now - lookedAt < KNOWN_MS) return wasOff;
    lookedAt = now;
    const isOff = existsSync(file);
    if (isOff && !wasOff)
      log.warn({ file }, 'everything learned is switched off: remove the file to turn it on again');
    if (!isOff && wasOff) log.info({ file }, 'everything learned is on again');
    wasOff = isOff;
    return isOff;
  };
  look();
  return { isOff: look };
}

interface ApplyOverlaysOptions {
  readonly active: ActiveOverlays;
  /** Whether a session goes without an overlay, so that it is measured. */
  readonly lotOf: Holdout['lotOf'];
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

export function createApplyOverlays(options: ApplyOverlaysOptions): ApplyOverlays {
  const recorded = createLruMap<string, true>(MOST_SESSIONS);
  return ({ session, key, ...query }) => {
    const found = options.active.for(query);
    if (found.length === 0) return undefined;
    const served = found.filter(
      ({ payload, onlyFor }) => SERVED.has(payload.type) && isOfKey(onlyFor, key, session),
    );
    if (served.length === 0) return undefined;
    const heldOut = served.filter(({ lesson }) => options.lotOf({ session }, lesson) === 'held-out');
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
