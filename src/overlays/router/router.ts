import type { Log } from '../../base/log.ts';
import { createLruMap } from '../../base/lru-map.ts';
import type { Prices } from '../../core/budget.ts';
import type { TurnRole } from '../../core/evidence.ts';
import { compact } from '../../core/json.ts';
import {
  AUTO_MODEL,
  type OverlayFact,
  type RouteChoice,
  type RoutedTask,
  type Tier,
  type TurnOverlays,
} from '../../core/overlay.ts';
import type { RoutedTurn } from '../../core/routed-turn.ts';
import type { Catalogue, Target } from '../../core/upstream.ts';
import type { WireName } from '../../core/wire.ts';
import { sketchOf } from '../../lessons/similar/task-sketch.ts';
import { readConversation } from '../../wire/conversation.ts';
import { chooseTier, savingOf } from './choose-tier.ts';
import type { RouteOutcomes } from './route-outcomes.ts';
import { MAIN_THREAD, type SessionChoices } from './session-choices.ts';

export interface RouterSettings {
  readonly cheap: string;
  readonly strong: string;
  readonly for: 'auto' | 'all';
}

/** A turn as the router reads it. */
export interface RoutableTurn {
  readonly id: string;
  readonly kind: string;
  readonly wire: { readonly name: WireName };
  readonly body: Buffer | undefined;
  readonly outline: { readonly model: string | undefined } | undefined;
  readonly session: { readonly session: string };
  readonly identity: {
    readonly agent?: string | undefined;
    readonly client?: string | undefined;
    readonly runKind?: string | undefined;
    readonly domain?: string | undefined;
    readonly role: TurnRole;
    readonly record: boolean;
  };
}

interface RouterOptions {
  /** Undefined: the router is off. */
  readonly settings: () => RouterSettings | undefined;
  readonly catalogue: Pick<Catalogue, 'resolve'>;
  readonly outcomes: () => Pick<RouteOutcomes, 'evidenceFor'>;
  readonly choices: SessionChoices;
  /** Reads what the record has of a session into `choices`. Does not reject. */
  readonly restore: (session: string) => Promise<void>;
  readonly prices: Prices;
  /** The share of the day's budget that is used, 0 to 1. */
  readonly pressure: () => number;
  /** Returns at once. */
  readonly append: (fact: OverlayFact, key: string) => void;
  readonly log: Log;
}

export interface TurnRouter {
  /** Whether the router is on and the request is for it. `targets`: what its model name resolves to. */
  isAsked(turn: RoutableTurn, targets: readonly Target[]): boolean;
  /** Undefined when nothing could be chosen: the targets stay as they are. */
  route(turn: RoutableTurn, overlays: TurnOverlays | undefined): Promise<RoutedTurn | undefined>;
}

/** After this many failed turns of a session its conversations get the strong model. */
const FAILED_TURNS = 2;
const MOST_RECORDED = 5_000;

/**
 * Chooses between two models, once for each conversation: a change would lose the provider's prompt cache. Only after failed turns a
 * conversation moves on, to the strong model, and never back. `choose-tier` has the rule.
 */
export function createRouter(options: RouterOptions): TurnRouter {
  const { settings, catalogue, choices, log } = options;
  const recorded = createLruMap<string, true>(MOST_RECORDED);

  const isAsked: TurnRouter['isAsked'] = ({ kind, outline }, [first]) => {
    const set = settings();
    if (set === undefined || (kind !== 'chat' && kind !== 'count')) return false;
    if (outline?.model === AUTO_MODEL) return true;
    if (set.for === 'auto' || first === undefined) return false;
    const name = `${first.provider}/${first.model ?? outline?.model ?? ''}`;
    return name === set.cheap || name === set.strong;
  };

  const finish = (turn: RoutableTurn, overlays: TurnOverlays | undefined): RoutedTurn | undefined => {
    const set = settings();
    const pair = set && pairOf(set, turn.wire.name, catalogue);
    if (set === undefined || pair === undefined) return undefined;
    const choice = decideRoute(options, turn, set, overlays);
    const targets = choice.tier === 'cheap' ? [pair.cheap, pair.strong] : [pair.strong, pair.cheap];
    const { session } = turn.session;
    return {
      choice,
      targets,
      record: (id) => {
        if (!turn.identity.record) return;
        if (turn.identity.role === 'aux') return overlays?.record(id);
        if (overlays !== undefined) return overlays.record(id, choice);
        const key = `route:${session}:${choice.thread ?? ''}:${choice.target}`;
        if (recorded.get(key) === true) return;
        recorded.set(key, true);
        options.append(
          { type: 'overlays-applied', session, turn: id, lessons: [], heldOut: [], ...choice },
          key,
        );
      },
    };
  };

  return {
    isAsked,
    route: async (turn, overlays) => {
      const { session } = turn.session;
      if (!choices.isKnown(session)) await options.restore(session);
      try {
        return finish(turn, overlays);
      } catch (error) {
        log.warn({ err: error }, 'the router could not choose: the request goes to the strong model');
        return undefined;
      }
    },
  };
}

