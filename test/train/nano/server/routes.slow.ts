import { execFileSync } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { readSafetensors } from '../../../../src/base/safetensors.ts';
import { createManualClock } from '../../../../src/core/clock.ts';
import { asArray, asObject, asString } from '../../../../src/core/json.ts';
import { startTinkerServer } from '../../../../train/nano/server/start-tinker-server.ts';
import { decodeTrainOutput } from '../../../../train/nano/tinker/output.ts';
import { createBigramEngine } from './bigram-engine.ts';
import { decodeSampleOutput, encodeTrainRequest } from './client-messages.ts';
import {
  createModel,
  createSession,
  datum,
  newFolder,
  startServer,
  stepBody,
  TEST_KEY,
  trainBody,
} from './tinker-client.ts';

const PROTO = 'application/x-protobuf';
const prompt = { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] };

describe('a session', () => {
  it('is created, kept alive, listed, finished, and then answered with 410 (not 404)', async () => {
    const client = await startServer();
    const session_id = await createSession(client);
    expect((await client.post('session_heartbeat', { session_id })).body).toEqual({
      type: 'session_heartbeat',
    });
    expect((await client.send('GET', 'sessions')).body).toEqual({ sessions: [session_id] });
    const model = await createModel(client, session_id);
    expect((await client.send('GET', `sessions/${session_id}`)).body).toMatchObject({
      training_run_ids: [model],
    });
    expect((await client.post(`sessions/${session_id}/finish`, {})).status).toBe(204);
    expect((await client.post('session_heartbeat', { session_id })).status).toBe(410);
    expect((await client.post('get_info', { model_id: model })).status).toBe(404);
    expect(client.engine.held).toBe(0);
    expect((await client.post('session_heartbeat', { session_id: 'nobody' })).status).toBe(404);
  });

  it('is dropped with its models after the time-out; a run with a checkpoint stays listed', async () => {
    const clock = createManualClock();
    const client = await startServer({ clock, limits: { sweepMs: 20, sessionMs: 1000 } });
    const session = await createSession(client);
    const pinned = await createModel(client, session, 0);
    await createModel(client, session, 1);
    await client.outcome('save_weights', { model_id: pinned, seq_id: 1, path: 'kept' });
    const other = await createSession(client);
    clock.advance(800);
    await client.post('session_heartbeat', { session_id: other });
    clock.advance(800);
    while ((await client.send('GET', 'sessions')).body.sessions?.toString() !== other);
    while (client.engine.held > 0) await client.send('GET', 'healthz');
    const { training_runs } = (await client.send('GET', 'training_runs')).body;
    expect(asArray(training_runs).map((run) => asObject(run).training_run_id)).toEqual([pinned]);
    const loaded = await client.outcome('load_weights', {
      session_id: other,
      model_seq_id: 0,
      path: `tinker://${pinned}/weights/kept`,
      optimizer: true,
    });
    expect(loaded.model_id).toBe(`${other}:train:0`);
  });
});

