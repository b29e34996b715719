import { chmod } from 'node:fs/promises';
import http, { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AttemptAccess } from '../../core/attempt-model.ts';
import { createFailure, type Failure, failureKindOf } from '../../core/failure.ts';
import { parseRetryAfter } from '../../core/retry.ts';

/** The gateway for one confined program, as a socket in a folder that the program can read: it has no network. */
export interface GatewayBridge {
  /** Why the gateway refused the last request; undefined when it did not. */
  lastFailure(): Failure | undefined;
  requests(): number;
  /** Closes all connections, also those to the gateway. */
  close(): Promise<void>;
}

/** Not passed on: they belong to a single connection, or say who calls. */
const DROPPED = new Set([
  'authorization',
  'x-api-key',
  'connection',
  'keep-alive',
  'host',
  'transfer-encoding',
  'upgrade',
  'proxy-authorization',
]);
const LARGEST_PATH = 100;

/**
 * Passes requests for models on with the attempt's key, which the program never gets to see, and refuses everything else. What
 * a client says about its session or its credentials is dropped.
 */
export async function openGatewayBridge(
  socketFile: string,
  { url, key }: Pick<AttemptAccess, 'url' | 'key'>,
  now: () => number,
): Promise<GatewayBridge> {
  if (Buffer.byteLength(socketFile) > LARGEST_PATH)
    throw new Error(`the folder for temporary files has too long a path for a socket: ${socketFile}`);
  const gateway = new URL(url);
  const agent = new http.Agent({ keepAlive: false });
  let failure: Failure | undefined;
  let requests = 0;
  const server = http.createServer((request, response) => {
    if (!isForModels(request)) return refuse(request, response);
    requests++;
    const headers: OutgoingHttpHeaders = { 'x-instar-key': key, host: gateway.host };
    for (const [name, value] of Object.entries(request.headers))
      if (!DROPPED.has(name) && !name.startsWith('x-instar-')) headers[name] = value;
    const onward = http.request(
      {
        host: gateway.hostname.replace(/^\[|\]$/g, ''),
        port: gateway.port,
        method: request.method,
        path: request.url,
        headers,
        agent,
      },
      (answer) => {
        const { statusCode = 502 } = answer;
        failure = statusCode < 400 ? undefined : failureOf(answer, now());
        response.writeHead(statusCode, withoutHopByHop(answer.headers));
        answer.pipe(response);
        answer.on('error', () => response.destroy());
      },
    );
    onward.on('error', (error) => {
      failure = createFailure('unreachable', `the gateway: ${error.message}`);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    response.on('close', () => onward.destroy());
    request.on('error', () => onward.destroy());
    request.pipe(onward);
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketFile, resolve);
  });
  // Commands run as another user; the folder around it is private.
  await chmod(socketFile, 0o666);
  return {
    lastFailure: () => failure,
    requests: () => requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}

const isForModels = ({ method, url = '' }: IncomingMessage): boolean =>
  (method === 'POST' || method === 'GET') && /^\/v1\/[\w/.:?&=%-]*$/.test(url) && !url.includes('..');

function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  // Clients look whether the server is there before they ask it.
  const isLook = request.method === 'HEAD' || request.url === '/';
  response.writeHead(isLook ? 200 : 404, { 'content-type': 'application/json' }).end(isLook ? '' : '{}');
}

function withoutHopByHop(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...rest } = headers;
  return rest;
}

function failureOf({ statusCode = 502, headers }: IncomingMessage, now: number): Failure {
  const retryAfterMs = parseRetryAfter(headers['retry-after'], now);
  return createFailure(failureKindOf(statusCode), `the gateway answered with ${statusCode}`, {
    status: statusCode,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
