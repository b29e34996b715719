import type { IncomingMessage } from 'node:http';
import type { Caller } from '../core/caller.ts';
import type { FailedResult } from '../core/failure.ts';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../core/json.ts';
import type { Target } from '../core/upstream.ts';
import type { WireName } from '../core/wire.ts';
import { ANY_MODEL, type GatewayContext } from './context.ts';
import { upstreamRequestHeaders } from './headers.ts';

const PROVIDER_TIMEOUT_MS = 3000;
const MAX_LIST_BYTES = 4_194_304;

/**
 * `GET /v1/models` in the caller's format: aliases and configured models first, then the list of the provider of this
 * wire. A provider that does not answer in time only makes the list shorter.
 */
export async function listModels(
  context: GatewayContext,
  wire: WireName,
  request: IncomingMessage,
  caller: Caller | undefined,
): Promise<{ readonly ok: true; readonly models: JsonObject } | FailedResult> {
  const candidate = context.catalogue.resolve(ANY_MODEL, wire)[0];
  const admittance = candidate && context.authorize.forTarget(request, candidate, caller);
  if (admittance?.ok === false) return admittance;
  const listed = new Set<string>();
  const data: JsonObject[] = [];
  const add = (id: string, entry: JsonObject) => {
    if (listed.has(id)) return;
    listed.add(id);
    data.push(entry);
  };
  for (const { id, provider } of context.catalogue.list()) add(id, describe(wire, id, provider));
  const live =
    candidate && admittance
      ? await askProvider(context, wire, { ...candidate, access: admittance.access }, request)
      : [];
  for (const entry of live) {
    const id = asString(entry.id);
    if (id !== undefined) add(id, entry);
  }
  return { ok: true, models: encodeList(wire, data) };
}

const encodeList = (wire: WireName, data: readonly JsonObject[]): JsonObject =>
  wire === 'anthropic'
    ? {
        data,
        has_more: false,
        first_id: asString(data[0]?.id) ?? null,
        last_id: asString(data.at(-1)?.id) ?? null,
      }
    : { object: 'list', data };

const describe = (wire: WireName, id: string, provider: string): JsonObject =>
  wire === 'anthropic'
    ? { type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' }
    : { id, object: 'model', created: 1_767_225_600, owned_by: provider };

function askProvider(
  context: GatewayContext,
  wire: WireName,
  target: Target,
  request: IncomingMessage,
): Promise<readonly JsonObject[]> {
  const family = wire === 'anthropic' ? 'anthropic' : 'openai';
  const upstream = target.upstreams.find((candidate) => candidate.wire.startsWith(family));
  if (upstream === undefined) return Promise.resolve([]);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    const finish = (list: readonly JsonObject[]) => {
      clearTimeout(timer);
      resolve(list);
    };
    const control = context.exchange(
      {
        method: 'GET',
        origin: upstream.origin,
        path: `${upstream.basePath}/models`,
        headers: { ...upstreamRequestHeaders(request.headers, target.access), 'accept-encoding': 'identity' },
        body: undefined,
      },
      {
        onHead: (code) => {
          status = code;
        },
        onChunk: (chunk) => {
          size += chunk.length;
          chunks.push(chunk);
          if (size > MAX_LIST_BYTES) {
            control.abort();
            finish([]);
          }
          return true;
        },
        onEnd: () => {
          const body = status === 200 ? parseJson(Buffer.concat(chunks).toString('utf8')) : undefined;
          finish(asArray(asObject(body).data).map(asObject));
        },
        onFailure: () => finish([]),
      },
    );
    const timer = setTimeout(() => {
      control.abort();
      finish([]);
    }, PROVIDER_TIMEOUT_MS);
  });
}