describe('a model', () => {
  it('describes itself, trains, and is unloaded', async () => {
    const client = await startServer();
    expect((await client.send('GET', 'healthz')).body).toEqual({ status: 'ok' });
    const { supported_models } = (await client.send('GET', 'get_server_capabilities')).body;
    expect(supported_models).toMatchObject([{ model_name: 'bigram-16', max_context_length: 64 }]);
    expect((await client.post('client/config', { sdk_version: '0' })).body.pjwt_auth_enabled).toBe(false);
    expect((await client.post('client/dynamic_config', {})).body.refresh_interval_sec).toBe(300);
    expect((await client.post('telemetry', { events: [] })).body).toEqual({ status: 'accepted' });
    const model_id = await createModel(client);
    expect((await client.post('get_info', { model_id })).body).toMatchObject({
      model_id,
      is_lora: true,
      lora_rank: 4,
    });
    const first = await client.outcome('forward_backward', trainBody(model_id, 1));
    expect(asArray(first.loss_fn_outputs)).toHaveLength(1);
    expect(await client.outcome('optim_step', stepBody(model_id, 2))).toMatchObject({ metrics: {} });
    const { forward_backward_input: forward_input, ...rest } = trainBody(model_id, 3);
    const second = await client.outcome('forward', { ...rest, forward_input });
    expect(Number(asObject(second.metrics)['loss:sum'])).toBeLessThan(
      Number(asObject(first.metrics)['loss:sum']),
    );
    expect(await client.outcome('unload_model', { model_id })).toMatchObject({ model_id });
    expect(client.engine.held).toBe(0);
    expect((await client.post('get_info', { model_id })).status).toBe(404);
  });

  it('accepts protobuf and replies in the encoding that the client accepts', async () => {
    const client = await startServer();
    const model = await createModel(client);
    const data = [
      {
        tokens: Int32Array.of(1, 2),
        foreign: [],
        inputs: new Map([
          ['target_tokens', { dtype: 'int64' as const, data: Float64Array.of(2, 3), shape: [2] }],
        ]),
      },
    ];
    const body = encodeTrainRequest({
      modelId: model,
      seqId: 1,
      loss: 'cross_entropy',
      config: new Map(),
      forwardOnly: false,
      data,
    });
    const { request_id } = (await client.post('forward_backward', body, { 'content-type': PROTO })).body;
    const asJson = await client.await(asString(request_id) ?? '');
    const answer = await client.post('retrieve_future', { request_id }, { accept: PROTO });
    expect(answer.headers.get('content-type')).toBe(PROTO);
    const [row] = decodeTrainOutput(answer.bytes).logprobs;
    const [output] = asArray(asJson.loss_fn_outputs);
    expect(Array.from(row ?? [])).toEqual(asObject(asObject(output).logprobs).data);
    const step = (await client.post('optim_step', stepBody(model, 2))).body.request_id;
    await client.await(asString(step) ?? '');
    const plain = await client.post('retrieve_future', { request_id: step }, { accept: PROTO });
    expect(plain.headers.get('content-type')).toBe('application/json');
  });

  it('rejects an invalid body with the status of its fault', async () => {
    const client = await startServer({ limits: { bodyBytes: 2000 } });
    const model = await createModel(client);
    const status = async (route: string, body: unknown, headers = {}) =>
      (await client.post(route, body, headers)).status;
    expect(await status('optim_step', '{"model_id":')).toBe(400);
    expect(await status('optim_step', '[]')).toBe(422);
    expect(await status('optim_step', { adam_params: {} })).toBe(422);
    expect(await status('forward_backward', { model_id: model, seq_id: 1 })).toBe(422);
    expect(await status('forward_backward', Uint8Array.of(10, 200), { 'content-type': PROTO })).toBe(400);
    expect(await status('optim_step', Uint8Array.of(10), { 'content-type': PROTO })).toBe(415);
    expect(await status('optim_step', { x: 'x'.repeat(3000) })).toBe(413);
    expect(await status('optim_step', 'x', { 'content-encoding': 'br' })).toBe(415);
    expect([400, 415]).toContain(await status('optim_step', 'x', { 'content-encoding': 'zstd' }));
    expect(await status('optim_step', stepBody('nobody', 1))).toBe(404);
    expect(await status('no_such_route', {})).toBe(404);
    expect((await client.send('GET', 'optim_step')).status).toBe(405);
    expect((await client.send('GET', '%ff')).status).toBe(400);
    expect(await client.outcome('optim_step', stepBody(model, 1))).toHaveProperty('metrics');
  });

  it.each([
    ['a NaN weight', trainBody('', 1, [datum([1, 2], [1, null])]), /not finite/],
    ['a token out of range', trainBody('', 1, [datum([99], [1])]), /vocabulary/],
    ['another number of targets', trainBody('', 1, [datum([1, 2], [1, 1], [1])]), /shape/],
    [
      'too long a sequence',
      trainBody('', 1, [datum(Array(65).fill(1), Array(65).fill(1))]),
      /the model reads 64/,
    ],
    ['too many data', trainBody('', 1, Array(1025).fill(datum([1], [1]))), /1025 data/],
    ['no data', trainBody('', 1, []), /no data/],
    [
      'an unknown loss',
      { ...trainBody('', 1), forward_backward_input: { data: [datum([1], [1])], loss_fn: 'dro' } },
      /"dro" is not supported/,
    ],
    [
      'advantages missing',
      { ...trainBody('', 1), forward_backward_input: { data: [datum([1], [1])], loss_fn: 'ppo' } },
      /needs advantages/,
    ],
    [
      'a picture',
      trainBody('', 1, [{ ...datum([1], [1]), model_input: { chunks: [{ type: 'image', data: '' }] } }]),
      /not image/,
    ],
  ])('answers %s with a failure of category user, and still works', async (_, body, words) => {
    const client = await startServer();
    const model_id = await createModel(client);
    const failed = await client.outcome('forward_backward', { ...body, model_id });
    expect(failed).toMatchObject({ category: 'user', error: expect.stringMatching(words) });
    expect(await client.outcome('forward_backward', trainBody(model_id, 2))).toHaveProperty('metrics');
  });

  it('is restored after a failure of the engine, which has category server', async () => {
    const client = await startServer();
    const model_id = await createModel(client);
    const twin = await createModel(client);
    const lossOf = async (model: string, seq: number): Promise<unknown> =>
      asObject((await client.outcome('forward_backward', trainBody(model, seq))).metrics)['loss:sum'];
    client.engine.breakNext('forwardBackward');
    expect(await client.outcome('forward_backward', trainBody(model_id, 1))).toMatchObject({
      category: 'server',
    });
    await client.outcome('forward_backward', trainBody(model_id, 2));
    await client.outcome('optim_step', stepBody(model_id, 3));
    client.engine.breakNext('optimStep');
    expect(await client.outcome('optim_step', stepBody(model_id, 4))).toMatchObject({ category: 'server' });
    await client.outcome('forward_backward', trainBody(twin, 1));
    await client.outcome('optim_step', stepBody(twin, 2));
    expect(await lossOf(model_id, 5)).toBe(await lossOf(twin, 3));
  });
});

