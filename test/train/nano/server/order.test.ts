import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../../src/core/clock.ts';
import { asObject, asString, type JsonObject } from '../../../../src/core/json.ts';
import { createFutures } from '../../../../train/nano/server/futures.ts';
import { createRequestSequencer } from '../../../../train/nano/server/request-sequence.ts';
import { createBigramEngine } from './bigram-engine.ts';
import {
  type Client,
  createModel,
  createSession,
  datum,
  startServer,
  stepBody,
  trainBody,
} from './tinker-client.ts';

const idOf = ({ body }: { readonly body: JsonObject }): string => asString(body.request_id) ?? '';

/** Four requests whose order matters: what the last one sees tells whether it was kept. */
const bodies = (model: string) => [
  ['forward_backward', trainBody(model, 1)] as const,
  ['optim_step', stepBody(model, 2, 0.3)] as const,
  ['forward_backward', trainBody(model, 3, [datum([3, 4], [1, 2])])] as const,
  ['optim_step', stepBody(model, 4, 0.1)] as const,
];
async function lossAfter(client: Client, order: readonly number[]): Promise<unknown> {
  const model = await createModel(client);
  const all = bodies(model);
  for (const i of order) {
    const [route, body] = all[i] ?? ['', {}];
    expect((await client.post(route, body)).status).toBe(200);
  }
  return asObject((await client.outcome('forward_backward', trainBody(model, 5))).metrics)['loss:sum'];
}

describe('requests of one model', () => {
  it('run by their sequence numbers, in whatever order they arrive', async () => {
    const client = await startServer();
    const expected = await lossAfter(client, [0, 1, 2, 3]);
    for (const order of [
      [3, 2, 1, 0],
      [1, 0, 3, 2],
      [2, 3, 0, 1],
      [0, 1, 1, 2, 0, 3, 3],
    ])
      expect(await lossAfter(client, order)).toBe(expected);
  });

  it('run in the order of arrival when they have no numbers', async () => {
    const client = await startServer();
    const expected = await lossAfter(client, [0, 1, 2, 3]);
    const model = await createModel(client);
    for (const [route, body] of bodies(model)) await client.post(route, { ...body, seq_id: undefined });
    const last = await client.outcome('forward_backward', trainBody(model, undefined));
    expect(asObject(last.metrics)['loss:sum']).toBe(expected);
  });

  it('report the missing number that they wait for', async () => {
    const client = await startServer({ limits: { pollMs: 20 } });
    const model = await createModel(client);
    const third = await client.post('forward_backward', trainBody(model, 3));
    const waiting = await client.post('retrieve_future', { request_id: idOf(third) });
    expect(waiting.status).toBe(408);
    expect(waiting.body).toMatchObject({
      type: 'try_again',
      queue_state: 'paused_capacity',
      queue_state_reason: expect.stringContaining('request 1'),
    });
  });

  it('fail with category user when the missing number never arrives, and the next request runs', async () => {
    const client = await startServer({ limits: { gapMs: 50 } });
    const model = await createModel(client);
    const third = await client.post('forward_backward', trainBody(model, 3));
    expect(await client.await(idOf(third))).toMatchObject({
      category: 'user',
      error: expect.stringContaining('Request 1 did not arrive'),
    });
    expect(await client.outcome('forward_backward', trainBody(model, 4))).toHaveProperty('metrics');
    expect(await client.outcome('forward_backward', trainBody(model, 1))).toMatchObject({ category: 'user' });
  });

  it('are rejected when they are too far ahead of the next number', async () => {
    const client = await startServer({ limits: { gap: 8 } });
    const model = await createModel(client);
    expect((await client.post('optim_step', stepBody(model, 9))).status).toBe(400);
    expect((await client.post('optim_step', stepBody(model, 8))).status).toBe(200);
  });

  it('pass the sequencer in rising order, for any order of arrival', () => {
    let seen = 0;
    fc.assert(
      fc.property(
        fc.shuffledSubarray(
          [...Array(12).keys()].map((i) => i + 1),
          { minLength: 12 },
        ),
        (arrivals) => {
          const turns = createRequestSequencer(1e6, () => undefined);
          const done: number[] = [];
          for (const seq of arrivals) {
            turns.enter(seq);
            for (let now = turns.current(); now !== undefined; now = turns.current()) {
              done.push(now);
              turns.pass(now);
            }
          }
          turns.stop();
          seen += done.length;
          expect(done).toEqual([...done].sort((a, b) => a - b));
          expect(done).toHaveLength(12);
          expect(turns.missing).toBeUndefined();
        },
      ),
    );
    expect(seen).toBe(1200);
  });
});

