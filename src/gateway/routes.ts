import type { IncomingMessage } from 'node:http';
import type { Wire } from '../core/wire.ts';
import { wires } from '../wire/wires.ts';
import type { TurnRoute } from './serve-turn.ts';

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
export function pathWithoutQuery({ url = '/' }: IncomingMessage): string {
  const queryAt = url.indexOf('?');
  return queryAt < 0 ? url : url.slice(0, queryAt);
}

/** The wire of a request: that of the provider it is for, and the format of its errors. */
export function wireOfRequest(path: string, request: IncomingMessage): Wire {
  const [, first] = /^(?:\/v1)*\/([^/?]*)/.exec(path) ?? [];
  if (first === 'messages' || request.headers['anthropic-version'] !== undefined) return wires.anthropic;
  return first === 'responses' ? wires['openai-responses'] : wires['openai-chat'];
}
