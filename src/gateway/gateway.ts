import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ANONYMOUS, type Caller } from '../core/caller.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { createOriginCheck, isJsonContent } from './access-control.ts';
import type { Admission } from './admission.ts';
import type { ApiReply, ApiRoute, ApiRouter } from './api-router.ts';
import { createAcceptedCredentials, createConnectionLimit } from './connection-limit.ts';
import type { GatewayContext } from './context.ts';
import { sendFailure } from './error-reply.ts';
import { listModels } from './list-models.ts';
import { BUSY_FAILURE } from './read-body.ts';
import { findRoute, findTurnRoute, pathWithoutQuery, wireOfRequest } from './routes.ts';
import { createWorkSlices, serveTurn, type TurnRoute } from './serve-turn.ts';

export interface GatewayOptions {
  readonly context: GatewayContext;
  /** Everything that is not for models. */
  readonly api: ApiRouter;
  readonly admission: Admission;
  /** Asked again by `refreshHosts`. */
  readonly allowedHosts: () => readonly string[];
  readonly isBehindProxy?: boolean;
  /** A refused request, for the metrics. */
  readonly onRefused: (reason: string) => void;
  /** An unexpected error: logged, and answered with 500. */
  readonly onFault: (error: unknown) => void;
  /** The most connections of unknown peers that are idle or still sending a request; for tests. */
  readonly maxConnections?: number;
}

const MOST_WAITING_CONNECTIONS = 1000;
const MOST_DISCARDED = 8 * 1024 * 1024;

export interface Gateway {
  listen(port: number, host: string): Promise<number>;
  /** The allowed hosts have changed. */
  refreshHosts(): void;
  /** Admits no new request, lets streams finish for at most `graceMs`, then closes their connections. */
  close(graceMs: number): Promise<void>;
}

