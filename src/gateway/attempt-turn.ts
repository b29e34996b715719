import { createFailure } from '../core/failure.ts';
import { isWorthAnotherModel, retryDelayMs } from '../core/retry.ts';
import type { Target, Upstream } from '../core/upstream.ts';
import type { Insertion, Outline, WireName } from '../core/wire.ts';
import { readConversation } from '../wire/conversation.ts';
import { type SpanReplacement, splice } from '../wire/splice.ts';
import { createReplyCheck, type ReplyCheck } from './check-reply.ts';
import type { GatewayContext } from './context.ts';
import { relay } from './relay.ts';
import { answerTranslated, answerWith, countTokens } from './translate.ts';
import {
  headerSafe,
  type OwnReply,
  type PlannedTarget,
  policyOf,
  type ReplyMarks,
  type RunningTurn,
  releaseRequest,
  type ShownLessons,
  type Turn,
  type TurnResult,
  type UpstreamAttempt,
} from './turn.ts';

/** Tries the first choice, then its fallbacks, until one has begun to answer. */
export async function attemptTurn(context: GatewayContext, recorded: RunningTurn): Promise<TurnResult> {
  const { plan, turn } = recorded;
  if (plan.ownReply !== undefined) return giveOwnReply(recorded, plan.ownReply);
  const [first, ...fallbacks] = plan.targets;
  let result = await attemptTarget(context, recorded, first);
  for (const fallback of fallbacks) {
    if (result.outcome.kind === 'sent' || !isWorthAnotherModel(result.outcome.failure)) break;
    const { tries, modelMs } = result;
    const next = await attemptTarget(context, recorded, fallback);
    result = { ...next, tries: tries + next.tries, modelMs: modelMs + next.modelMs };
  }
  if (result.outcome.kind === 'sent') return result;
  // A turn that no model answered is the first choice's.
  return { ...result, target: first.target, policy: policyOf(first.target, turn) };
}

async function giveOwnReply(
  { plan, turn, record, marks }: RunningTurn,
  { policy, events }: OwnReply,
): Promise<TurnResult> {
  const own = { ...marks, 'x-instar-policy': policy };
  const outcome: UpstreamAttempt = turn.disconnect.isGone
    ? CLIENT_GONE
    : await answerWith({ plan, turn, record, marks: own }, events);
  // No provider has seen the caller's credential.
  return { outcome, target: undefined, policy, marks: own, tries: 0, modelMs: 0, credential: undefined };
}

const CLIENT_GONE: UpstreamAttempt = { kind: 'sent', end: 'client-abort', status: 499 };

/** Tries one target, again while a failure is worth it: only before the first byte of a reply. */
async function attemptTarget(
  context: GatewayContext,
  { plan, turn, record, marks: common }: RunningTurn,
  { target, credential }: PlannedTarget,
): Promise<TurnResult> {
  const startedAt = context.clock.monotonic();
  const policy = policyOf(target, turn);
  const marks: ReplyMarks = { ...common, 'x-instar-policy': headerSafe(policy) };
  const recorded = { plan, turn, record, marks };
  const upstream = upstreamFor(target, turn);
  // A model behind another wire retries by itself; an unknown route may not be safe to repeat.
  const mayRepeat = upstream !== undefined && (turn.kind !== 'other' || turn.request.method === 'GET');
  const { retry } = plan;
  const check =
    plan.limits?.checks === undefined ? undefined : createReplyCheck(plan, target, context.checked);
  let tries = 0;
  const settle = (outcome: UpstreamAttempt): TurnResult => {
    const modelMs = context.clock.monotonic() - startedAt;
    return { outcome, target, policy, marks, tries, modelMs, credential };
  };
  for (;;) {
    // The client may have disconnected during recall, while the recorder was full, or during a retry's pause.
    if (turn.disconnect.isGone) return settle(CLIENT_GONE);
    const outcome = await attemptOnce(context, recorded, { target, upstream, check });
    tries += 1 + (outcome.kind === 'sent' ? (outcome.reasked?.times ?? 0) : 0);
    if (outcome.kind === 'sent' || !mayRepeat) return settle(outcome);
    const pause = retryDelayMs(retry, outcome.failure, tries, context.random);
    if (pause === undefined) return settle(outcome);
    await context.pause(pause, turn.disconnect.signal);
  }
}

interface AttemptOptions {
  readonly target: Target;
  /** Undefined: the model is behind another wire. */
  readonly upstream: Upstream | undefined;
  readonly check: ReplyCheck | undefined;
}