describe('a request that is sent again', () => {
  it('gets the same id for its number and content, and 409 for other content', async () => {
    const client = await startServer();
    const model = await createModel(client);
    const first = await client.post('forward_backward', trainBody(model, 1));
    const { forward_backward_input, ...rest } = trainBody(model, 1);
    // The same members in another order are the same request.
    const again = await client.post('forward_backward', { forward_backward_input, ...rest });
    expect(idOf(again)).toBe(idOf(first));
    expect((await client.post('forward_backward', trainBody(model, 1, [datum([3], [1])]))).status).toBe(409);
    expect((await client.post('optim_step', stepBody(model, 1))).status).toBe(409);
    const [one, two] = await Promise.all([1, 2].map(() => client.post('optim_step', stepBody(model, 2))));
    expect(one?.body).toEqual(two?.body);
  });

  it('gets the same reply for its idempotency key, also without a number, and 409 for other content', async () => {
    const client = await startServer();
    const session_id = await createSession(client);
    const model = await createModel(client, session_id);
    const key = { 'x-idempotency-key': 'once' };
    const [first, again] = await Promise.all(
      [1, 2].map(() => client.post('optim_step', stepBody(model, undefined), key)),
    );
    expect(again?.body).toEqual(first?.body);
    expect((await client.post('optim_step', stepBody(model, undefined, 0.5), key)).status).toBe(409);
    const other = await client.post('optim_step', stepBody(model, undefined), {
      'x-idempotency-key': 'twice',
    });
    expect(other.body).not.toEqual(first?.body);
    const creation = { session_id, model_seq_id: 5, base_model: 'bigram-16' };
    const made = await Promise.all([1, 2].map(() => client.post('create_model', creation)));
    expect(made[0]?.body).toEqual(made[1]?.body);
    expect((await client.post('create_model', { ...creation, lora_config: { rank: 2 } })).status).toBe(409);
  });

  it('is recognised as the same save when the client used a new number for the sampling session', async () => {
    const client = await startServer();
    const model_id = await createModel(client);
    const first = await client.post('save_weights_for_sampler', {
      model_id,
      seq_id: 1,
      sampling_session_seq_id: 0,
    });
    const again = await client.post('save_weights_for_sampler', {
      model_id,
      seq_id: 1,
      sampling_session_seq_id: 1,
    });
    expect(again.status).toBe(200);
    expect(idOf(again)).toBe(idOf(first));
  });

  it('is not sampled twice', async () => {
    const client = await startServer();
    const session_id = await createSession(client);
    const opened = await client.post('create_sampling_session', {
      session_id,
      sampling_session_seq_id: 0,
      base_model: 'bigram-16',
    });
    const ask = (tokens: number) => ({
      sampling_session_id: opened.body.sampling_session_id,
      seq_id: 0,
      prompt: { chunks: [{ type: 'encoded_text', tokens: [1] }] },
      sampling_params: { max_tokens: tokens },
    });
    const first = await client.outcome('asample', ask(9));
    expect(await client.outcome('asample', ask(9))).toEqual(first);
    expect((await client.post('asample', ask(8))).status).toBe(409);
  });
});

