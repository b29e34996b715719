import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createFailure } from '../core/failure.ts';
import { createOriginCheck } from './access-control.ts';
import type { Admission } from './admission.ts';
import { createConnectionLimit } from './admission.ts';
import type { ApiRouter } from './api-router.ts';
import type { GatewayContext } from './context.ts';
import { sendFailure } from './error-reply.ts';
import { createServeRequest, wireOfRequest } from './serve-request.ts';

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

export interface Gateway {
  listen(port: number, host: string): Promise<number>;
  /** The allowed hosts have changed. */
  refreshHosts(): void;
  /** Admits no new request, lets streams finish for at most `graceMs`, then closes their connections. */
  close(graceMs: number): Promise<void>;
}

/** The HTTP server, on bare node:http: frameworks cost ten times as much here. */
export function createGateway(options: GatewayOptions): Gateway {
  const { context, admission, allowedHosts, isBehindProxy = false, onRefused, onFault } = options;
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
    most: options.maxConnections ?? MOST_WAITING_CONNECTIONS,
    monotonic: context.clock.monotonic,
    close: (socket) => {
      onRefused('too-many-connections');
      const refuse = arriving.get(socket);
      if (refuse === undefined) socket.destroy();
      else refuse();
    },
  });
  /** Requests whose clients wait for "100 Continue". */
  const waiting = new WeakSet<IncomingMessage>();
  const serve = createServeRequest({
    context,
    api: options.api,
    admission,
    onRefused,
    checkOrigin: (request) => checkOrigin(request),
    arriving,
    connections,
    waiting,
  });
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
    listen: async (port, host) => {
      bound = { host, port: await listenOn(server, port, host) };
      refreshHosts();
      return bound.port;
    },
    refreshHosts,
    close: (graceMs) => closeServer(server, admission, graceMs),
  };
}

const listenOn = (server: http.Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, 1024, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });

async function closeServer(server: http.Server, admission: Admission, graceMs: number): Promise<void> {
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
}