/** The HTTP server and its routes, on bare node:http: frameworks cost ten times as much here. */
export function createGateway({
  context,
  api,
  admission,
  allowedHosts,
  isBehindProxy = false,
  onRefused,
  onFault,
  maxConnections = MOST_WAITING_CONNECTIONS,
}: GatewayOptions): Gateway {
  let checkOrigin: ReturnType<typeof createOriginCheck> = () =>
    createFailure('overloaded', 'Instar is starting.');
  let bound: { readonly host: string; readonly port: number } | undefined;
  const refreshHosts = (): void => {
    if (bound !== undefined)
      checkOrigin = createOriginCheck({ ...bound, allowedHosts: allowedHosts(), isBehindProxy });
  };

  /** Refuses the request that is arriving on a connection. */
  const arriving = new WeakMap<Socket, () => void>();
  const connections = createConnectionLimit({
    most: maxConnections,
    monotonic: context.clock.monotonic,
    close: (socket) => {
      onRefused('too-many-connections');
      const refuse = arriving.get(socket);
      if (refuse === undefined) socket.destroy();
      else refuse();
    },
  });
  const credentials = createAcceptedCredentials(context.clock.monotonic);
  const rest = createWorkSlices();

  const sendError = (request: IncomingMessage, response: ServerResponse, failure: Failure) => {
    // The body of a refused request is not read: the connection ends with the reply.
    if (hasBody(request) && !request.complete) response.setHeader('connection', 'close');
    sendFailure(response, wireOfRequest(pathWithoutQuery(request), request), failure);
  };

  const sendRefusal = (request: IncomingMessage, response: ServerResponse, failure: Failure) => {
    onRefused(failure.kind);
    sendError(request, response, failure);
  };

  /** Requests whose clients wait for "100 Continue". */
  const waiting = new WeakSet<IncomingMessage>();
  const askForBody = (request: IncomingMessage, response: ServerResponse): void => {
    if (waiting.delete(request)) response.writeContinue();
  };

  /**
   * A connection that is closed while its peer still sends loses the reply on it: the body of a known caller is read to its end, and
   * not kept.
   */
  const refuseBusy = (request: IncomingMessage, response: ServerResponse, isKnown: boolean): void => {
    const bytes = Number(request.headers['content-length'] ?? 0);
    if (!isKnown || waiting.has(request) || !(bytes > 0 && bytes <= MOST_DISCARDED))
      sendRefusal(request, response, BUSY_FAILURE);
    else request.once('end', () => sendRefusal(request, response, BUSY_FAILURE)).resume();
  };

  const denyAccess = (
    needs: ApiRoute['access'],
    request: IncomingMessage,
    caller: Caller | undefined,
  ): Failure | undefined =>
    needs === 'anyone' ? undefined : context.authorize.forRoute(request, caller, needs);

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refusal = checkOrigin(request);
    if (refusal !== undefined) return sendRefusal(request, response, refusal);
    const { method = 'GET', url = '/' } = request;
    const path = pathWithoutQuery(request);
    const query = path.length === url.length ? '' : url.slice(path.length);
    if (method === 'HEAD' && (path === '/' || path === '/api/hello')) return sendText(response, 200, '');
    const file = method === 'GET' ? api.file(path) : undefined;
    if (file !== undefined) return sendReply(response, await file);
    if (method === 'GET' && path === '/') return sendText(response, 200, GREETING);
    const turn = method === 'POST' ? findTurnRoute(path, query) : undefined;
    const found = turn === undefined ? api.find(method, path) : undefined;
    if (found !== undefined) {
      const { operation, id } = found;
      // A cookie is for the API alone: what clients report, they report with a key.
      const isPages = path.startsWith('/api/');
      const known = context.authorize.callerOf(request) ?? (isPages ? api.personOf(request) : undefined);
      const isRefused = known !== undefined && 'message' in known;
      if (isRefused && operation.access !== 'anyone') return sendRefusal(request, response, known);
      const caller = isRefused ? undefined : known;
      const denied = denyAccess(operation.access, request, caller) ?? requireJson(request);
      if (denied !== undefined) return sendRefusal(request, response, denied);
      const isKnown = method === 'GET' || caller !== undefined;
      const slot = admission.enter({ isKnown, connection: request.socket, isApi: true });
      if (slot === undefined) return sendRefusal(request, response, BUSY_FAILURE);
      const asked = {
        request,
        query: new URLSearchParams(query),
        id,
        slot,
        caller: caller ?? ANONYMOUS,
      };
      askForBody(request, response);
      const reply = await operation.run(context, asked).finally(slot.leave);
      // "No turn has this id" is an answer of the API, and no refused request.
      if ('kind' in reply && ANSWERS.has(reply.kind)) return sendError(request, response, reply);
      if ('kind' in reply) return sendRefusal(request, response, reply);
      return sendReply(response, reply);
    }
    const route = turn ?? findRoute(method, path, query, request);
    if (route === undefined) {
      const failure = createFailure('not-found', `Unknown route: ${method} ${path.slice(0, 200)}.`);
      return sendRefusal(request, response, failure);
    }
    if (route !== 'models' && method === 'POST' && !isAcceptable(route, request)) {
      return sendRefusal(request, response, NOT_JSON);
    }
    const { socket } = request;
    // Before the body is read, and before it takes a place.
    const caller = context.authorize.callerOf(request);
    const isOwnersRead = route !== 'models' && mayOwnerRead(caller, method, route.kind);
    const denied = isOwnersRead
      ? undefined
      : context.authorize.atHeaders(request, caller, context.catalogue.access());
    if (denied !== undefined) return sendRefusal(request, response, denied);
    const isKnown = caller !== undefined || credentials.has(request);
    if (isKnown) connections.trust(socket);
    const isPractice = caller?.attempt !== undefined;
    const slot = admission.enter({ isKnown, connection: socket, isPractice });
    if (slot === undefined) return refuseBusy(request, response, isKnown);
    try {
      if (route !== 'models') {
        askForBody(request, response);
        if (!isKnown) {
          arriving.set(socket, () => sendError(request, response, BUSY_FAILURE));
          response.once('close', () => connections.idle(socket));
        }
        return await serveTurn(context, {
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
      }
      const wire = wireOfRequest(pathWithoutQuery(request), request).name;
      const list = await listModels(context, wire, request, caller);
      if ('kind' in list) return sendRefusal(request, response, list as Failure);
      return sendText(response, 200, JSON.stringify(list), 'application/json');
    } finally {
      slot.leave();
    }
  };

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response).catch((error: unknown) => {
      onFault(error);
      const failure = createFailure(
        'internal',
        'Instar failed to serve this request. The log has the details.',
      );
      if (response.headersSent) response.destroy();
      else sendFailure(response, wireOfRequest(request.url ?? '', request), failure);
    });
  };
  const server = http.createServer(
    { headersTimeout: 10_000, requestTimeout: 120_000, keepAliveTimeout: 65_000 },
    listener,
  );
  server.on('connection', connections.opened);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // A body that would be refused for its size is not asked for; others once their headers are accepted.
    if (Number(request.headers['content-length'] ?? 0) <= context.maxBodyBytes) waiting.add(request);
    listener(request, response);
  });

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, 1024, () => {
          server.off('error', reject);
          bound = { host, port: (server.address() as AddressInfo).port };
          refreshHosts();
          resolve(bound.port);
        });
      }),
    refreshHosts,
    close: async (graceMs) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      let timer: NodeJS.Timeout | undefined;
      const grace = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([admission.drain(), grace]);
      clearTimeout(timer);
      server.closeAllConnections();
      await closed;
    },
  };
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

function sendText(
  response: ServerResponse,
  status: number,
  text: string | Buffer,
  type = 'text/plain; charset=utf-8',
  headers: Readonly<Record<string, string>> = {},
): void {
  const length = Buffer.byteLength(text);
  response.writeHead(status, { 'content-type': type, 'content-length': length, ...SAFE, ...headers });
  response.end(text);
}

function sendReply(response: ServerResponse, reply: ApiReply): void {
  if ('stream' in reply) reply.stream(response);
  else if ('text' in reply) sendText(response, 200, reply.text, reply.type, reply.headers);
  else sendText(response, reply.status ?? 200, JSON.stringify(reply.json), 'application/json', reply.headers);
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