describe('a checkpoint', () => {
  it('is saved, described, listed, given a time to live, exported as PEFT, and deleted', async () => {
    const clock = createManualClock(1_700_000_000_000);
    const client = await startServer({ clock, limits: { sweepMs: 20 } });
    const model = await createModel(client);
    await client.outcome('forward_backward', trainBody(model, 1));
    await client.outcome('optim_step', stepBody(model, 2));
    const { path } = await client.outcome('save_weights', { model_id: model, seq_id: 3, path: 'one' });
    expect(path).toBe(`tinker://${model}/weights/one`);
    expect(await client.outcome('save_weights', { model_id: model, seq_id: 4, path: 'one' })).toMatchObject({
      category: 'user',
    });
    expect(await client.outcome('save_weights', { model_id: model, seq_id: 5, path: '../x' })).toMatchObject({
      category: 'user',
    });
    expect(
      await client.outcome('save_weights', { model_id: model, seq_id: 6, path: 'one', overwrite: true }),
    ).toEqual({ type: 'save_weights', path });
    const named = await client.outcome('save_weights_for_sampler', {
      model_id: model,
      seq_id: 7,
      path: 'two',
    });
    expect(named.path).toBe(`tinker://${model}/sampler_weights/two`);
    expect((await client.post('weights_info', { tinker_path: path })).body).toMatchObject({
      lora_rank: 4,
      base_model: 'bigram-16',
    });
    const listed = asArray(
      (await client.send('GET', `training_runs/${model}/checkpoints`)).body.checkpoints,
    ).map(asObject);
    expect(listed.map((one) => one.checkpoint_type)).toEqual(['sampler', 'training']);
    expect((await client.send('GET', 'checkpoints?limit=1')).body).toMatchObject({
      cursor: { limit: 1, total_count: 2 },
    });
    expect((await client.send('GET', `training_runs/${model}`)).body).toMatchObject({
      last_checkpoint: { tinker_path: path },
    });
    const archive = await client.send('GET', `training_runs/${model}/checkpoints/weights/one/archive`);
    expect(archive.status).toBe(302);
    const location = archive.headers.get('location') ?? '';
    const bytes = Buffer.from(await (await fetch(location)).arrayBuffer());
    expect(execFileSync('tar', ['tzf', '-'], { input: bytes }).toString().split('\n')).toEqual([
      'adapter_config.json',
      'adapter_model.safetensors',
      '',
    ]);
    const tensors = readSafetensors(
      execFileSync('tar', ['xzOf', '-', 'adapter_model.safetensors'], { input: bytes }),
    ).tensors;
    expect([...tensors.keys()]).toEqual(['base_model.model.bigram.lora_A.weight']);
    expect((await fetch(location.replace('weights/one', 'sampler_weights/two'))).status).toBe(403);
    const ttl = await client.send('PUT', `training_runs/${model}/checkpoints/weights/one/ttl`, {
      ttl_seconds: 10,
    });
    expect(ttl.status).toBe(204);
    clock.advance(11_000);
    expect((await client.post('weights_info', { tinker_path: path })).status).toBe(400);
    expect(
      (await client.send('DELETE', `training_runs/${model}/checkpoints/sampler_weights/two`)).status,
    ).toBe(204);
    expect(
      (await client.send('DELETE', `training_runs/${model}/checkpoints/sampler_weights/two`)).status,
    ).toBe(404);
  });

  it('restores a model with its optimizer', async () => {
    const client = await startServer();
    const model = await createModel(client);
    await client.outcome('forward_backward', trainBody(model, 1));
    await client.outcome('optim_step', stepBody(model, 2));
    const { path } = await client.outcome('save_weights', { model_id: model, seq_id: 3 });
    const goOn = async (seq: number): Promise<unknown> => {
      await client.outcome('forward_backward', trainBody(model, seq));
      await client.outcome('optim_step', stepBody(model, seq + 1));
      return (await client.outcome('forward_backward', trainBody(model, seq + 2))).metrics;
    };
    const first = await goOn(4);
    await client.outcome('load_weights', { model_id: model, seq_id: 7, path, optimizer: true });
    expect(await goOn(8)).toEqual(first);
    await client.outcome('load_weights', { model_id: model, seq_id: 11, path, optimizer: false });
    expect(await goOn(12)).not.toEqual(first);
  });
});

