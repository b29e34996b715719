import { ANONYMOUS, type Caller, UNVERIFIED } from '../core/caller.ts';
import type { UnreadableBody } from '../core/fact.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { compact } from '../core/json.ts';
import { flowPolicy, type TurnOverlays } from '../core/overlay.ts';
import { UNKNOWN_AGENT } from '../core/principal.ts';
import { noRecord, type ReaskedReplies } from '../core/recorder.ts';
import { isWorthAnotherModel, retryDelayMs, withRetries } from '../core/retry.ts';
import type { RoutedTurn } from '../core/routed-turn.ts';
import type { Target, Upstream } from '../core/upstream.ts';
import type { Outline } from '../core/wire.ts';
import { bringsCredential } from './access-control.ts';
import { answerFlowStep, flowAnswerFor } from './answer-flow.ts';
import { lessonsOfAttempt } from './attempt-keys.ts';
import { augment, joinPieces } from './augment.ts';
import { createReplyCheck, type ReplyCheck } from './check-reply.ts';
import type { GatewayContext } from './context.ts';
import { sendFailure, sendProviderError } from './error-reply.ts';
import { relay } from './relay.ts';
import { admitTo, describeMissingProvider, resolveTargets } from './resolve-targets.ts';
import { answerTranslated, countTokens } from './translate.ts';
import {
  NOTHING_SHOWN,
  type RunningTurn,
  releaseRequest,
  type ShownLessons,
  type Turn,
  type TurnEnd,
  toRunningTurn,
  type UpstreamAttempt,
} from './turn.ts';

/** How a turn ended, and at which target. */
interface ForwardResult {
  readonly target: Target | undefined;
  readonly end: TurnEnd;
  readonly status: number;
  readonly tries: number;
  /** See `TurnReport`. */
  readonly modelMs: number;
  readonly failure: Failure | undefined;
  /** Ids of the lessons that set limits for it. */
  readonly limitedBy: readonly string[] | undefined;
  /** A provider has accepted the caller's own credential. */
  readonly isProven: boolean;
}

type Failed = UpstreamAttempt & { readonly kind: 'failed' };
const NO_TARGET: Failed = {
  kind: 'failed',
  failure: createFailure('not-found', 'No provider of this model accepts your credentials.'),
};

const missingProvider = ({ wire, path }: Turn): Failed => ({
  kind: 'failed',
  failure: createFailure('not-found', describeMissingProvider(wire.name, path)),
});

/** What a model that Instar runs itself reads, renders and tokenises for a caller that nobody knows. */
const MOST_KEYLESS_BYTES = 1024 * 1024;
const KEYLESS_TOO_LARGE = createFailure(
  'too-large',
  'Without a key of Instar, a request to a model that Instar runs itself may have at most 1 MB.',
);

