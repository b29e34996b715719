import { ANONYMOUS, type BoundAttempt, type Caller, UNVERIFIED } from '../core/caller.ts';
import { createFailure, type FailedResult, type Failure, refusal } from '../core/failure.ts';
import { compact } from '../core/json.ts';
import type { LimitAnswer } from '../core/key-limit.ts';
import { type FlowAnswer, flowPolicy, type TurnOverlays } from '../core/overlay.ts';
import type { RoutedTurn } from '../core/routed-turn.ts';
import type { Target } from '../core/upstream.ts';
import type { WireName } from '../core/wire.ts';
import { type AccessDecision, bringsCredential } from './access-control.ts';
import { REPLY_ID_PREFIXES } from './answer-chat-word.ts';
import { ANY_MODEL, type GatewayContext } from './context.ts';
import type { Identity } from './identify.ts';
import {
  headerSafe,
  isRecorded,
  NOTHING_SHOWN,
  type OwnReply,
  type PlannedTarget,
  type PlannedTurn,
  policyOf,
  type ReplyMarks,
  type ShownLessons,
  type Turn,
} from './turn.ts';

export type TurnPlan =
  | { readonly ok: true; readonly plan: PlannedTurn }
  | { readonly ok: false; readonly why: string; readonly refusal: TurnRefusal };

/** Why no model is called for a turn. */
export interface TurnRefusal {
  readonly failure: Failure;
  readonly end: 'refused' | 'upstream-error';
  /** The model that was asked for. */
  readonly target: Target | undefined;
  readonly marks: ReplyMarks;
}

/** Without a key, a model that Instar runs itself reads, renders and tokenises at most this much. */
const MOST_KEYLESS_BYTES = 1024 * 1024;
const KEYLESS_TOO_LARGE = createFailure(
  'too-large',
  'Without a key of Instar, a request to a model that Instar runs itself may have at most 1 MB.',
);

/** Decides everything about a turn before a model is called: models, credentials, limits, lessons. Records and sends nothing. */
export async function planTurn(context: GatewayContext, turn: Turn): Promise<TurnPlan> {
  const asked = await resolveTargets(context, turn);
  const marks: Record<string, string> = {
    'x-instar-turn': turn.id,
    'x-instar-session': headerSafe(turn.session.session),
  };
  const held = await holdLimits(context, turn, asked);
  if (held === undefined) return planWithin(context, turn, { resolved: asked, marks, ended: undefined });
  if (!held.ok) {
    const { failure } = held;
    return { ok: false, why: failure.message, refusal: { failure, end: 'refused', target: asked[0], marks } };
  }
  const { fallback, ended } = held;
  if (fallback !== undefined) marks['x-instar-fallback'] = headerSafe(fallback);
  const resolved = fallback === undefined ? asked : context.catalogue.resolve(fallback, turn.wire.name);
  const planned = await planWithin(context, turn, { resolved, marks, ended });
  if (!planned.ok) ended(false);
  return planned;
}

/** What a key with limits is let in with; undefined for all others, and for what costs nothing. */
async function holdLimits(
  { limits }: GatewayContext,
  turn: Turn,
  [target]: readonly Target[],
): Promise<LimitAnswer | undefined> {
  const key = turn.caller?.limited;
  if (key === undefined || limits === undefined || turn.kind === 'count') return undefined;
  const model = target === undefined ? (turn.outline?.model ?? '') : policyOf(target, turn);
  return limits(key, { turn: turn.id, model, bytes: turn.raw.length, isUnrecorded: !isRecorded(turn) });
}

interface PlanFrame {
  readonly resolved: readonly Target[];
  readonly marks: Record<string, string>;
  readonly ended: PlannedTurn['ended'];
}

async function planWithin(
  context: GatewayContext,
  turn: Turn,
  { resolved, marks, ended }: PlanFrame,
): Promise<TurnPlan> {
  const { overlays, routed } = await adapt(context, turn, resolved);
  const candidates = routed?.targets ?? resolved;
  if (routed !== undefined)
    marks['x-instar-route'] = `${routed.choice.tier} ${headerSafe(routed.choice.target)}`;
  const admitted = await admitCandidates(context, turn, candidates);
  if (!admitted.ok) {
    const [target] = candidates;
    const end = target === undefined ? 'upstream-error' : 'refused';
    return { ok: false, why: admitted.why, refusal: { failure: admitted.failure, end, target, marks } };
  }
  const { targets } = admitted;
  const { credential } = targets[0];
  const caller = turn.caller?.id ?? (credential === undefined ? ANONYMOUS.id : UNVERIFIED);
  const flow = overlays === undefined ? undefined : flowAnswerFor(context, turn, overlays);
  const shown =
    flow === undefined ? await lessonsFor(context, turn, { caller, overlays, targets }) : NOTHING_SHOWN;
  const lessons = overlays === undefined ? shown.lessons : [...shown.lessons, ...overlays.lessons];
  if (lessons.length > 0) marks['x-instar-lessons'] = headerIds(lessons);
  if (turn.identity.claimed !== undefined) marks['x-instar-agent'] = headerSafe(turn.identity.agent ?? '');
  if (shown.shortened !== undefined) marks['x-instar-prompt'] = `shortened ${shown.shortened.hash}`;
  if (flow === undefined) marks['x-instar-generation'] = String(shown.generation);
  else marks['x-instar-flow'] = `${flow.flow} ${flow.step}/${flow.of}`;
  const retries = overlays?.limits?.retries;
  const plan: PlannedTurn = {
    turn,
    model: turn.outline?.model ?? '',
    caller,
    targets,
    ownReply: flow && replyOfFlow(context, turn, flow),
    shown,
    lessons,
    limits: overlays?.limits,
    retry: retries === undefined ? context.retry : { ...context.retry, retries },
    limitedBy: overlays?.limitedBy,
    marks,
    ended,
    recordChoices: routed?.record ?? overlays?.record,
  };
  return { ok: true, plan };
}

