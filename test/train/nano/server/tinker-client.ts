import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach } from 'vitest';
import { asObject, asString, type JsonObject, parseJson } from '../../../../src/core/json.ts';
import {
  startTinkerServer,
  type TinkerServer,
  type TinkerServerOptions,
} from '../../../../train/nano/server/start-tinker-server.ts';
import { createBigramEngine } from './bigram-engine.ts';

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly bytes: Buffer;
  readonly headers: Headers;
}

export interface Client {
  send(method: string, route: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  post(route: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Submits and waits for what comes of it. */
  outcome(route: string, body: unknown): Promise<JsonObject>;
  /** Waits for what comes of a request id. */
  await(requestId: string): Promise<JsonObject>;
}

/** The key of every server that a test starts, unless the test gives another. */
export const TEST_KEY = 'tml-test-key-of-thirty-two-characters';

/** Speaks to a server in JSON, with a key. While `isAlive` says so, it tries again where no answer came, as the SDK does. */
export function createClient(
  url: () => string,
  isAlive: () => boolean = () => false,
  key = TEST_KEY,
): Client {
  const send: Client['send'] = async (method, route, body, headers = {}) => {
    for (;;) {
      try {
        const raw = body instanceof Uint8Array || typeof body === 'string';
        const init = body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) };
        const reply = await fetch(`${url()}/api/v1/${route}`, {
          method,
          redirect: 'manual',
          headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
          ...init,
        });
        const bytes = Buffer.from(await reply.arrayBuffer());
        const answer = {
          status: reply.status,
          body: asObject(parseJson(bytes.toString())),
          bytes,
          headers: reply.headers,
        };
        if (!isAlive() || reply.status < 500) return answer;
      } catch (error) {
        if (!isAlive()) throw error;
      }
      await sleep(20);
    }
  };
  const post: Client['post'] = (route, body, headers) => send('POST', route, body, headers);
  const wait: Client['await'] = async (requestId) => {
    for (;;) {
      const { status, body } = await post('retrieve_future', { request_id: requestId });
      if (status === 200) return body;
      if (status !== 408) throw new Error(`${status} ${JSON.stringify(body)}`);
    }
  };
  return {
    send,
    post,
    await: wait,
    outcome: async (route, body) => {
      const { status, body: reply } = await post(route, body);
      if (status !== 200) throw new Error(`${route}: ${status} ${JSON.stringify(reply)}`);
      return wait(asString(reply.request_id) ?? '');
    },
  };
}

const open: { readonly server: TinkerServer; readonly folder: string }[] = [];
afterEach(async () => {
  for (const { server, folder } of open.splice(0)) {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
});

export const newFolder = (): Promise<string> => mkdtemp(path.join(tmpdir(), 'instar-tinker-'));

/** A server in this process with a bigram engine, closed after the test. */
export async function startServer(options: Partial<TinkerServerOptions> = {}) {
  const engine = createBigramEngine();
  const folder = options.folder ?? (await newFolder());
  const server = await startTinkerServer({ engine, port: 0, key: TEST_KEY, ...options, folder });
  open.push({ server, folder });
  return { ...createClient(() => server.url, undefined, options.key), server, folder, engine };
}

export async function createSession({ post }: Client): Promise<string> {
  const { body } = await post('create_session', {
    tags: [],
    user_metadata: {},
    sdk_version: '0',
    type: 'create_session',
  });
  return asString(body.session_id) ?? '';
}

export async function createModel(client: Client, session?: string, number = 0): Promise<string> {
  const session_id = session ?? (await createSession(client));
  const made = await client.outcome('create_model', {
    session_id,
    model_seq_id: number,
    base_model: 'bigram-16',
    lora_config: { rank: 4, seed: 1 },
    type: 'create_model',
  });
  return asString(made.model_id) ?? '';
}

const floats = (data: readonly (number | null)[]) => ({ data, dtype: 'float32', shape: [data.length] });
export const datum = (tokens: readonly number[], weights: readonly (number | null)[], targets = tokens) => ({
  model_input: { chunks: [{ type: 'encoded_text', tokens }] },
  loss_fn_inputs: {
    target_tokens: { data: targets, dtype: 'int64', shape: [targets.length] },
    weights: floats(weights),
  },
});

export const trainBody = (
  model_id: string,
  seq_id: number | undefined,
  data: readonly unknown[] = [datum([1, 2], [1, 1])],
) => ({
  model_id,
  seq_id,
  forward_backward_input: { data, loss_fn: 'cross_entropy' },
});
export const stepBody = (model_id: string, seq_id: number | undefined, learning_rate = 0.1) => ({
  model_id,
  seq_id,
  adam_params: { learning_rate },
  type: 'optim_step',
});
