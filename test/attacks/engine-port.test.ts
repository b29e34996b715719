import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { asObject, parseJson } from '../../src/core/json.ts';
import { readEngineRecord } from '../../train/start-engine.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { requestBody } from '../support/samples.ts';

let home: ReturnType<typeof makeHome> | undefined;
let daemon: RunningDaemon | undefined;
afterEach(async () => {
  daemon?.child.kill('SIGTERM');
  await daemon?.exited;
  home?.remove();
});

/** As the official client sends it. */
const SDK_HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'AsyncTinker/Python 0.25.0',
  'x-stainless-lang': 'python',
  'x-stainless-retry-count': '0',
  'x-idempotency-key': 'stainless-python-retry-7c1f',
};

/** What each route of the protocol is asked for by a program that wants weights, samples or a training run. */
const CALLS: readonly (readonly [method: string, route: string, body?: object])[] = [
  ['GET', 'get_server_capabilities'],
  ['POST', 'client/config', { sdk_version: '0.25.0' }],
  ['POST', 'create_session', { tags: [], user_metadata: {}, sdk_version: '0.25.0' }],
  ['POST', 'create_model', { session_id: 's', model_seq_id: 0, base_model: 'instar-nano' }],
  ['POST', 'create_sampling_session', { session_id: 's', sampling_session_seq_id: 0 }],
  ['POST', 'asample', { sampling_session_id: 's', seq_id: 0, prompt: { chunks: [] } }],
  ['POST', 'forward_backward', { model_id: 'm', seq_id: 1 }],
  ['POST', 'optim_step', { model_id: 'm', seq_id: 2 }],
  ['POST', 'save_weights', { model_id: 'm', seq_id: 3 }],
  ['POST', 'load_weights', { model_id: 'm', seq_id: 4, path: 'tinker://m/weights/x' }],
  ['POST', 'retrieve_future', { request_id: 'r' }],
  ['POST', 'weights_info', { tinker_path: 'tinker://m/weights/x' }],
  ['GET', 'training_runs?limit=20&offset=0'],
  ['GET', 'training_runs/m/checkpoints/weights/x/archive'],
  ['DELETE', 'training_runs/m/checkpoints/weights/x'],
  ['GET', 'no_such_route'],
];

describe('the port of the embedded engine', () => {
  it('(11) answers no route of the daemon’s engine without its key, and writes the key nowhere (any local program could train it)', async () => {
    home = makeHome({});
    daemon = await startDaemon(home.dir);
    const answer = await ask(daemon.port, {
      path: '/v1/chat/completions',
      body: requestBody('openai-chat', false),
    });
    expect(answer.status).toBe(200);
    const folder = path.join(home.dir, 'engine');
    await expect.poll(() => readEngineRecord(folder), { timeout: 100_000 }).toBeDefined();
    const { url = '', pid = 0 } = readEngineRecord(folder) ?? {};

    const tried: string[] = [];
    for (const [method, route, body] of CALLS) {
      for (const key of [undefined, 'tml-dummy', daemon.key]) {
        const reply = await fetch(`${url}/api/v1/${route}`, {
          method,
          redirect: 'manual',
          headers: { ...SDK_HEADERS, ...(key === undefined ? {} : { 'x-api-key': key }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const said = asObject(parseJson(await reply.text()));
        tried.push(`${method} ${route} ${reply.status}`);
        // The shape of the protocol's errors, so that a client shows the reason.
        expect(said).toMatchObject({ detail: expect.stringContaining('X-API-Key'), category: 'user' });
      }
    }
    expect(tried.filter((line) => !line.endsWith(' 401'))).toEqual([]);
    expect(tried).toHaveLength(3 * CALLS.length);
    expect((await fetch(`${url}/api/v1/healthz`)).status).toBe(200);

    if (process.platform !== 'linux') return;
    const given = readFileSync(`/proc/${pid}/environ`, 'utf8');
    const key = /INSTAR_ENGINE_KEY=(tml-[\w-]{40,})/.exec(given)?.[1] ?? '';
    expect(key).not.toBe('');
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(key);
    const files = readdirSync(home.dir, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    expect(files.length).toBeGreaterThan(5);
    for (const file of files)
      expect(readFileSync(path.join(file.parentPath, file.name)).includes(key), file.name).toBe(false);
    const opened = await fetch(`${url}/api/v1/get_server_capabilities`, { headers: { 'x-api-key': key } });
    expect(opened.status).toBe(200);
  });
});
