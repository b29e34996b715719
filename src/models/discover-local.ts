import { asArray, asObject, asString, isObject, parseJson } from '../core/json.ts';
import type { Exchange } from '../core/upstream.ts';
import { parseOllamaHost } from './ollama-host.ts';
import { openReply } from './open-reply.ts';

export interface LocalProvider {
  readonly name: 'ollama' | 'lmstudio';
  readonly baseUrl: string;
  /** Its chat models in the server's order; empty when none is installed. */
  readonly models: readonly string[];
}

export interface DiscoverOptions {
  readonly exchange: Exchange;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
  readonly ports?: { readonly ollama?: number; readonly lmstudio?: number };
}

const MOST_BYTES = 1024 * 1024;
const MOST_MODELS = 500;
const LONGEST_NAME = 256;

/** The addresses at which model servers on this machine listen, whether or not they run. */
export const localPlaces = (
  env: DiscoverOptions['env'],
  ports: DiscoverOptions['ports'] = {},
): readonly Omit<LocalProvider, 'models'>[] => [
  { name: 'ollama', baseUrl: `${parseOllamaHost(env.OLLAMA_HOST, ports.ollama)}/v1` },
  { name: 'lmstudio', baseUrl: `http://127.0.0.1:${ports.lmstudio ?? 1234}/v1` },
];

/** The model servers that run on this machine now. Never rejects: a server that does not answer in time is left out. */
export async function discoverLocal(options: DiscoverOptions): Promise<readonly LocalProvider[]> {
  const { exchange, env, timeoutMs = 300, ports } = options;
  const places = localPlaces(env, ports);
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
    const reply = await openReply(exchange, request, controller.signal);
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
