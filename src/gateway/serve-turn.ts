import type { IncomingMessage, ServerResponse } from 'node:http';
import { ANONYMOUS, type Caller } from '../core/caller.ts';
import { createFailure, type FailedResult, type Failure, refusal } from '../core/failure.ts';
import { sessionPrefix, standsForItself } from '../core/principal.ts';
import type { Outline, Wire } from '../core/wire.ts';
import { aiderHistory } from '../wire/aider-history.ts';
import { SURVEYED_BYTES } from '../wire/json-scan.ts';
import { surveyBody } from '../wire/survey-body.ts';
import { bringsCredential } from './access-control.ts';
import type { AdmissionSlot } from './admission.ts';
import { answerChatWord } from './answer-chat-word.ts';
import { attemptTurn } from './attempt-turn.ts';
import type { TurnKind } from './client-clues.ts';
import { ANY_MODEL, type GatewayContext } from './context.ts';
import { findChatWord } from './find-chat-word.ts';
import { finishTurn, isProven, refuseTurn, unfinishedAttempt } from './finish-turn.ts';
import { bindAgent, type Identity, identityInAttempt } from './identify.ts';
import { planTurn } from './plan-turn.ts';
import { receiveBody } from './read-body.ts';
import { recordTurn } from './record-turn.ts';
import type { SessionMatch } from './session-matcher.ts';
import { type IncomingTurn, type Turn, watchDisconnect } from './turn.ts';

export interface TurnRoute {
  readonly kind: TurnKind;
  readonly wire: Wire;
  /** The path under a provider's base, with its query string. */
  readonly path: string;
}

/** An admitted request of which only the headers have been read. */
export interface TurnArrival {
  readonly route: TurnRoute;
  readonly slot: AdmissionSlot;
  readonly caller: Caller | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly rest: RestForOthers;
  /** Called when the whole body has arrived. */
  readonly onReceived: () => void;
  /** Called when a provider has accepted the caller's own credential. */
  readonly onProven: () => void;
}

/**
 * Serves one request of a known wire, from first byte to last: read, plan, record, attempt, finish. Nothing here learns or waits for a
 * learner.
 */
export async function serveTurn(context: GatewayContext, arrival: TurnArrival): Promise<void> {
  const { route, caller, request, response } = arrival;
  const incoming: IncomingTurn = {
    id: context.newId('t'),
    kind: route.kind,
    wire: route.wire,
    path: route.path,
    request,
    response,
    caller,
    disconnect: watchDisconnect(response),
    startedAt: context.clock.monotonic(),
  };
  const arrived = await readTurn(context, incoming, arrival);
  if (!arrived.ok) {
    const marks = { 'x-instar-turn': incoming.id };
    return refuseTurn(context, incoming, { failure: arrived.failure, marks });
  }
  const { turn } = arrived;
  const word = caller?.attempt === undefined ? findChatWord(turn) : undefined;
  if (word !== undefined) return context.chatWord(await answerChatWord(context, turn, word));

  const planned = await planTurn(context, turn);
  const { session } = turn.session;
  if (!planned.ok) {
    const { target, ...why } = planned.refusal;
    const model = target?.model ?? turn.outline?.model;
    return refuseTurn(context, turn, { ...why, session, provider: target?.provider, model });
  }
  const recorded = await recordTurn(context, planned.plan);
  let result = unfinishedAttempt(recorded);
  try {
    result = await attemptTurn(context, recorded);
  } finally {
    finishTurn(context, recorded, result);
  }
  const isAccepted = isProven(result);
  if (isAccepted) arrival.onProven();
  const { sessionDone, record } = turn.identity;
  if (sessionDone && record && (caller !== undefined || isAccepted)) context.sessionEnded(session);
}

