import {
  createFailure,
  errorMessage,
  type Failure,
  failureKindOf,
  type Refused,
  refused,
} from '../core/failure.ts';
import { asArray, asNumber, asObject, asString, isObject, parseJson } from '../core/json.ts';
import type { Exchange } from '../core/upstream.ts';
import { parseBaseUrl } from './base-url.ts';
import { ModelError } from './chat-events.ts';
import { openHttpReply } from './http-reply.ts';

/** vLLM's routes for adapters. None rejects: a refusal is a value, and its message says how to fix it. */
export interface VllmRoutes {
  load(adapter: AdapterLocation, isInPlace: boolean, signal: AbortSignal): Promise<VllmOutcome>;
  unload(name: string, signal: AbortSignal): Promise<VllmOutcome>;
  /** The folder of each served model by name, the base model included. */
  list(
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly served: ReadonlyMap<string, string> } | Refused>;
}

export interface AdapterLocation {
  readonly name: string;
  /** The path on the server's machine. */
  readonly folder: string;
}

type VllmOutcome =
  | { readonly is: 'done' }
  /** An adapter of that name is already loaded. */
  | { readonly is: 'taken'; readonly failure: Failure }
  /** No adapter of that name is loaded. */
  | { readonly is: 'absent'; readonly failure: Failure }
  | { readonly is: 'refused'; readonly failure: Failure };

export interface VllmRoutesOptions {
  readonly exchange: Exchange;
  /** The server's base URL, with or without `/v1`. */
  readonly baseUrl: string;
  /** Read for each request, so that a rotated key is used. */
  readonly key?: () => string | undefined;
}

interface Answer {
  readonly ok: true;
  readonly status: number;
  readonly text: string;
}

const MOST_BYTES = 4 * 2 ** 20;
const ROUTES_OFF =
  'vLLM has no routes to load adapters. Start it with --enable-lora and the environment variable VLLM_ALLOW_RUNTIME_LORA_UPDATING=True.';

export function createVllmRoutes({ exchange, baseUrl, key }: VllmRoutesOptions): VllmRoutes {
  const { origin, basePath } = parseBaseUrl(baseUrl, 'openai-chat');
  const send = async (
    route: string,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<Answer | Refused> => {
    const secret = key?.();
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    };
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const method = body === undefined ? 'GET' : 'POST';
    try {
      const request = { method, origin, path: `${basePath}/${route}`, headers, body: bytes };
      const reply = await openHttpReply(exchange, request, signal);
      const parts: Buffer[] = [];
      let size = 0;
      for await (const part of reply.body) {
        parts.push(part);
        size += part.length;
        if (size > MOST_BYTES) reply.close();
      }
      return { ok: true, status: reply.status, text: Buffer.concat(parts).toString('utf8') };
    } catch (error) {
      return refused(
        error instanceof ModelError ? error.failure : createFailure('internal', errorMessage(error)),
      );
    }
  };
  return {
    load: async ({ name, folder }, isInPlace, signal) => {
      const inPlace = isInPlace ? { load_inplace: true } : {};
      const body = { lora_name: name, lora_path: folder, ...inPlace };
      return toOutcome(await send('load_lora_adapter', body, signal), folder);
    },
    unload: async (name, signal) =>
      toOutcome(await send('unload_lora_adapter', { lora_name: name }, signal), name),
    list: async (signal) => {
      const answer = await send('models', undefined, signal);
      if (!answer.ok) return answer;
      if (answer.status !== 200) return refused(explain(answer, '').failure);
      const cards = asArray(asObject(parseJson(answer.text)).data).map(asObject);
      return {
        ok: true,
        served: new Map(cards.map(({ id, root }) => [asString(id) ?? '', asString(root) ?? ''])),
      };
    },
  };
}

function toOutcome(answer: Answer | Refused, what: string): VllmOutcome {
  if (!answer.ok) return { is: 'refused', failure: answer.why };
  if (answer.status >= 200 && answer.status < 300) return { is: 'done' };
  const { failure, words } = explain(answer, what);
  if (/has already been loaded/i.test(words)) return { is: 'taken', failure };
  if (/adapter '.*' cannot be found/i.test(words)) return { is: 'absent', failure };
  return { is: 'refused', failure };
}

/** Older servers put the message at the top level, newer ones into `error`; an unknown route has it in `detail`. */
function explain(
  { status, text }: Answer,
  what: string,
): { readonly failure: Failure; readonly words: string } {
  const body = asObject(parseJson(text));
  const error = isObject(body.error) ? body.error : body;
  const words = asString(error.message) ?? asString(body.detail) ?? '';
  const advice = adviceFor(status, words, what);
  const plain = words === '' ? `vLLM answered ${status}.` : words;
  const code = asString(error.type);
  return {
    words,
    failure: createFailure(failureKindOf(status), advice ?? `vLLM refused: ${plain}`, {
      status: asNumber(error.code) ?? status,
      ...(code === undefined ? {} : { code }),
    }),
  };
}

function adviceFor(status: number, words: string, what: string): string | undefined {
  if (status === 404 && (words === '' || words === 'Not Found')) return ROUTES_OFF;
  if (status === 405) return ROUTES_OFF;
  if (status === 401) return 'vLLM requires a key: configure the one that it was started with (--api-key).';
  if (/lora is not enabled|--enable-lora/i.test(words))
    return `vLLM serves no adapters: start it with --enable-lora. Its message: ${words}`;
  if (/max_lora_rank/i.test(words))
    return `The adapter's rank is too large for this vLLM: start it with a larger --max-lora-rank. Its message: ${words}`;
  if (/no adapter found|adapter_config\.json|no such file/i.test(words))
    return `vLLM does not find an adapter in ${what}: the folder must exist at this path on its machine and be readable. Its message: ${words}`;
  return undefined;
}