describe('sampling', () => {
  it('draws from the base model, from a checkpoint and from the current weights', async () => {
    const client = await startServer();
    const session_id = await createSession(client);
    const model = await createModel(client, session_id);
    const data = [datum([1, 2, 3], [1, 1, 1], [5, 5, 5])];
    for (let seq = 1; seq < 40; seq += 2) {
      await client.post('forward_backward', trainBody(model, seq, data));
      await client.post('optim_step', stepBody(model, seq + 1, 1));
    }
    const { path } = await client.outcome('save_weights_for_sampler', {
      model_id: model,
      seq_id: 41,
      path: 'now',
    });
    const passing = await client.outcome('save_weights_for_sampler', {
      model_id: model,
      seq_id: 42,
      sampling_session_seq_id: 0,
    });
    const opened = await client.post('create_sampling_session', {
      session_id,
      sampling_session_seq_id: 1,
      model_path: path,
    });
    const sampler = { chunks: prompt.chunks };
    const draw = async (where: object) =>
      asObject(
        asArray(
          (
            await client.outcome('asample', {
              prompt: sampler,
              num_samples: 1,
              sampling_params: { max_tokens: 1, temperature: 0 },
              ...where,
            })
          ).sequences,
        )[0],
      ).tokens;
    const bare = await draw({ base_model: 'bigram-16' });
    expect(bare).not.toEqual([5]);
    expect(await draw({ model_path: path })).toEqual([5]);
    expect(await draw({ sampling_session_id: opened.body.sampling_session_id, seq_id: 0 })).toEqual([5]);
    expect(await draw({ sampling_session_id: passing.sampling_session_id, seq_id: 0 })).toEqual([5]);
    const info = (await client.send('GET', `samplers/${opened.body.sampling_session_id}`)).body;
    expect(info).toEqual({
      sampler_id: opened.body.sampling_session_id,
      base_model: 'bigram-16',
      model_path: path,
    });
    expect((await client.send('GET', 'checkpoints')).body).toMatchObject({ cursor: { total_count: 1 } });
  });

  it('names its sequences at once, returns prompt log-probabilities, stops at tokens, and rejects what is not supported', async () => {
    const client = await startServer({ endOfText: [7] });
    const ask = (more: object, params: object = {}) => ({
      prompt,
      base_model: 'bigram-16',
      num_samples: 2,
      sampling_params: { max_tokens: 40, seed: 1, ...params },
      ...more,
    });
    const { body } = await client.post('asample', ask({ prompt_logprobs: true }));
    expect(asArray(body.sample_sequence_ids)).toHaveLength(2);
    const drawn = await client.await(asString(body.request_id) ?? '');
    expect(asArray(drawn.prompt_logprobs).map((value) => value === null)).toEqual([true, false, false]);
    expect(asArray(drawn.sequences).map((one) => asArray(asObject(one).tokens).at(-1))).toEqual([7, 7]);
    const proto = await client.post(
      'retrieve_future',
      { request_id: body.request_id ?? '' },
      { accept: PROTO },
    );
    expect(decodeSampleOutput(proto.bytes).promptLogprobs?.[0]).toBeNaN();
    const last = await client.outcome('asample', ask({ prompt_logprobs: true, prompt_logprobs_last_n: 1 }));
    expect(asArray(last.prompt_logprobs).map((value) => value === null)).toEqual([true, true, false]);
    const unstopped = await client.outcome('asample', ask({ num_samples: 1 }, { stop: [] }));
    expect(asObject(asArray(unstopped.sequences)[0]).stop_reason).toBe('length');
    for (const wrong of [
      ask({ topk_prompt_logprobs: 3 }),
      ask({}, { stop: 'x' }),
      ask({ num_samples: 0 }),
      ask({}, { top_p: 0 }),
      ask({ base_model: 'x' }),
    ])
      expect(await client.outcome('asample', wrong)).toMatchObject({ category: 'user' });
    client.engine.breakNext('sample');
    expect(await client.outcome('asample', ask({}))).toMatchObject({ category: 'server' });
    expect((await client.post('asample', ask({ sampling_session_id: 'x' }))).status).toBe(404);
  });
});

