import type { IncomingMessage, ServerResponse } from 'node:http';
import { ANONYMOUS, type Caller } from '../core/caller.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { compact } from '../core/json.ts';
import { sessionPrefix } from '../core/principal.ts';
import type { Outline, Wire } from '../core/wire.ts';
import { aiderHistory } from '../wire/aider-history.ts';
import { type BodySurvey, surveyBody } from '../wire/survey-body.ts';
import { bringsCredential } from './access-control.ts';
import type { AdmissionSlot } from './admission.ts';
import { answerChatWord } from './answer-chat-word.ts';
import { identityInAttempt } from './attempt-keys.ts';
import type { TurnKind } from './client-clues.ts';
import { ANY_MODEL, type GatewayContext } from './context.ts';
import { sendFailure } from './error-reply.ts';
import { findChatWord } from './find-chat-word.ts';
import { forwardTurn } from './forward.ts';
import { bindAgent, type Identity } from './identify.ts';
import { receiveBody } from './read-body.ts';
import type { SessionMatch } from './session-matcher.ts';
import type { Turn } from './turn.ts';
import { watchDisconnect } from './turn.ts';
import type { RestForOthers } from './work-slices.ts';

export interface TurnRoute {
  readonly kind: TurnKind;
  readonly wire: Wire;
  /** The path under a provider's base, with its query string. */
  readonly path: string;
}

/** Serves one request of a known wire, from first byte to last. Nothing here learns or waits for a learner. */
export async function serveTurn(
  context: GatewayContext,
  { kind, wire, path }: TurnRoute,
  slot: AdmissionSlot,
  caller: Caller | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  arrival: TurnArrival,
): Promise<void> {
  const { clock } = context;
  const startedAt = clock.monotonic();
  const disconnect = watchDisconnect(response);
  const id = context.newId('t');
  const refuse = (failure: Failure): void => {
    sendFailure(response, wire, failure, { 'x-instar-turn': id });
    const refused = {
      provider: '',
      model: '',
      end: 'refused',
      status: failure.status,
      tries: 0,
      modelMs: 0,
    } as const;
    const totalMs = clock.monotonic() - startedAt;
    context.report({ id, session: '', wire: wire.name, ...refused, totalMs, failure });
  };
  const start = { id, kind, wire, path, request, response, caller, disconnect, startedAt };
  const turn = await openTurn(context, start, slot, arrival);
  if (!('id' in turn)) return refuse(turn);
  const { identity, session } = turn;
  const asked = turn.outline?.model ?? '';
  const word =
    caller?.attempt !== undefined
      ? undefined
      : findChatWord(kind, wire.name, turn.body, turn.outline, identity);
  if (word !== undefined) return context.chatWord(await answerChatWord(context, turn, word));
  const forwarded = await forwardTurn(context, turn);
  const { target, end, status, tries, modelMs, failure, limitedBy, isProven } = forwarded;
  if (isProven) arrival.onProven();
  const report = {
    id,
    session: session.session,
    wire: wire.name,
    provider: target?.provider ?? '',
    model: target?.model ?? asked,
    end,
    status,
    tries,
    totalMs: clock.monotonic() - startedAt,
    modelMs,
  };
  context.report(failure === undefined ? report : { ...report, ...compact({ failure, limitedBy }) });
  const isTrusted = caller !== undefined || isProven;
  if (identity.sessionDone && identity.record && isTrusted) context.sessionEnded(session.session);
}

type BegunTurn = Omit<Turn, 'raw' | 'body' | 'outline' | 'identity' | 'session' | 'credential'>;