/** Reads a request, and says whose it is. What it reads is in the turn alone, which lets go of it when the reply begins. */
async function readTurn(
  context: GatewayContext,
  incoming: IncomingTurn,
  { slot, rest, onReceived }: TurnArrival,
): Promise<{ readonly ok: true; readonly turn: Turn } | FailedResult> {
  const { kind, wire, request, caller } = incoming;
  const received = await receiveBody(request, context.maxBodyBytes, slot);
  if (!received.ok) return received;
  onReceived();
  const { raw, body } = received;
  const scanned = await readOutline(context, incoming, body, rest);
  if (!scanned.ok) return scanned;
  const { outline } = scanned;
  const isHeavy = (outline?.messages ?? 0) > HEAVY_MESSAGES;
  if (isHeavy) await rest();
  const clues = { kind, wire: wire.name, headers: request.headers, body, outline };
  const named = bindAgent(context.identify(clues, caller), caller, context.agents);
  const identity =
    caller?.attempt === undefined
      ? await inProject(context, named, caller)
      : identityInAttempt(named, caller.attempt);
  const target = caller === undefined ? firstTarget(context, wire, outline) : undefined;
  const credential = bringsCredential(request, target)
    ? context.authorize.ofCredential(target?.provider ?? '', identity.client)
    : undefined;
  const history = kind === 'other' || scanned.isBroken ? undefined : body;
  const session = await sessionOf(context, identity, history, caller ?? credential);
  if (isHeavy) await rest();
  const { id, path, response, disconnect, startedAt } = incoming;
  // Copied member by member: spreading an object with a fractional number (`startedAt`) costs microseconds.
  const turn: Turn = {
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
  return { ok: true, turn };
}

/** The same with the project of its folder. What an application says of folders is no place of ours. */
async function inProject(
  { projectOf }: GatewayContext,
  identity: Identity,
  caller: Caller | undefined,
): Promise<Identity> {
  const { folder, project, remote } = identity;
  const isApplication = standsForItself(caller?.tag ?? '');
  if (projectOf === undefined || folder === undefined || project === undefined || isApplication)
    return identity;
  const placed = await projectOf(folder, project, remote);
  return placed.id === project.id ? identity : { ...identity, project: placed };
}

/** From this many messages on, each walk over them gets a turn of the event loop of its own. */
const HEAVY_MESSAGES = 500;
/** How many strings, containers and commas a body may have for each message it may have. */
const TOKENS_PER_MESSAGE = 30;

interface ScannedBody {
  readonly ok: true;
  readonly outline: Outline | undefined;
  /** A large body that is not JSON: it is not walked again. */
  readonly isBroken: boolean;
}

const UNREADABLE: ScannedBody = { ok: true, outline: undefined, isBroken: true };

async function readOutline(
  { maxMessages, clock }: GatewayContext,
  { kind, wire }: IncomingTurn,
  body: Buffer | undefined,
  rest: RestForOthers,
): Promise<ScannedBody | FailedResult> {
  if (body === undefined) return UNREADABLE;
  const isLimited = kind !== 'other';
  const mostMessages = isLimited ? maxMessages : Number.POSITIVE_INFINITY;
  const survey =
    body.length < SURVEYED_BYTES
      ? 'readable'
      : await surveyBody(body, {
          mostTokens: TOKENS_PER_MESSAGE * mostMessages,
          mayBeSlow: !isLimited,
          monotonic: clock.monotonic,
          rest,
        });
  if (survey === 'too-complex') return refusal(tooComplex(maxMessages));
  if (survey === 'unreadable') return UNREADABLE;
  const outline = wire.outline(body, mostMessages);
  if ((outline?.messages ?? 0) > mostMessages) return refusal(tooManyMessages(maxMessages));
  return { ok: true, outline, isBroken: false };
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
async function sessionOf(
  { sessions, newId }: GatewayContext,
  { sessionId, agent, client, project, person }: Identity,
  body: Buffer | undefined,
  caller: Caller | undefined,
): Promise<SessionMatch> {
  const prefix = sessionPrefix(caller?.tag, person);
  if (sessionId !== undefined) return sessions.byId(`${prefix}${sessionId}`, caller === undefined);
  if (body === undefined) return { session: `${prefix}${newId('s')}` };
  const group = caller === undefined ? `${ANONYMOUS.id}:` : prefix;
  const history = client === 'aider' ? aiderHistory(body) : body;
  return sessions.byChain(history, `${group}${agent ?? client ?? ''}\n${project?.id ?? ''}`, prefix);
}

/**
 * Gives each caller a turn of the event loop of its own, in the order in which they ask: however many large bodies are
 * read at once, other work runs between any two slices of them.
 */
export type RestForOthers = () => Promise<void>;

export function createWorkSlices(): RestForOthers {
  const waiting: (() => void)[] = [];
  const next = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(next);
    });
}
