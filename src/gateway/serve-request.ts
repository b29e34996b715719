import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ANONYMOUS, type Caller } from '../core/caller.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import type { Wire } from '../core/wire.ts';
import { wires } from '../wire/wires.ts';
import { type AcceptedCredentials, createAcceptedCredentials, isJsonContent } from './access-control.ts';
import type { Admission, ConnectionLimit } from './admission.ts';
import type { ApiReply, ApiRouter } from './api-router.ts';
import type { GatewayContext } from './context.ts';
import { sendFailure } from './error-reply.ts';
import { listModels } from './list-models.ts';
import { BUSY_FAILURE } from './read-body.ts';
import { createWorkSlices, type RestForOthers, serveTurn, type TurnRoute } from './serve-turn.ts';

interface ServeRequestOptions {
  readonly context: GatewayContext;
  readonly api: ApiRouter;
  readonly admission: Admission;
  /** A refused request, for the metrics. */
  readonly onRefused: (reason: string) => void;
  /** Why a request is refused by its Host or Origin. */
  readonly checkOrigin: (request: IncomingMessage) => Failure | undefined;
  readonly connections: ConnectionLimit;
  /** Refuses the request that is arriving on a connection. */
  readonly arriving: WeakMap<Socket, () => void>;
  /** Requests whose clients wait for "100 Continue". */
  readonly waiting: WeakSet<IncomingMessage>;
}

interface Serving extends ServeRequestOptions {
  readonly credentials: AcceptedCredentials;
  readonly rest: RestForOthers;
}

/** A request on its way to its route. */
interface RoutedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly path: string;
  /** With its question mark; empty without one. */
  readonly query: string;
}

/** Serves any request: the page, the API, the list of models, or a turn. */
export function createServeRequest(
  options: ServeRequestOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const credentials = createAcceptedCredentials(options.context.clock.monotonic);
  const serving: Serving = { ...options, credentials, rest: createWorkSlices() };
  const { api } = options;
  return async (request, response) => {
    const { method = 'GET', url = '/' } = request;
    const path = pathWithoutQuery(request);
    const query = path.length === url.length ? '' : url.slice(path.length);
    const routed = { request, response, method, path, query };
    const refused = options.checkOrigin(request);
    if (refused !== undefined) return sendRefusal(serving, routed, refused);
    if (method === 'HEAD' && (path === '/' || path === '/api/hello')) return sendText(response, { text: '' });
    const file = method === 'GET' ? api.file(path) : undefined;
    if (file !== undefined) return sendReply(response, await file);
    if (method === 'GET' && path === '/') return sendText(response, { text: GREETING });
    const turn = method === 'POST' ? findTurnRoute(path, query) : undefined;
    const operation = turn === undefined ? api.find(method, path) : undefined;
    if (operation !== undefined) return serveOperation(serving, routed, operation);
    const route = turn ?? findRoute(method, path, query, request);
    if (route !== undefined) return serveModels(serving, routed, route);
    const failure = createFailure('not-found', `Unknown route: ${method} ${path.slice(0, 200)}.`);
    return sendRefusal(serving, routed, failure);
  };
}

type FoundOperation = NonNullable<ReturnType<ApiRouter['find']>>;

async function serveOperation(
  serving: Serving,
  routed: RoutedRequest,
  { operation, id }: FoundOperation,
): Promise<void> {
  const { context, api, admission } = serving;
  const { request, response, method, path, query } = routed;
  // A cookie is for the API alone: what clients report, they report with a key.
  const isPages = path.startsWith('/api/');
  const byKey = context.authorize.callerOf(request);
  const signedIn = byKey === undefined && isPages ? api.personOf(request) : undefined;
  if (signedIn?.ok === false && operation.access !== 'anyone')
    return sendRefusal(serving, routed, signedIn.why);
  const caller = signedIn?.ok === true ? signedIn.caller : byKey;
  const { access } = operation;
  const denied =
    (access === 'anyone' ? undefined : context.authorize.forRoute(request, caller, access)) ??
    requireJson(request);
  if (denied !== undefined) return sendRefusal(serving, routed, denied);
  const isKnown = method === 'GET' || caller !== undefined;
  const slot = admission.enter({ isKnown, connection: request.socket, isApi: true });
  if (slot === undefined) return sendRefusal(serving, routed, BUSY_FAILURE);
  askForBody(serving, routed);
  const asked = {
    request,
    query: new URLSearchParams(query),
    id,
    slot,
    caller: caller ?? ANONYMOUS,
  };
  const done = await operation.run(context, asked).finally(slot.leave);
  if (done.ok) return sendReply(response, done.reply);
  // "No turn has this id" is an answer of the API, and no refused request.
  return ANSWERS.has(done.why.kind) ? sendError(routed, done.why) : sendRefusal(serving, routed, done.why);
}

