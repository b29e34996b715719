import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asNumber, asObject, asString, type JsonObject, parseJson } from '../../../src/core/json.ts';

/** What a request gets: an answer, or one of the ways to get none. */
export type Scripted =
  | {
      readonly status: number;
      readonly body?: JsonObject | string | Uint8Array;
      readonly type?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | 'drop'
  | 'hang';

export interface Seen {
  readonly route: string;
  readonly body: JsonObject;
  readonly bytes: Buffer;
  readonly headers: IncomingMessage['headers'];
}

/** Before it is done, after it is done, or not at all. Undefined: as a good server would. */
export type Fault = { readonly when: 'before' | 'after'; readonly answer: Scripted } | undefined;

export interface ScriptedServer {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** What was really done, in order, as `route/seq`. */
  readonly effects: readonly string[];
  ofRoute(route: string): readonly Seen[];
  close(): Promise<void>;
}

export interface Script {
  /** Asked for each request; `count` is how many of its route came before. */
  readonly fault?: (route: string, count: number, body: JsonObject) => Fault | Promise<Fault>;
  /** The result of a future, by its route. */
  readonly result?: (route: string, body: JsonObject) => Scripted | undefined;
}

const RESULTS: Readonly<Record<string, (body: JsonObject) => JsonObject>> = {
  create_model: () => ({ model_id: 'model-0' }),
  load_weights: () => ({ model_id: 'model-0', path: 'tinker://x/weights/y' }),
  unload_model: () => ({ model_id: 'model-0' }),
  optim_step: () => ({ metrics: { 'grad_norm:mean': 0 } }),
  save_weights: (body) => ({ path: `tinker://run/weights/${asString(body.path)}` }),
  save_weights_for_sampler: (body) => ({ path: `tinker://run/sampler_weights/${asString(body.path)}` }),
  forward: (body) => outputFor(asObject(body.forward_input)),
  forward_backward: (body) => outputFor(asObject(body.forward_backward_input)),
  asample: (body) => ({
    sequences: Array.from({ length: asNumber(body.num_samples) ?? 1 }, () => ({
      stop_reason: 'stop',
      tokens: [3, 4],
      logprobs: [-1, -2],
    })),
  }),
};

function outputFor(input: JsonObject): JsonObject {
  const data = (input.data as readonly JsonObject[] | undefined) ?? [];
  return {
    loss_fn_output_type: 'x',
    loss_fn_outputs: data.map((datum) => {
      const [chunk] = asObject(datum.model_input).chunks as readonly JsonObject[];
      const tokens = (chunk?.tokens as readonly number[] | undefined) ?? [];
      return { logprobs: { data: tokens.map(() => -1), dtype: 'float32', shape: [tokens.length] } };
    }),
    metrics: { 'loss:sum': data.length },
  };
}

const DIRECT: Readonly<Record<string, JsonObject>> = {
  create_session: { session_id: 'session-0' },
  session_heartbeat: { type: 'session_heartbeat' },
  create_sampling_session: { sampling_session_id: 'sampler-0' },
  weights_info: { lora_rank: 4 },
};

/** A server of the protocol that computes nothing, honours idempotency keys, counts what it did, and fails as told. */
export async function startScripted(script: Script = {}): Promise<ScriptedServer> {
  const seen: Seen[] = [];
  const effects: string[] = [];
  const byKey = new Map<string, string>();
  const futures = new Map<string, { readonly route: string; readonly body: JsonObject }>();

  const submit = (route: string, body: JsonObject, key: string): Scripted => {
    let id = byKey.get(key);
    if (id === undefined) {
      id = `request-${futures.size}`;
      byKey.set(key, id);
      futures.set(id, { route, body });
      effects.push(`${route}/${asNumber(body.seq_id) ?? '-'}`);
    }
    return { status: 200, body: { request_id: id } };
  };
  const answer = ({ route, body, headers }: Seen): Scripted => {
    const direct = DIRECT[route];
    if (direct !== undefined) return { status: 200, body: direct };
    if (route === 'retrieve_future') {
      const future = futures.get(asString(body.request_id) ?? '');
      if (future === undefined) return { status: 404, body: { detail: 'no such future' } };
      const result = RESULTS[future.route]?.(future.body) ?? {};
      return script.result?.(future.route, future.body) ?? { status: 200, body: result };
    }
    if (RESULTS[route] === undefined) return { status: 404, body: { detail: 'no such route' } };
    return submit(route, body, String(headers['x-idempotency-key']));
  };

  const server = createServer((request, response) => {
    void readAll(request).then(async (bytes) => {
      const route = (request.url ?? '').replace('/api/v1/', '');
      const isJson = (request.headers['content-type'] ?? '').includes('json');
      const body = isJson ? asObject(parseJson(bytes.toString('utf8'))) : {};
      const one = { route, body, bytes, headers: request.headers };
      const count = seen.filter((other) => other.route === route).length;
      seen.push(one);
      const fault = await script.fault?.(route, count, body);
      if (fault?.when === 'before') return send(response, fault.answer);
      const good = answer(one);
      return send(response, fault?.answer ?? good);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    effects,
    ofRoute: (route) => seen.filter((one) => one.route === route),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function send(response: ServerResponse, scripted: Scripted): void {
  if (scripted === 'hang') return;
  if (scripted === 'drop') {
    response.socket?.destroy();
    return;
  }
  const { status, body = {}, type = 'application/json', headers = {} } = scripted;
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
}
