import { isForbiddenHost } from '../config/address.ts';
import { hasOwnKey, wiresOf } from '../config/provider-entry.ts';
import type { ProviderEntry } from '../config/schema.ts';
import { asArray, asObject, asString, parseJson } from '../core/json.ts';
import type { Exchange } from '../core/upstream.ts';
import { parseBaseUrl } from '../models/base-url.ts';
import { ModelError } from '../models/chat-events.ts';
import { createExchange, type ExchangePool } from '../models/exchange.ts';
import { openHttpReply } from '../models/http-reply.ts';
import { plural } from '../text/phrases.ts';
import { type DoctorCheck, failed, passed, warned } from './doctor-check.ts';

export interface Probe {
  readonly check: DoctorCheck;
  /** The models it lists; undefined when it gave no list. */
  readonly models: readonly string[] | undefined;
}

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** The gateway's HTTP client, address checks included, with short time-outs. */
export const createProbeExchange = (): ExchangePool =>
  createExchange({
    timeouts: {
      connectMs: TIMEOUT_MS,
      headersMs: TIMEOUT_MS,
      firstByteMs: TIMEOUT_MS,
      idleMs: TIMEOUT_MS,
    },
    isForbiddenAddress: isForbiddenHost,
  });

/** Lists a provider's models. Never rejects; the key is sent to the entry's own origin only. */
export async function probeProvider(
  exchange: Exchange,
  name: string,
  entry: ProviderEntry,
  key: string | undefined,
): Promise<Probe> {
  const title = `provider ${name}`;
  const wire = wiresOf(entry)[0] ?? 'openai-chat';
  const limit = AbortSignal.timeout(2 * TIMEOUT_MS);
  try {
    const { origin, basePath } = parseBaseUrl(entry.baseUrl, wire);
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...credentials(wire, origin, key),
    };
    const request = { method: 'GET', origin, path: `${basePath}/models`, headers, body: undefined };
    const reply = await openHttpReply(exchange, request, limit);
    if (reply.status !== 200) {
      reply.close();
      return { check: judgeStatus(title, origin, entry, reply.status), models: undefined };
    }
    const models = await readModels(reply.body);
    const count = models === undefined ? '' : `, ${plural(models.length, 'model')}`;
    return { check: passed(title, `${origin} answers${count}${passesThrough(entry)}`), models };
  } catch (error) {
    const detail = limit.aborted
      ? `${entry.baseUrl} did not answer in time`
      : error instanceof ModelError
        ? error.failure.message
        : String(error);
    return {
      check: failed(title, detail, 'check baseUrl, the network and any proxy'),
      models: undefined,
    };
  }
}

/** Anthropic takes its key in `x-api-key`; other providers, on any wire, take a bearer token. */
function credentials(wire: string, origin: string, key: string | undefined): Record<string, string> {
  const version = wire === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  if (key === undefined) return version;
  if (new URL(origin).hostname.endsWith('anthropic.com')) return { ...version, 'x-api-key': key };
  return { ...version, authorization: `Bearer ${key}`, 'x-api-key': key };
}

const passesThrough = (entry: ProviderEntry): string =>
  hasOwnKey(entry) ? '' : "; uses each client's own API key";

function judgeStatus(title: string, origin: string, entry: ProviderEntry, status: number): DoctorCheck {
  const own = hasOwnKey(entry);
  if (status === 401 || status === 403) {
    if (own)
      return failed(
        title,
        `${origin} refuses the key (${status})`,
        `put a valid key in ${entry.keyEnv ?? entry.keyFile}`,
      );
    return passed(title, `${origin} answers and requires the caller's own key`);
  }
  if (status >= 300 && status < 400) {
    return failed(
      title,
      `${origin} redirects (${status}), which is not followed`,
      'set baseUrl to the address it redirects to',
    );
  }
  if (status === 404 || status === 405) {
    return warned(
      title,
      `${origin} answers, but lists no models (${status})`,
      'check the path of baseUrl; /v1 may be missing',
    );
  }
  return warned(
    title,
    `${origin} answers with ${status}`,
    'try again later; the provider may have an outage',
  );
}

async function readModels(body: AsyncIterable<Buffer>): Promise<readonly string[] | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  const data = asObject(parseJson(Buffer.concat(chunks).toString('utf8'))).data;
  if (!Array.isArray(data)) return undefined;
  return asArray(data).flatMap((model) => asString(asObject(model).id) ?? []);
}