/** Tries the requested model, then its fallbacks, until one has begun to answer. */
export async function forwardTurn(context: GatewayContext, turn: Turn): Promise<ForwardResult> {
  const { wire, response } = turn;
  const found = resolveTargets(context, turn);
  const resolved = found instanceof Promise ? await found : found;
  const marks: Record<string, string> = {
    'x-instar-turn': turn.id,
    'x-instar-session': headerSafe(turn.session.session),
  };
  const adapted = adapt(context, turn, resolved);
  const { overlays, routed } = adapted instanceof Promise ? await adapted : adapted;
  const targets = routed?.targets ?? resolved;
  const first = targets[0];
  if (routed !== undefined)
    marks['x-instar-route'] = `${routed.choice.tier} ${headerSafe(routed.choice.target)}`;
  const flow = overlays === undefined ? undefined : flowAnswerFor(context, turn, overlays);
  let running: RunningTurn | undefined;
  let last = first === undefined ? missingProvider(turn) : NO_TARGET;
  let tries = 0;
  let modelMs = 0;
  // The policy when the try began: weights may change while a reply is being streamed.
  let policy = '';
  /** The caller's own credential at the current target: a 2xx reply proves it. */
  let verifiable: Caller | undefined;
  const finish = (
    target: Target | undefined,
    end: TurnEnd,
    status: number,
    failure?: Failure,
    reasked?: ReaskedReplies,
  ): ForwardResult => {
    const isProven = verifiable !== undefined && status >= 200 && status < 300;
    if (running !== undefined) {
      const totalMs = context.clock.monotonic() - turn.startedAt;
      const proven = isProven ? { caller: verifiable?.id } : {};
      const outcome = compact({ status: end, httpStatus: status, policy, totalMs, reasked, ...proven });
      running.record.end(failure === undefined ? outcome : { ...outcome, failure });
    }
    const limitedBy = running?.overlays?.limitedBy;
    return { target, end, status, tries, modelMs, failure, limitedBy, isProven };
  };
  /** The reply has begun, so there is no further try: a stream may stay open for minutes, its request need not. */
  const letGo = (): void => {
    releaseRequest(turn);
    if (running !== undefined) releaseRequest(running);
  };
  for (const candidate of targets) {
    // The caller's credentials belong to the provider it asked for; a fallback elsewhere must have its own.
    if (candidate.access.kind === 'caller' && candidate.provider !== first?.provider) continue;
    const admitted = admitTo(context, turn, candidate);
    const admittance = admitted instanceof Promise ? await admitted : admitted;
    if (!admittance.ok) {
      if (candidate !== first) continue;
      const { failure } = admittance;
      sendFailure(response, wire, failure, marks);
      return finish(first, 'refused', failure.status, failure);
    }
    const isKeyless = turn.caller === undefined && candidate.upstreams.length === 0;
    if (isKeyless && turn.raw.length > MOST_KEYLESS_BYTES) {
      sendFailure(response, wire, KEYLESS_TOO_LARGE, marks);
      return finish(candidate, 'refused', KEYLESS_TOO_LARGE.status, KEYLESS_TOO_LARGE);
    }
    const { access, isOwnCredential } = admittance;
    verifiable = isOwnCredential ? turn.credential : undefined;
    const target: Target = access === candidate.access ? candidate : { ...candidate, access };
    if (running === undefined) {
      const room = isRecorded(turn) ? context.recorder.room(turn.body?.length ?? 0) : undefined;
      if (room !== undefined) await room;
      const caller = turn.caller?.id ?? (verifiable === undefined ? ANONYMOUS.id : UNVERIFIED);
      const begun =
        flow === undefined
          ? begin(context, turn, target, caller, marks, overlays, routed)
          : beginWith(NOTHING_SHOWN, context, turn, flowPolicy(flow.flow), caller, marks, overlays, routed);
      running = begun instanceof Promise ? await begun : begun;
    }
    if (flow !== undefined) {
      policy = flowPolicy(flow.flow);
      // No provider has seen the caller's credential.
      verifiable = undefined;
      const sent = await answerFlowStep(context, running, flow, marks);
      if (sent.kind === 'sent') return finish(undefined, sent.end, sent.status);
    }
    policy = policyOf(target, turn);
    marks['x-instar-policy'] = headerSafe(policy);
    const since = context.clock.monotonic();
    const { attempt, tries: tried } = await tryTarget(context, running, target, marks, letGo);
    modelMs += context.clock.monotonic() - since;
    tries += tried;
    if (attempt.kind === 'sent') {
      const { end, status, failure, reasked } = attempt;
      return finish(target, end, status, failure, reasked);
    }
    last = attempt;
    if (!isWorthAnotherModel(last.failure)) break;
  }
  if (last.reply !== undefined) sendProviderError(response, wire, last.reply, last.failure, marks);
  else sendFailure(response, wire, last.failure, marks);
  policy = first ? policyOf(first, turn) : '';
  return finish(first, 'upstream-error', last.failure.status, last.failure);
}

interface Adapted {
  readonly overlays: TurnOverlays | undefined;
  readonly routed: RoutedTurn | undefined;
}

const AS_IT_IS: Adapted = { overlays: undefined, routed: undefined };

