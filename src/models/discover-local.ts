import { asArray, asObject, asString, isObject, parseJson } from '../core/json.ts';
import type { Exchange } from '../core/upstream.ts';
import { openHttpReply } from './http-reply.ts';

export interface LocalProvider {
  readonly name: 'ollama' | 'lmstudio';
  readonly baseUrl: string;
  /** Its chat models in the server's order; empty when none is installed. */
  readonly models: readonly string[];
}

interface DiscoverLocalOptions {
  readonly exchange: Exchange;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
  readonly ports?: { readonly ollama?: number; readonly lmstudio?: number };
}

const MOST_BYTES = 1024 * 1024;
const MOST_MODELS = 500;
const LONGEST_NAME = 256;

/** The addresses at which model servers on this machine listen, whether or not they run. */
export const localServerAddresses = (
  env: DiscoverLocalOptions['env'],
  ports: DiscoverLocalOptions['ports'] = {},
): readonly Omit<LocalProvider, 'models'>[] => [
  { name: 'ollama', baseUrl: `${parseOllamaHost(env.OLLAMA_HOST, ports.ollama)}/v1` },
  { name: 'lmstudio', baseUrl: `http://127.0.0.1:${ports.lmstudio ?? 1234}/v1` },
];

/** The model servers that run on this machine now. Never rejects: a server that does not answer in time is left out. */
export async function discoverLocal(options: DiscoverLocalOptions): Promise<readonly LocalProvider[]> {
  const { exchange, env, timeoutMs = 300, ports } = options;
  const places = localServerAddresses(env, ports);
  const found = await Promise.all(
    places.map(async (place) => {
      const models = await askModels(exchange, place.baseUrl, timeoutMs);
      return models === undefined ? [] : [{ ...place, models }];
    }),
  );
  return found.flat();
}

async function askModels(
  exchange: Exchange,
  baseUrl: string,
  timeoutMs: number,
): Promise<readonly string[] | undefined> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    const { origin, pathname } = new URL(`${baseUrl}/models`);
    const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
    const request = { method: 'GET', origin, path: pathname, headers, body: undefined } as const;
    const reply = await openHttpReply(exchange, request, controller.signal);
    if (reply.status !== 200) {
      reply.release();
      return undefined;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of reply.body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MOST_BYTES) {
        reply.close();
        return undefined;
      }
    }
    return readModels(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** Ollama without models answers `"data": null`. */
function readModels(text: string): readonly string[] | undefined {
  const value = parseJson(text);
  if (!isObject(value) || (!Array.isArray(value.data) && value.object !== 'list')) return undefined;
  const names = asArray(value.data).map((model) => asString(asObject(model).id) ?? '');
  return [...new Set(names)].filter(isChatModel).slice(0, MOST_MODELS);
}

/** Both servers also list embedding models, and the first of the list may become the default. */
const isChatModel = (name: string): boolean =>
  name !== '' && name.length <= LONGEST_NAME && !/[\p{Cc}\p{Cf}\s]/u.test(name) && !/embed/i.test(name);

const DEFAULT_PORT = 11434;

/**
 * The server in `OLLAMA_HOST`, as `scheme://host:port[/path]` without a trailing slash. The variable may contain `host`,
 * `host:port`, `:port` or a URL; `0.0.0.0`, on which servers listen, becomes loopback. As in Ollama itself, a URL
 * without a port means the scheme's default port.
 */
export function parseOllamaHost(value: string | undefined, defaultPort = DEFAULT_PORT): string {
  const text = (value ?? '')
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  const fallback = `http://127.0.0.1:${defaultPort}`;
  const scheme = /^(https?):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (text === '' || (scheme === undefined && text.includes('://'))) return fallback;
  const rest = scheme === undefined ? text : text.slice(scheme.length + 3);
  const bracketed = isBareIpv6(rest) ? `[${rest}]` : rest;
  const address = `${scheme ?? 'http'}://${bracketed.startsWith(':') ? `127.0.0.1${bracketed}` : bracketed}`;
  if (!URL.canParse(address)) return fallback;
  const url = new URL(address);
  const host = CALLABLE.get(url.hostname) ?? url.hostname;
  const port = portOf(url, rest, scheme === undefined ? defaultPort : undefined);
  return `${url.protocol}//${host}${port}${withoutTrailingSlash(url.pathname)}`;
}

const CALLABLE: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['[::]', '[::1]'],
]);

const isBareIpv6 = (text: string): boolean => /^[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*$/i.test(text);

/** `URL` drops a scheme's default port, so `host:80` and `host` must be distinguished in the text. */
function portOf(url: URL, rest: string, defaultPort: number | undefined): string {
  if (url.port !== '') return `:${url.port}`;
  const written = /:\d+(\/|$)/.test(rest) && !isBareIpv6(rest);
  return written || defaultPort === undefined ? '' : `:${defaultPort}`;
}

const withoutTrailingSlash = (path: string): string => path.replace(/\/{1,64}$/, '');
