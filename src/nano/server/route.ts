import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../core/json.ts';

export interface Payload {
  readonly type: 'application/json' | 'application/x-protobuf' | 'application/octet-stream';
  readonly bytes: Uint8Array;
}

/** One HTTP request as the routes see it. */
export interface Call {
  /** The values of the route's parameters. */
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Uint8Array;
  /** Aborts when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
  /** The server's address as the client used it: `http://127.0.0.1:8080`. */
  readonly origin: string;
}

export interface Reply {
  readonly status: number;
  readonly body?: JsonObject | Payload | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A part that starts with a colon is a parameter: any text without a slash. */
  readonly path: string;
  /** Needs no key. */
  readonly isOpen?: boolean;
  answer(call: Call): Promise<Reply> | Reply;
}

export interface Match {
  readonly route: Route;
  readonly params: readonly string[];
}

/** Undefined when no route has this path; `allowed` when the path has only other methods. */
export function matchRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): Match | { readonly allowed: readonly string[] } | undefined {
  const parts = path.split('/');
  const allowed: string[] = [];
  for (const route of routes) {
    const params = paramsOf(route.path.split('/'), parts);
    if (params === undefined) continue;
    if (route.method === method) return { route, params };
    allowed.push(route.method);
  }
  return allowed.length === 0 ? undefined : { allowed };
}

function paramsOf(pattern: readonly string[], parts: readonly string[]): readonly string[] | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params: string[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const wanted = pattern[i] ?? '';
    const given = parts[i] ?? '';
    if (wanted.startsWith(':') && given !== '') params.push(given);
    else if (wanted !== given) return undefined;
  }
  return params;
}

export const ok = (body: JsonObject): Reply => ({ status: 200, body });
export const NO_CONTENT: Reply = { status: 204 };