describe('access control', () => {
  const statusWith = (port: number, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = httpRequest({
        port,
        host: '127.0.0.1',
        path: '/api/v1/get_server_capabilities',
        headers,
      });
      request.on('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      request.on('error', reject);
      request.end();
    });

  it('accepts the key in either header, and only the server’s own Host', async () => {
    const { server } = await startServer({ key: 'tml-secret' });
    const { port } = server;
    const key = { 'x-api-key': 'tml-secret' };
    expect(await statusWith(port, key)).toBe(200);
    expect(await statusWith(port, { authorization: 'Bearer tml-secret' })).toBe(200);
    expect(await statusWith(port, { 'x-api-key': 'tml-other' })).toBe(401);
    expect(await statusWith(port, {})).toBe(401);
    expect(await statusWith(port, { ...key, host: `evil.example:${port}` })).toBe(403);
    expect(await statusWith(port, { ...key, host: '127.0.0.1:1' })).toBe(403);
    expect(await statusWith(port, { ...key, origin: 'http://evil.example' })).toBe(403);
    expect((await fetch(`${server.url}/api/v1/healthz`)).status).toBe(200);
  });

  it('does not start without a key, also on loopback, nor as a second server in the same folder', async () => {
    const { folder } = await startServer();
    const engine = createBigramEngine();
    await expect(startTinkerServer({ engine, folder: await newFolder(), port: 0, key: '' })).rejects.toThrow(
      /needs a key/,
    );
    await expect(startTinkerServer({ engine, folder, port: 0, key: TEST_KEY })).rejects.toThrow(
      /used by another server/,
    );
  });
});