/** The choice of the turn's conversation, which is made now where it has none. After failed turns it is the strong model. */
function decideRoute(
  { choices, outcomes, prices, pressure }: RouterOptions,
  turn: RoutableTurn,
  set: RouterSettings,
  overlays: TurnOverlays | undefined,
): RouteChoice {
  const { session } = turn.session;
  const named = (tier: Tier, reason: string): RouteChoice => ({ tier, target: set[tier], reason });
  // A title or a summary: with the model of the conversation where there is one.
  if (turn.identity.role === 'aux') {
    const main = choices.of(session, MAIN_THREAD);
    return main === undefined
      ? named('cheap', "a client's own request")
      : named(main.tier, 'as the conversation');
  }
  const conversation = turn.body && readConversation(turn.wire.name, turn.body);
  const thread = turn.identity.role === 'side' ? (conversation?.links[0] ?? 'side') : MAIN_THREAD;
  const part = thread === MAIN_THREAD ? {} : { thread };
  let choice = choices.of(session, thread);
  if (choice === undefined) {
    const { agent, client, runKind, domain } = turn.identity;
    const task: RoutedTask = compact({
      agent: agent ?? client ?? 'unknown',
      runKind,
      domain,
      sketch: sketchOf(conversation?.task ?? ''),
    });
    const chosen = chooseTier({
      session,
      evidence: outcomes().evidenceFor(task, session),
      saving: savingOf(prices(set.cheap), prices(set.strong)),
      pressure: pressure(),
      bias: overlays?.bias ?? 0,
      mayExplore: thread === MAIN_THREAD && turn.identity.record,
    });
    choice = thread === MAIN_THREAD ? { ...chosen, task } : chosen;
    // A prompt that is only counted may never be sent.
    if (turn.kind === 'chat') choices.set(session, thread, choice);
  }
  const failed = choices.failures(session);
  if (choice.tier === 'cheap' && failed >= FAILED_TURNS) {
    choice = {
      ...choice,
      tier: 'strong',
      reason: `${failed} turns of the session failed with ${set.cheap}`,
    };
    choices.set(session, thread, choice);
  }
  return { ...choice, target: set[choice.tier], ...part };
}

/**
 * The targets of both tiers. A caller's own credential belongs to one provider: where the tiers are of two, a server on this machine
 * is called without any, and others need a key in the config. Undefined where one of them has none.
 */
function pairOf(
  { cheap, strong }: RouterSettings,
  wire: WireName,
  catalogue: Pick<Catalogue, 'resolve'>,
): Readonly<Record<Tier, Target>> | undefined {
  const [low] = catalogue.resolve(cheap, wire);
  const [high] = catalogue.resolve(strong, wire);
  if (low === undefined || high === undefined) return undefined;
  if (low.provider === high.provider) return { cheap: low, strong: high };
  const own = (target: Target): Target | undefined => {
    if (target.access.kind !== 'caller') return target;
    return target.isNear === true ? { ...target, access: { kind: 'open' } } : undefined;
  };
  const [a, b] = [own(low), own(high)];
  return a === undefined || b === undefined ? undefined : { cheap: a, strong: b };
}
