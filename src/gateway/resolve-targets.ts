import type { Target } from '../core/upstream.ts';
import type { WireName } from '../core/wire.ts';
import { type AccessDecision, bringsCredential, refusal } from './access-control.ts';
import { ANY_MODEL, type GatewayContext } from './context.ts';
import type { Turn } from './turn.ts';

/** The targets of a request, the first choice first. Empty: no provider speaks its wire. */
export function resolveTargets(
  context: GatewayContext,
  turn: Turn,
): readonly Target[] | Promise<readonly Target[]> {
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

/** Whether the caller may use a target, and with the owner's key there whether it may send this request. Synchronous for a chat. */
export function admitTo(
  { authorize }: GatewayContext,
  turn: Turn,
  target: Target,
): AccessDecision | Promise<AccessDecision> {
  const decision = authorize.forTarget(turn.request, target, turn.caller);
  if (!decision.ok || decision.access.kind !== 'own') return decision;
  const refused = authorize.account.refuse(turn);
  if (refused instanceof Promise) return refused.then((failure) => (failure ? refusal(failure) : decision));
  return refused === undefined ? decision : refusal(refused);
}

/** For a request that no provider can take. */
export function describeMissingProvider(wire: WireName, path: string): string {
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