/** The targets of a request, the first choice first. Empty: no provider speaks its wire. */
async function resolveTargets(context: GatewayContext, turn: Turn): Promise<readonly Target[]> {
  const { kind, wire, body, outline } = turn;
  const model = body === undefined ? ANY_MODEL : outline?.model;
  if (kind !== 'other') return context.catalogue.resolve(model, wire.name);
  return outline?.model ? context.catalogue.resolve(outline.model, wire.name) : targetOfWire(context, turn);
}

/**
 * A request that names no model goes to one provider of its wire: the one at which the object it is about was created, else the usual
 * one. Where the owner's key may not be used for it, an entry of the same provider that passes the caller's credential through is.
 */
async function targetOfWire(
  { catalogue, authorize: { account } }: GatewayContext,
  turn: Turn,
): Promise<readonly Target[]> {
  const targets = catalogue.speaking(turn.wire.name);
  const creator = await account.providerOf(turn);
  const chosen = targets.find(({ provider }) => provider === creator) ?? targets[0];
  if (chosen === undefined || chosen.access.kind !== 'own') return chosen === undefined ? [] : [chosen];
  const { request } = turn;
  // The caller's own credential is its other one: a key of Instar's is never passed through.
  const passing = targets.find(
    (target) =>
      request.headers['x-instar-key'] !== undefined &&
      hasSameOrigin(target, chosen) &&
      bringsCredential(request, target),
  );
  if (passing === undefined) return [chosen];
  return [(await account.refuse(turn)) === undefined ? chosen : passing];
}

const hasSameOrigin = (one: Target, other: Target): boolean =>
  one.upstreams.some(({ origin }) => other.upstreams.some((upstream) => upstream.origin === origin));

interface Adaptation {
  readonly overlays: TurnOverlays | undefined;
  readonly routed: RoutedTurn | undefined;
}

const UNCHANGED: Adaptation = { overlays: undefined, routed: undefined };

/** What is learned about serving: for callers that somebody knows, and not for attempts at practice tasks. */
async function adapt(
  { overlays: overlaysOf, router }: GatewayContext,
  turn: Turn,
  targets: readonly Target[],
): Promise<Adaptation> {
  if (turn.caller?.attempt !== undefined) return UNCHANGED;
  const overlays = turn.kind === 'chat' ? overlaysOf?.(turn) : undefined;
  const isRouted = router?.isAsked(turn, targets) === true;
  if (overlays === undefined && !isRouted) return UNCHANGED;
  if (turn.caller === undefined && !bringsCredential(turn.request, targets[0])) return UNCHANGED;
  return { overlays, routed: isRouted ? await router?.route(turn, overlays) : undefined };
}

type Admission = { readonly ok: true; readonly targets: PlannedTurn['targets'] } | FailedResult;

/** The first choice is admitted or the turn is refused; a fallback that may not be used is passed over. */
async function admitCandidates(
  context: GatewayContext,
  turn: Turn,
  [first, ...fallbacks]: readonly Target[],
): Promise<Admission> {
  if (first === undefined)
    return refusal(createFailure('not-found', describeMissingProvider(turn.wire.name, turn.path)));
  const decision = await admitTo(context, turn, first);
  if (!decision.ok) return decision;
  const targets: [PlannedTarget, ...PlannedTarget[]] = [toPlannedTarget(first, decision, turn.credential)];
  for (const fallback of fallbacks) {
    // The caller's credentials belong to the provider it asked for; a fallback elsewhere must have its own.
    if (fallback.access.kind === 'caller' && fallback.provider !== first.provider) continue;
    const admitted = await admitTo(context, turn, fallback);
    if (admitted.ok) targets.push(toPlannedTarget(fallback, admitted, turn.credential));
  }
  return { ok: true, targets };
}