/** A turn, or the list of models. The caller is checked before the body is read, and before it takes a place. */
async function serveModels(
  serving: Serving,
  routed: RoutedRequest,
  route: TurnRoute | 'models',
): Promise<void> {
  const { context, admission, connections, credentials, arriving, rest } = serving;
  const { request, response, method } = routed;
  if (route !== 'models' && method === 'POST' && !isAcceptable(route, request))
    return sendRefusal(serving, routed, NOT_JSON);
  const { socket } = request;
  const caller = context.authorize.callerOf(request);
  const isOwnersRead = route !== 'models' && mayOwnerRead(caller, method, route.kind);
  const denied = isOwnersRead
    ? undefined
    : context.authorize.atHeaders(request, caller, context.catalogue.access());
  if (denied !== undefined) return sendRefusal(serving, routed, denied);
  const isKnown = caller !== undefined || credentials.has(request);
  if (isKnown) connections.trust(socket);
  const isPractice = caller?.attempt !== undefined;
  const slot = admission.enter({ isKnown, connection: socket, isPractice });
  if (slot === undefined) return refuseBusy(serving, routed, isKnown);
  try {
    if (route === 'models') return await sendModels(serving, routed, caller);
    askForBody(serving, routed);
    if (!isKnown) {
      arriving.set(socket, () => sendError(routed, BUSY_FAILURE));
      response.once('close', () => connections.idle(socket));
    }
    await serveTurn(context, {
      route,
      slot,
      caller,
      request,
      response,
      rest,
      onReceived: () => {
        arriving.delete(socket);
        connections.serving(socket);
      },
      onProven: () => credentials.add(request),
    });
  } finally {
    slot.leave();
  }
}

async function sendModels(
  serving: Serving,
  routed: RoutedRequest,
  caller: Caller | undefined,
): Promise<void> {
  const { request, response, path } = routed;
  const list = await listModels(serving.context, wireOfRequest(path, request).name, request, caller);
  if (!list.ok) return sendRefusal(serving, routed, list.failure);
  sendText(response, { text: JSON.stringify(list.models), type: 'application/json' });
}

function askForBody({ waiting }: Serving, { request, response }: RoutedRequest): void {
  if (waiting.delete(request)) response.writeContinue();
}

function sendError({ request, response, path }: RoutedRequest, failure: Failure): void {
  // The body of a refused request is not read: the connection ends with the reply.
  if (hasBody(request) && !request.complete) response.setHeader('connection', 'close');
  sendFailure(response, wireOfRequest(path, request), failure);
}

function sendRefusal({ onRefused }: Serving, routed: RoutedRequest, failure: Failure): void {
  onRefused(failure.kind);
  sendError(routed, failure);
}

const MOST_DISCARDED = 8 * 1024 * 1024;

/**
 * A connection that is closed while its peer still sends loses the reply on it: the body of a known caller is read to its end, and
 * not kept.
 */
function refuseBusy(serving: Serving, routed: RoutedRequest, isKnown: boolean): void {
  const { request } = routed;
  const bytes = Number(request.headers['content-length'] ?? 0);
  if (!isKnown || serving.waiting.has(request) || !(bytes > 0 && bytes <= MOST_DISCARDED))
    sendRefusal(serving, routed, BUSY_FAILURE);
  else request.once('end', () => sendRefusal(serving, routed, BUSY_FAILURE)).resume();
}

/** The owner key asks no model; what callers have created, its owner may read. */
const mayOwnerRead = (caller: Caller | undefined, method: string, kind: TurnRoute['kind']): boolean =>
  caller?.kind === 'owner' && method === 'GET' && kind === 'other';

