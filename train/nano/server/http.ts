import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { JsonObject } from '../../../src/core/json.ts';

/** A request that is not accepted, with its HTTP status. A request that was accepted and then failed is an Outcome. */
export class HttpRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, message: string, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface ReplyPayload {
  readonly type: 'application/json' | 'application/x-protobuf' | 'application/octet-stream';
  readonly bytes: Uint8Array;
}

/** One HTTP request as the routes see it. */
export interface RouteCall {
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

export interface RouteReply {
  readonly status: number;
  readonly body?: JsonObject | ReplyPayload | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A part that starts with a colon is a parameter, which matches any text without a slash. */
  readonly path: string;
  /** Needs no key. */
  readonly isOpen?: boolean;
  answer(call: RouteCall): Promise<RouteReply>;
}

interface RouteMatch {
  readonly route: Route;
  readonly params: readonly string[];
}

/** Undefined when no route has this path; `allowed` when the path has only other methods. */
export function matchRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): RouteMatch | { readonly allowed: readonly string[] } | undefined {
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

export const okReply = (body: JsonObject): RouteReply => ({ status: 200, body });
export const NO_CONTENT: RouteReply = { status: 204 };

interface ServerAccessOptions {
  readonly host: string;
  readonly port: number;
  readonly key: string;
}

/** Throws a Refusal for a request that is not allowed. `isOpen` routes need no key; the Host is checked for all routes. */
export function createServerAccessControl({
  host,
  port,
  key,
}: ServerAccessOptions): (request: IncomingMessage, isOpen: boolean) => void {
  const onLoopback = isLoopback(host);
  const wanted = digest(key);
  /** Against DNS rebinding: a web page can make its own host name point to loopback, but its Host header has that name. */
  const isOurs = (authority: string): boolean => {
    const match = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(authority.toLowerCase());
    const [, name = '', givenPort = '80'] = match ?? [];
    if (Number(givenPort) !== port) return false;
    if (name === '127.0.0.1' || name === 'localhost' || name === '[::1]' || name === host.toLowerCase())
      return true;
    // A literal address cannot be rebound.
    return !onLoopback && isIP(name.replace(/^\[|\]$/g, '')) !== 0;
  };
  return ({ headers, url = '' }, isOpen) => {
    if (!url.startsWith('/'))
      throw new HttpRefusal(400, 'Send a path, not an absolute URL, in the request line.');
    if (!isOurs(headers.host ?? ''))
      throw new HttpRefusal(403, 'This Host is not allowed. Use http://127.0.0.1.');
    // Training clients send no Origin; web pages do.
    if (headers.origin !== undefined || (headers['sec-fetch-site'] ?? 'none') !== 'none')
      throw new HttpRefusal(403, 'Requests from web pages are not allowed.');
    if (isOpen) return;
    const bearer = /^bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
    const given = headers['x-api-key'] ?? bearer;
    if (typeof given !== 'string' || !timingSafeEqual(digest(given), wanted))
      throw new HttpRefusal(401, 'Send the API key as X-API-Key or as a bearer token.');
  };
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

type Inflate = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;
const zstd: unknown = Reflect.get(zlib, 'zstdDecompress');

/** The whole body, decompressed. Throws a Refusal (413) as soon as it exceeds the limit. */
export async function readRequestBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'zstd')
    throw new HttpRefusal(
      415,
      `Content-Encoding ${encoding.slice(0, 32)} is not supported; send the body uncompressed.`,
    );
  // Node 22.15 and later.
  if (encoding === 'zstd' && typeof zstd !== 'function')
    throw new HttpRefusal(415, 'This version of Node has no zstd; send the body uncompressed.');
  const tooLarge = new HttpRefusal(413, `The body is larger than ${maxBytes} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks, size);
  if (encoding === 'identity') return body;
  try {
    return await (promisify(zstd as typeof zlib.gunzip) as Inflate)(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge;
    throw new HttpRefusal(400, 'The body is not zstd, although its Content-Encoding says so.');
  }
}

const MAX_LENGTH = 256;

/** The idempotency key: the same for a request and all its retries. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['x-idempotency-key'];
  return typeof key === 'string' && key !== '' && key.length <= MAX_LENGTH ? key : undefined;
}

/** Replies by idempotency key. */
export interface IdempotencyKeys {
  /** The earlier reply to this key, or the result of `answer`. Throws a Refusal (409) when the key was used for another request. */
  once(key: string | undefined, print: string, answer: () => Promise<JsonObject>): Promise<JsonObject>;
  remember(key: string, print: string, reply: JsonObject): void;
}

export function createIdempotencyKeys(limit: number): IdempotencyKeys {
  const replies = new Map<string, { readonly print: string; readonly reply: Promise<JsonObject> }>();
  const put = (key: string, print: string, reply: Promise<JsonObject>): void => {
    replies.set(key, { print, reply });
    for (const old of replies.keys()) {
      if (replies.size <= limit) break;
      replies.delete(old);
    }
  };
  return {
    once: (key, print, answer) => {
      if (key === undefined) return answer();
      const before = replies.get(key);
      if (before !== undefined) {
        if (before.print !== print)
          throw new HttpRefusal(409, 'This X-Idempotency-Key was used for another request.');
        return before.reply;
      }
      const reply = answer();
      put(key, print, reply);
      // A request that was refused may be retried.
      reply.catch(() => {
        if (replies.get(key)?.reply === reply) replies.delete(key);
      });
      return reply;
    },
    remember: (key, print, reply) => put(key, print, Promise.resolve(reply)),
  };
}

export function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: RouteReply,
): void {
  if (response.destroyed) return;
  const payload = toPayload(body);
  response.writeHead(status, {
    ...headers,
    ...(payload === undefined ? {} : { 'content-type': payload.type }),
    ...(status === 204 ? {} : { 'content-length': payload?.bytes.length ?? 0 }),
    // The unread rest of a body must not be parsed as the next request.
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(payload?.bytes);
}

function toPayload(body: RouteReply['body']): ReplyPayload | undefined {
  if (body === undefined || isPayload(body)) return body;
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) };
}

const isPayload = (body: NonNullable<RouteReply['body']>): body is ReplyPayload =>
  body.bytes instanceof Uint8Array;