/** Whether the caller may use a target, and with the owner's key there whether it may send this request. */
async function admitTo({ authorize }: GatewayContext, turn: Turn, target: Target): Promise<AccessDecision> {
  const decision = authorize.forTarget(turn.request, target, turn.caller);
  if (!decision.ok) return decision;
  const isKeyless = turn.caller === undefined && target.upstreams.length === 0;
  if (isKeyless && turn.raw.length > MOST_KEYLESS_BYTES) return refusal(KEYLESS_TOO_LARGE);
  if (decision.access.kind !== 'own') return decision;
  const failure = await authorize.account.refuse(turn);
  return failure === undefined ? decision : refusal(failure);
}

const toPlannedTarget = (
  target: Target,
  { access, isOwnCredential }: Extract<AccessDecision, { ok: true }>,
  credential: Caller | undefined,
): PlannedTarget => ({
  target: access === target.access ? target : { ...target, access },
  credential: isOwnCredential ? credential : undefined,
});

/** For a request that no provider can take. */
function describeMissingProvider(wire: WireName, path: string): string {
  const [api, entry] = wire === 'anthropic' ? ANTHROPIC : OPENAI;
  return `No configured provider speaks the ${api} API, which /v1${path.split('?', 1)[0]} needs. Add one: instar config set providers.${entry}`;
}

const ANTHROPIC = [
  'Anthropic',
  `anthropic '{"wire":"anthropic","baseUrl":"https://api.anthropic.com","keyEnv":"ANTHROPIC_API_KEY"}'`,
] as const;
const OPENAI = [
  'OpenAI',
  `openai '{"wire":"openai","baseUrl":"https://api.openai.com/v1","keyEnv":"OPENAI_API_KEY"}'`,
] as const;

interface LessonsPlan {
  readonly caller: string;
  readonly overlays: TurnOverlays | undefined;
  readonly targets: PlannedTurn['targets'];
}

/** Lessons may hold private words: they are only shown where Instar, or the provider that is called, checks the caller. */
async function lessonsFor(
  context: GatewayContext,
  turn: Turn,
  { caller, overlays, targets: [{ target }, ...fallbacks] }: LessonsPlan,
): Promise<ShownLessons> {
  const hasPrompt = turn.kind !== 'other' && turn.outline !== undefined;
  if (!hasPrompt || caller === ANONYMOUS.id) return NOTHING_SHOWN;
  const attempt = turn.caller?.attempt;
  if (attempt !== undefined) return lessonsOfAttempt(attempt, turn.identity);
  // A prompt that is only counted gets the text that it would be sent with.
  const limiting = turn.kind === 'count' ? context.overlays?.(turn) : overlays;
  const model = target.model ?? turn.outline?.model;
  // A fallback has not learned what these weights keep.
  const remembered = fallbacks.length > 0 ? undefined : target.remembers?.(turn.session.session);
  return context.lessons(turn, compact({ most: limiting?.limits?.lessons, model, remembered }));
}

/** The attempt's lessons, frozen: a client's own calls for a title or a summary get none, as always. */
const lessonsOfAttempt = (
  { shown: { text, place, lessons, generation } }: BoundAttempt,
  { role }: Identity,
): ShownLessons => {
  if (role === 'aux') return { generation, lessons: [], additions: [] };
  const shown = { generation, lessons, additions: [] };
  if (text === '') return shown;
  return place === 'message' ? { ...shown, said: text } : { ...shown, block: text };
};

/**
 * The next call of a flow, for a caller with a key of Instar and its main agent. Nobody checks another credential where no provider is
 * asked, and the constants of a flow are the owner's.
 */
function flowAnswerFor(
  { flows }: GatewayContext,
  turn: Turn,
  overlays: TurnOverlays,
): FlowAnswer | undefined {
  if (overlays.flows.length === 0 || turn.caller === undefined || turn.identity.role !== 'main')
    return undefined;
  return flows?.(turn, overlays.flows);
}

const CALL_IDS = { 'openai-chat': 'call', 'openai-responses': 'call', anthropic: 'toolu' } as const;

/** That call as a reply; nothing is charged for it. */
function replyOfFlow(
  { newId }: GatewayContext,
  { wire, outline }: Turn,
  { flow, tool, arguments: values }: FlowAnswer,
): OwnReply {
  const id = newId(CALL_IDS[wire.name]);
  return {
    policy: flowPolicy(flow),
    events: [
      { type: 'reply-start', id: newId(REPLY_ID_PREFIXES[wire.name]), model: outline?.model ?? 'instar' },
      { type: 'tool-start', id, name: tool },
      { type: 'tool-delta', id, json: JSON.stringify(values) },
      { type: 'reply-end', stop: 'tool-calls', usage: { inputTokens: 0, outputTokens: 0 } },
    ],
  };
}

/** Room for every lesson that a prompt can have with the usual limits. */
const LONGEST_LIST = 4_000;

/** Whole ids only: a reader would look for a cut one in vain. */
function headerIds(ids: readonly string[]): string {
  const safe = ids.map((id) => headerSafe(id));
  while (safe.join(',').length > LONGEST_LIST) safe.pop();
  return safe.join(',');
}