/** What is learned about serving: for callers that somebody knows, and not for attempts at practice tasks. */
function adapt(
  { overlays: overlaysOf, router }: GatewayContext,
  turn: Turn,
  targets: readonly Target[],
): Adapted | Promise<Adapted> {
  if (turn.caller?.attempt !== undefined) return AS_IT_IS;
  const overlays = turn.kind === 'chat' ? overlaysOf?.(turn) : undefined;
  const isRouted = router?.isAsked(turn, targets) === true;
  if (overlays === undefined && !isRouted) return AS_IT_IS;
  if (turn.caller === undefined && !bringsCredential(turn.request, targets[0])) return AS_IT_IS;
  const routed = isRouted ? router?.route(turn, overlays) : undefined;
  return routed instanceof Promise ? routed.then((one) => ({ overlays, routed: one })) : { overlays, routed };
}

/** Recalls lessons and records the intent before the provider is called. Synchronous when recall is. */
function begin(
  context: GatewayContext,
  turn: Turn,
  target: Target,
  caller: string,
  marks: Record<string, string>,
  overlays: TurnOverlays | undefined,
  routed: RoutedTurn | undefined,
): RunningTurn | Promise<RunningTurn> {
  const hasPrompt = turn.kind !== 'other' && turn.outline !== undefined;
  // Lessons may hold private words: they are only shown where Instar, or the provider that is called, checks the caller.
  const bound = turn.caller?.attempt;
  const shown =
    !hasPrompt || caller === ANONYMOUS.id
      ? NOTHING_SHOWN
      : bound === undefined
        ? context.lessons(turn, mostLessons(context, turn, overlays))
        : lessonsOfAttempt(bound, turn.identity);
  return shown instanceof Promise
    ? shown.then((lessons) =>
        beginWith(lessons, context, turn, policyOf(target, turn), caller, marks, overlays, routed),
      )
    : beginWith(shown, context, turn, policyOf(target, turn), caller, marks, overlays, routed);
}

/** A prompt that is only counted gets the text that it would be sent with. */
const mostLessons = (
  context: GatewayContext,
  turn: Turn,
  overlays: TurnOverlays | undefined,
): number | undefined => (turn.kind === 'count' ? context.overlays?.(turn) : overlays)?.limits?.lessons;

function beginWith(
  shown: ShownLessons,
  context: GatewayContext,
  turn: Turn,
  policy: string,
  caller: string,
  marks: Record<string, string>,
  overlays: TurnOverlays | undefined,
  routed: RoutedTurn | undefined,
): RunningTurn {
  const lessons = overlays === undefined ? shown.lessons : [...shown.lessons, ...overlays.lessons];
  const { id, identity, wire, outline, session } = turn;
  marks['x-instar-generation'] = String(shown.generation);
  if (lessons.length > 0) marks['x-instar-lessons'] = headerIds(lessons);
  if (identity.claimed !== undefined) marks['x-instar-agent'] = headerSafe(identity.agent ?? '');
  if (shown.shortened !== undefined) marks['x-instar-prompt'] = `shortened ${shown.shortened.hash}`;
  if (!isRecorded(turn)) return toRunningTurn(turn, shown, noRecord, overlays);
  // A turn that may be lost is not acknowledged.
  if (context.recorder.isRecording?.() === false) Reflect.deleteProperty(marks, 'x-instar-turn');
  const { client, project, runKind, domain, role } = identity;
  const record = context.recorder.start({
    turn: id,
    session: session.session,
    agent: identity.agent ?? client ?? UNKNOWN_AGENT,
    role,
    wire: wire.name,
    model: outline?.model ?? '',
    generation: shown.generation,
    policy,
    lessons,
    caller,
    body: turn.body,
    ...compact({
      unreadable: unreadableRequest(turn),
      link: session.link,
      client,
      claimed: identity.claimed,
      project,
      runKind,
      domain,
      block: shown.hash,
      traceparent: traceparentOf(turn),
      prompt: shown.prompt,
    }),
  });
  if (routed === undefined) overlays?.record(id);
  else routed.record(id);
  return toRunningTurn(turn, shown, record, overlays);
}

/** The header is short and of a fixed form; whoever reads it checks it. */
function traceparentOf({ request }: Turn): string | undefined {
  const { traceparent } = request.headers;
  return typeof traceparent === 'string' && traceparent.length <= 128 ? traceparent : undefined;
}

