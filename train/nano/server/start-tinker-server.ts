import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { systemBoot } from '../../../src/base/boot-clock.ts';
import { DecodeError } from '../../../src/base/decode-error.ts';
import { lockFile } from '../../../src/base/file-lock.ts';
import { stepTime, type TimeReading, type TimeState, timeAt } from '../../../src/base/trusted-time.ts';
import { type BootClock, type Clock, systemClock } from '../../../src/core/clock.ts';
import { type Engine, EngineError } from '../engine.ts';
import { ProtocolError } from '../tinker/json-fields.ts';
import { createArchiveRoutes, createRunRoutes } from './checkpoint-routes.ts';
import {
  createServerAccessControl,
  HttpRefusal,
  matchRoute,
  type RouteReply,
  readRequestBody,
  sendReply,
} from './http.ts';
import { DEFAULT_SERVER_LIMITS, type TinkerServerLimits } from './server-limits.ts';
import { openServerParts } from './server-parts.ts';
import { createSessionRoutes } from './session-routes.ts';
import { createFutureRoutes, createTrainingRoutes } from './training-routes.ts';

export interface TinkerServerOptions {
  readonly engine: Engine;
  /** Where checkpoints, snapshots and journals are stored. Only one server at a time may use it. */
  readonly folder: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Loopback by default. */
  readonly host?: string;
  /** Every route but the health check needs it, on loopback too. */
  readonly key: string;
  readonly clock?: Clock;
  readonly log?: (line: string) => void;
  /** The stop tokens of sampling requests that have none. */
  readonly endOfText?: readonly number[];
  readonly limits?: Partial<TinkerServerLimits>;
}

export interface TinkerServer {
  readonly url: string;
  readonly port: number;
  /** Finishes the running requests; queued ones stay on the disk. Does not close the engine. */
  close(): Promise<void>;
}

/** Serves an engine over the Tinker protocol. Restores the models of the folder. */
export async function startTinkerServer(options: TinkerServerOptions): Promise<TinkerServer> {
  const { engine, folder, key, host = '127.0.0.1', log = () => undefined } = options;
  if (key === '')
    throw new TypeError('A server needs a key, since every program on this machine can call it.');
  // Checkpoints with a time to live are deleted by it.
  const clock = options.clock ?? createSteadyClock(systemClock, systemBoot);
  const limits: TinkerServerLimits = { ...DEFAULT_SERVER_LIMITS, ...options.limits };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Two servers in one folder would corrupt each other's journals.
  const lock = lockFile(path.join(folder, 'server.lock'));
  if (lock === undefined) throw new Error(`${folder} is used by another server.`);
  const stopping = new AbortController();
  const { parts, close } = await openServerParts({ ...options, engine, folder, clock, log, limits }).catch(
    async (error) => {
      lock.release();
      throw error;
    },
  );
  const routes = [
    ...createSessionRoutes(parts),
    ...createTrainingRoutes(parts),
    ...createFutureRoutes(parts),
    ...createRunRoutes(parts),
    ...createArchiveRoutes(parts),
  ];
  let checkAccess: ReturnType<typeof createServerAccessControl> | undefined;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<RouteReply> => {
    const url = splitUrl(request.url ?? '');
    const match = matchRoute(routes, request.method ?? '', url.path);
    checkAccess?.(request, match !== undefined && 'route' in match && match.route.isOpen === true);
    if (match === undefined) throw new HttpRefusal(404, 'Route not found.');
    if ('allowed' in match)
      return { ...failed(405, 'Method not allowed.'), headers: { allow: match.allowed.join(', ') } };
    const left = new AbortController();
    response.once('close', () => left.abort());
    const signal = AbortSignal.any([left.signal, stopping.signal]);
    const bytes = await readRequestBody(request, limits.bodyBytes);
    const { headers } = request;
    return match.route.answer({
      params: match.params,
      query: url.query,
      headers,
      bytes,
      signal,
      origin: `http://${headers.host}`,
    });
  };

  const server = createServer((request, response) => {
    answer(request, response)
      .catch((error: unknown) => refusalReply(error, log))
      .then((reply) => sendReply(request, response, reply))
      .catch((error: Error) => {
        log(`a reply could not be sent: ${error.message}`);
        response.destroy();
      });
  });
  // Clients keep idle connections for about a minute; closing first would lose a request sent at that moment.
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, resolve);
  }).catch(async (error) => {
    await close();
    lock.release();
    throw error;
  });
  const { port } = server.address() as AddressInfo;
  checkAccess = createServerAccessControl({ host, port, key });
  const name = host.includes(':') ? `[${host}]` : host;

  return {
    url: `http://${name}:${port}`,
    port,
    close: async () => {
      stopping.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await close();
      server.closeAllConnections();
      await closed;
      lock.release();
    },
  };
}

function splitUrl(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const [path = '', query = ''] = url.split('?', 2);
  try {
    return { path: decodeURIComponent(path), query: new URLSearchParams(query) };
  } catch {
    throw new HttpRefusal(400, 'The path has an invalid percent-encoding.');
  }
}

const failed = (status: number, error: string): RouteReply => ({
  status,
  body: { error, detail: error, category: status < 500 ? 'user' : 'server' },
});

function refusalReply(error: unknown, log: (line: string) => void): RouteReply {
  if (error instanceof HttpRefusal) {
    const seconds = error.retryAfterSeconds;
    const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
    return { ...failed(error.status, error.message), headers };
  }
  if (error instanceof ProtocolError) return failed(error.status, error.message);
  if (error instanceof EngineError || error instanceof DecodeError) return failed(400, error.message);
  log(`a request failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return failed(500, 'The server failed to answer.');
}

/** A clock that goes on as before when the wall clock is set by a day or more, until it is set back. For processes without a home. */
export function createSteadyClock(clock: Clock, boot: BootClock): Clock {
  const look = (): TimeReading => ({ wall: clock.now(), up: boot.uptime() });
  let state: TimeState = { anchor: look() };
  return {
    monotonic: clock.monotonic,
    now: () => {
      const reading = look();
      state = stepTime(state, reading);
      return timeAt(state, reading);
    },
  };
}