const ANSWERS: ReadonlySet<Failure['kind']> = new Set(['bad-request', 'not-found', 'forbidden']);

const isAcceptable = ({ kind }: TurnRoute, request: IncomingMessage): boolean => {
  const type = request.headers['content-type'];
  if (isJsonContent(type)) return true;
  if (kind !== 'other') return false;
  // To cancel something, SDKs send no body, and so no content type. A form of a web page always has one.
  return type === undefined ? !hasBody(request) : /^multipart\/form-data\s*;/i.test(type);
};

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const GREETING =
  'Instar is running. Point an agent at this address. Details: `instar status`. This build has no page.\n';

interface TextReply {
  readonly text: string | Buffer;
  readonly type?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

function sendText(
  response: ServerResponse,
  { text, type = 'text/plain; charset=utf-8', status = 200, headers = {} }: TextReply,
): void {
  const length = Buffer.byteLength(text);
  response.writeHead(status, { 'content-type': type, 'content-length': length, ...SAFE, ...headers });
  response.end(text);
}

function sendReply(response: ServerResponse, reply: ApiReply): void {
  if ('stream' in reply) reply.stream(response);
  else if ('text' in reply) sendText(response, reply);
  else {
    const { json, status = 200, headers = {} } = reply;
    sendText(response, { text: JSON.stringify(json), type: 'application/json', status, headers });
  }
}

/** A POST in a content type that an HTML form can send is refused. */
const requireJson = ({ method, headers }: IncomingMessage): Failure | undefined =>
  method !== 'POST' || isJsonContent(headers['content-type']) ? undefined : NOT_JSON;

const NOT_JSON = createFailure('bad-request', 'Send the body as content-type: application/json.', {
  status: 415,
});

const SAFE = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
};

const TURN_ROUTES: ReadonlyMap<string, TurnRoute> = new Map(
  [
    { path: '/chat/completions', kind: 'chat', wire: wires['openai-chat'] } as const,
    { path: '/responses', kind: 'chat', wire: wires['openai-responses'] } as const,
    { path: '/messages', kind: 'chat', wire: wires.anthropic } as const,
    { path: '/messages/count_tokens', kind: 'count', wire: wires.anthropic } as const,
  ].map((route) => [route.path, route]),
);

/** The same routes by the paths that clients send. */
const TURN_PATHS: ReadonlyMap<string, TurnRoute> = new Map(
  [...TURN_ROUTES].flatMap(([path, route]) => [
    [path, route],
    [`/v1${path}`, route],
  ]),
);

/** The fast path for the usual spellings of the model routes; no operation has one of these paths. */
export function findTurnRoute(path: string, query: string): TurnRoute | undefined {
  const route = TURN_PATHS.get(path);
  return route === undefined || query === '' ? route : { ...route, path: route.path + query };
}

/** `/v1` may be missing or doubled, since people configure base URLs with it and without it. */
export function findRoute(
  method: string,
  path: string,
  query: string,
  request: IncomingMessage,
): TurnRoute | 'models' | undefined {
  const rest = path.replace(/^(?:\/v1)+(?=\/)/, '');
  if (method === 'GET' && rest === '/models') return 'models';
  const known = method === 'POST' ? TURN_ROUTES.get(rest) : undefined;
  if (known !== undefined) return { ...known, path: rest + query };
  return path.startsWith('/v1/') && /^[\w\-./:@]+$/.test(rest) && !rest.includes('..')
    ? { kind: 'other', wire: wireOfRequest(path, request), path: rest + query }
    : undefined;
}

/** A request's path without its query string. */
function pathWithoutQuery({ url = '/' }: IncomingMessage): string {
  const queryAt = url.indexOf('?');
  return queryAt < 0 ? url : url.slice(0, queryAt);
}

/** The wire of a request: that of the provider it is for, and the format of its errors. */
export function wireOfRequest(path: string, request: IncomingMessage): Wire {
  const [, first] = /^(?:\/v1)*\/([^/?]*)/.exec(path) ?? [];
  if (first === 'messages' || request.headers['anthropic-version'] !== undefined) return wires.anthropic;
  return first === 'responses' ? wires['openai-responses'] : wires['openai-chat'];
}