const isRecorded = ({ kind, identity }: Turn): boolean => kind === 'chat' && identity.record;

function unreadableRequest({ raw, body, outline }: Turn): UnreadableBody | undefined {
  if (outline !== undefined) return undefined;
  return { why: body === undefined ? 'encoding' : 'not-json', bytes: raw.length };
}

const policyOf = (target: Target, { outline, session }: Turn): string =>
  target.label?.(session.session) ?? `${target.provider}/${target.model ?? outline?.model ?? ''}`;

async function tryTarget(
  context: GatewayContext,
  turn: RunningTurn,
  target: Target,
  marks: Readonly<Record<string, string>>,
  onBegun: () => void,
): Promise<{ readonly attempt: UpstreamAttempt; readonly tries: number }> {
  const upstream = upstreamFor(target, turn);
  // A model behind another wire retries by itself; an unknown route may not be safe to repeat.
  const mayRepeat = upstream !== undefined && (turn.kind !== 'other' || turn.request.method === 'GET');
  const { overlays } = turn;
  const retry = withRetries(context.retry, overlays?.limits?.retries);
  const check =
    overlays?.limits?.checks === undefined
      ? undefined
      : createReplyCheck(turn, target, context.checked ?? (() => undefined));
  for (let tries = 0; ; ) {
    // The client may have disconnected during recall, while the recorder was full, or during a retry's pause.
    if (turn.disconnect.isGone) return { attempt: { kind: 'sent', end: 'client-abort', status: 499 }, tries };
    const attempt = await tryOnce(context, turn, target, upstream, marks, check, onBegun);
    tries += 1 + (attempt.kind === 'sent' ? (attempt.reasked?.times ?? 0) : 0);
    if (attempt.kind === 'sent' || !mayRepeat) return { attempt, tries };
    const pause = retryDelayMs(retry, attempt.failure, tries, context.random);
    if (pause === undefined) return { attempt, tries };
    await context.pause(pause, turn.disconnect.signal);
  }
}

function tryOnce(
  context: GatewayContext,
  turn: RunningTurn,
  target: Target,
  upstream: Upstream | undefined,
  marks: Readonly<Record<string, string>>,
  check: ReplyCheck | undefined,
  onBegun: () => void,
): UpstreamAttempt | Promise<UpstreamAttempt> {
  const { kind, raw, body, outline, wire, shown } = turn;
  const edited =
    body === undefined || outline === undefined
      ? body && [body]
      : augment(wire.name, body, outline, shown, target.model);
  if (upstream !== undefined) {
    // Without an edit the client's bytes are sent as they came, compressed or not.
    const isEdited = edited !== undefined && (edited.length > 1 || edited[0] !== body);
    const outgoing = isEdited ? edited : [raw];
    const { exchange, clock } = context;
    return relay(turn, {
      exchange,
      clock,
      target,
      upstream,
      body: outgoing,
      isEdited,
      marks,
      check,
      watch: context.authorize.account.watch(turn, target),
      onBegun,
    });
  }
  if (kind === 'other')
    return failed('not-found', `${target.provider} has no ${turn.path.split('?', 1)[0]} on this wire.`);
  if (edited === undefined || outline === undefined) {
    return failed(
      'bad-request',
      'The request body is not a JSON object in an encoding that can be read here.',
    );
  }
  return kind === 'count'
    ? countTokens(turn, joinPieces(edited), marks)
    : answerTranslated(turn, { target, body: joinPieces(edited), marks, check });
}

const failed = (kind: 'not-found' | 'bad-request', message: string): UpstreamAttempt => ({
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

/** A model name is the caller's text: only characters that are valid in a header are echoed. */
const headerSafe = (text: string) => text.replace(/[^\x21-\x7e]/g, '').slice(0, 200);

/** Room for every lesson that a prompt can have with the usual limits. */
const LONGEST_LIST = 4_000;

/** Whole ids only: a reader would look for a cut one in vain. */
function headerIds(ids: readonly string[]): string {
  const safe = ids.map((id) => headerSafe(id));
  while (safe.join(',').length > LONGEST_LIST) safe.pop();
  return safe.join(',');
}