/** Not async: its variables would hold the bytes of the request for as long as the reply is streamed. */
function attemptOnce(
  { exchange, clock, authorize }: GatewayContext,
  recorded: RunningTurn,
  { target, upstream, check }: AttemptOptions,
): Promise<UpstreamAttempt> {
  const { turn, plan } = recorded;
  const { kind, raw, body, outline, wire } = turn;
  const pieces =
    body === undefined || outline === undefined
      ? body && [body]
      : augment({ wire: wire.name, body, outline }, plan.shown, target.model);
  if (upstream !== undefined) {
    // Without an edit the client's bytes are sent as they came, compressed or not.
    const isEdited = pieces !== undefined && (pieces.length > 1 || pieces[0] !== body);
    // Objects created with the caller's own credential do not belong to the owner's provider account.
    const watch = target.access.kind === 'own' ? authorize.account.watch(turn, target) : undefined;
    // No further try follows a reply that has begun: a stream may stay open for minutes, its request need not.
    const onBegun = (): void => releaseRequest(turn);
    const sent = isEdited ? pieces : [raw];
    return relay(recorded, {
      exchange,
      clock,
      target,
      upstream,
      body: sent,
      isEdited,
      check,
      watch,
      onBegun,
    });
  }
  if (kind === 'other')
    return failed('not-found', `${target.provider} has no ${turn.path.split('?', 1)[0]} on this wire.`);
  if (pieces === undefined || outline === undefined)
    return failed(
      'bad-request',
      'The request body is not a JSON object in an encoding that can be read here.',
    );
  const bytes = joinPieces(pieces);
  return kind === 'count'
    ? countTokens(recorded, bytes)
    : answerTranslated(recorded, { target, body: bytes, check });
}

const failed = async (kind: 'not-found' | 'bad-request', message: string): Promise<UpstreamAttempt> => ({
  kind: 'failed',
  failure: createFailure(kind, message),
});

/** The upstream that takes the caller's bytes unchanged. Routes other than chat are the same on both OpenAI wires. */
function upstreamFor(target: Target, { kind, wire, outline }: Turn): Upstream | undefined {
  if (kind === 'chat' && target.writesCalls !== undefined && offersTools(outline)) {
    if (target.writesCalls(outline?.model ?? '')) return undefined;
  }
  const exact = target.upstreams.find((upstream) => upstream.wire === wire.name);
  if (exact !== undefined || kind !== 'other' || wire.name === 'anthropic') return exact;
  return target.upstreams.find((upstream) => upstream.wire.startsWith('openai'));
}

const offersTools = (outline: Outline | undefined): boolean =>
  outline?.member('tools') !== undefined || outline?.member('functions') !== undefined;

interface RequestBytes {
  readonly wire: WireName;
  readonly body: Buffer;
  readonly outline: Outline;
}

/**
 * The body to send: the client's bytes with the lessons inserted, a long system text shortened where the config enables
 * it, and the model's name replaced where the target uses another one. In pieces; without any edit it is the same buffer.
 */
export function augment(
  { wire, body, outline }: RequestBytes,
  { block, additions, said, shortened }: ShownLessons,
  model: string | undefined,
): readonly Buffer[] {
  const insertions: Insertion[] = block === undefined ? [] : [...outline.place(block)];
  if (additions.length > 0 || said !== undefined) {
    const conversation = readConversation(wire, body);
    for (const { link, text } of additions) insertions.push(...(conversation?.placeAt(link, text) ?? []));
    if (said !== undefined)
      insertions.push(...(conversation?.placeAt(conversation.taskLink ?? '', said) ?? outline.place(said)));
  }
  const replacements: SpanReplacement[] = [];
  if (shortened !== undefined)
    replacements.push({ span: shortened.span, text: JSON.stringify(shortened.text).slice(1, -1) });
  if (model === undefined || model === outline.model) {
    const isSame = insertions.length + replacements.length === 0;
    return isSame ? [body] : splice(body, { insertions, replacements });
  }
  const text = JSON.stringify(model);
  if (outline.modelSpan !== undefined) {
    replacements.push({ span: outline.modelSpan, text });
    return splice(body, { insertions, replacements });
  }
  const at = body.indexOf('{') + 1;
  const isEmpty = /^\s*\}/.test(body.toString('latin1', at, at + 64));
  insertions.push({ at, text: `"model":${text}${isEmpty && insertions.length === 0 ? '' : ','}` });
  return splice(body, { insertions, replacements });
}

/** For those who read the body as one. */
const joinPieces = (pieces: readonly Buffer[]): Buffer => {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
};