describe('too many requests', () => {
  it('get 429 with Retry-After, per model and in total; accepted requests are carried out', async () => {
    const engine = createBigramEngine();
    const client = await startServer({ engine, limits: { perModel: 3, total: 4 } });
    const [one, two] = [await createModel(client), await createModel(client)];
    const resume = engine.pause();
    const first = await Promise.all([1, 2, 3, 4].map((seq) => client.post('optim_step', stepBody(one, seq))));
    expect(first.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429]);
    expect(first.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('1');
    const second = await Promise.all([1, 2].map((seq) => client.post('optim_step', stepBody(two, seq))));
    expect(second.map(({ status }) => status)).toContain(429);
    resume();
    for (const reply of first.filter(({ status }) => status === 200))
      expect(await client.await(idOf(reply))).toHaveProperty('metrics');
    expect(await client.outcome('optim_step', stepBody(one, 4))).toHaveProperty('metrics');
  });

  it('get 429 for sampling, and a cancelled one ends', async () => {
    const engine = createBigramEngine();
    const client = await startServer({ engine, limits: { samples: 1, samplesAtOnce: 1 } });
    const resume = engine.pause();
    const ask = {
      base_model: 'bigram-16',
      prompt: { chunks: [{ type: 'encoded_text', tokens: [1] }] },
      sampling_params: { max_tokens: 1 },
    };
    const replies = await Promise.all([1, 2, 3, 4].map(() => client.post('asample', ask)));
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(2);
    const [, queued] = replies.filter(({ status }) => status === 200);
    expect((await client.post('cancel_future', { request_id: queued?.body.request_id })).status).toBe(204);
    expect(await client.await(queued === undefined ? '' : idOf(queued))).toMatchObject({
      error: expect.stringContaining('cancelled'),
    });
    resume();
  });
});

describe('a future', () => {
  it('is 408 while it is pending, then its result every time; unknown ids get 404, dropped ones 410', async () => {
    const engine = createBigramEngine();
    const client = await startServer({ engine, limits: { pollMs: 10 } });
    const model = await createModel(client);
    const resume = engine.pause();
    const request_id = idOf(await client.post('forward_backward', trainBody(model, 1)));
    const early = await client.post('retrieve_future', { request_id });
    expect(early.status).toBe(408);
    expect(early.body).toEqual({ type: 'try_again', request_id, queue_state: 'active' });
    resume();
    const result = await client.await(request_id);
    expect((await client.post('retrieve_future', { request_id, allow_metadata_only: true })).body).toEqual(
      result,
    );
    expect((await client.post('retrieve_future', { request_id: 'nonsense' })).status).toBe(404);
    expect((await client.post('retrieve_future', { request_id: `${model}:77` })).status).toBe(410);
    expect((await client.post('retrieve_future', {})).status).toBe(422);
  });

  it('is announced by its size first when it is large and the client allows that', async () => {
    const client = await startServer({ limits: { inlineBytes: 400 } });
    const model = await createModel(client);
    const data = [datum(Array(64).fill(1), Array(64).fill(1))];
    const { request_id } = (await client.post('forward_backward', trainBody(model, 1, data))).body;
    const whole = await client.await(asString(request_id) ?? '');
    const response_payload_size = JSON.stringify(whole).length;
    const told = await client.post('retrieve_future', { request_id, allow_metadata_only: true });
    expect(told.body).toEqual({ status: 'complete_metadata', response_payload_size });
    const step = (await client.post('optim_step', stepBody(model, 2))).body.request_id;
    const small = await client.await(asString(step) ?? '');
    expect(
      (await client.post('retrieve_future', { request_id: step, allow_metadata_only: true })).body,
    ).toEqual(small);
  });

  it('is kept until it was read and for a while after, within the limit; read ones are dropped first', async () => {
    const clock = createManualClock();
    const futures = createFutures(clock, { kept: 3, keptBytes: 1e9, readForMs: 1000 });
    const { signal } = new AbortController();
    const settle = (id: string): void => futures.settle(id, { kind: 'json', body: { id } });
    for (const id of ['a', 'b', 'c']) settle(id);
    await futures.read('b', 0, signal);
    settle('d');
    expect(['a', 'b', 'c', 'd'].map((id) => futures.peek(id) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    settle('e');
    expect(futures.peek('a')).toBeUndefined();
    await futures.read('c', 0, signal);
    clock.advance(1001);
    futures.sweep();
    expect(['c', 'd', 'e'].map((id) => futures.peek(id) !== undefined)).toEqual([false, true, true]);
  });
});