/** Reads a request, and says whose it is. What it reads is in the turn alone, which lets go of it when the reply begins. */
async function openTurn(
  context: GatewayContext,
  begun: BegunTurn,
  slot: AdmissionSlot,
  { rest, onReceived }: TurnArrival,
): Promise<Turn | Failure> {
  const { kind, wire, path, request, response, caller } = begun;
  const received = await receiveBody(request, context.maxBodyBytes, slot);
  if ('kind' in received) return received;
  onReceived();
  const { raw, body } = received;
  const read = body === undefined ? NOT_READ : readOutline(context, kind, wire, body, rest);
  const seen = read instanceof Promise ? await read : read;
  if ('kind' in seen) return seen;
  const { outline } = seen;
  const isHeavy = (outline?.messages ?? 0) > HEAVY_MESSAGES;
  if (isHeavy) await rest();
  const arrived = { kind, wire: wire.name, headers: request.headers, body, outline };
  const told = bindAgent(context.identify(arrived, caller), caller, context.agents);
  const identity = caller?.attempt === undefined ? told : identityInAttempt(told, caller.attempt);
  const target = caller === undefined ? firstTarget(context, wire, outline) : undefined;
  const credential = bringsCredential(request, target)
    ? context.authorize.ofCredential(target?.provider ?? '', identity.client)
    : undefined;
  const history = kind === 'other' || seen.isBroken ? undefined : body;
  const match = sessionOf(context, identity, history, caller ?? credential);
  const session = match instanceof Promise ? await match : match;
  if (isHeavy) await rest();
  const { id, disconnect, startedAt } = begun;
  return {
    id,
    kind,
    wire,
    path,
    request,
    response,
    raw,
    body,
    outline,
    identity,
    session,
    caller,
    credential,
    disconnect,
    startedAt,
  };
}

/** A request of which only the headers have been read. */
export interface TurnArrival {
  readonly rest: RestForOthers;
  /** Called when the whole body has arrived. */
  readonly onReceived: () => void;
  /** Called when a provider has accepted the caller's own credential. */
  readonly onProven: () => void;
}

/** From this many messages on, each walk over them gets a turn of the event loop of its own. */
const HEAVY_MESSAGES = 500;
/** How many strings, containers and commas a body may have for each message it may have. */
const TOKENS_PER_MESSAGE = 30;
const NOT_READ = { outline: undefined, isBroken: true } as const;

interface ReadBody {
  readonly outline: Outline | undefined;
  /** A large body that is not JSON: it is not walked again. */
  readonly isBroken: boolean;
}

/** Synchronous for all but very large bodies. */
function readOutline(
  { maxMessages, clock }: GatewayContext,
  kind: TurnKind,
  wire: Wire,
  body: Buffer,
  rest: RestForOthers,
): ReadBody | Failure | Promise<ReadBody | Failure> {
  const isLimited = kind !== 'other';
  const mostMessages = isLimited ? maxMessages : Number.POSITIVE_INFINITY;
  const finish = (survey: BodySurvey | undefined): ReadBody | Failure => {
    if (survey === 'too-complex') return tooComplex(maxMessages);
    if (survey === 'unreadable') return { outline: undefined, isBroken: true };
    const outline = wire.outline(body, mostMessages);
    if ((outline?.messages ?? 0) > mostMessages) return tooManyMessages(maxMessages);
    return { outline, isBroken: false };
  };
  const survey = surveyBody(body, {
    mostTokens: TOKENS_PER_MESSAGE * mostMessages,
    mayBeSlow: !isLimited,
    monotonic: clock.monotonic,
    rest,
  });
  return survey instanceof Promise ? survey.then(finish) : finish(survey);
}

const tooManyMessages = (most: number): Failure =>
  createFailure('too-large', `The request has more than ${most} messages. Start a new session.`);

const tooComplex = (most: number): Failure =>
  createFailure(
    'too-large',
    `The request is nested too deeply, or has more JSON values than ${most} messages need. Send fewer parts or tools.`,
  );

const firstTarget = ({ catalogue }: GatewayContext, wire: Wire, outline: Outline | undefined) =>
  catalogue.resolve(outline === undefined ? ANY_MODEL : outline.model, wire.name)[0];

/**
 * The client's session id, else the session whose message chain this request extends. A session is a caller and a name, and of an
 * application also its end user: nobody adds a turn to another's.
 */
function sessionOf(
  { sessions, newId }: GatewayContext,
  { sessionId, agent, client, project, person }: Identity,
  body: Buffer | undefined,
  caller: Caller | undefined,
): SessionMatch | Promise<SessionMatch> {
  const prefix = sessionPrefix(caller?.tag, person);
  if (sessionId !== undefined) return sessions.byId(`${prefix}${sessionId}`, caller === undefined);
  if (body === undefined) return { session: `${prefix}${newId('s')}` };
  const group = caller === undefined ? `${ANONYMOUS.id}:` : prefix;
  const history = client === 'aider' ? aiderHistory(body) : body;
  return sessions.byChain(history, `${group}${agent ?? client ?? ''}\n${project?.id ?? ''}`, prefix);
}
