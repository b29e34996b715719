import { describe, expect, it } from 'vitest';
import { asArray, asObject, asString } from '../../../../src/core/json.ts';
import { startTinkerServer } from '../../../../train/nano/server/start-tinker-server.ts';
import { createEngine } from '../../../support/one-thread-engine.ts';
import { SMALL, smallWeights } from '../engine/small-model.ts';
import {
  createClient,
  createSession,
  datum,
  newFolder,
  stepBody,
  TEST_KEY,
  trainBody,
} from './tinker-client.ts';

describe('the nano engine behind the routes', () => {
  it('learns, samples with the log-probabilities of forward, and continues bit-identically after a restart', async () => {
    const folder = await newFolder();
    const open = () => {
      const engine = createEngine({ weights: smallWeights(), shape: SMALL, name: 'small' });
      return startTinkerServer({ engine, folder, port: 0, key: TEST_KEY, limits: { snapshotSteps: 2 } });
    };
    let server = await open();
    const client = createClient(() => server.url);
    const session_id = await createSession(client);
    const made = await client.outcome('create_model', {
      session_id,
      model_seq_id: 0,
      base_model: 'small',
      lora_config: { rank: 4, seed: 3 },
    });
    const model = asString(made.model_id) ?? '';
    const data = [datum([1, 2, 3, 4], [1, 1, 1, 1], [2, 3, 4, 5])];
    const losses: number[] = [];
    for (let seq = 1; seq <= 9; seq += 2) {
      const done = await client.outcome('forward_backward', trainBody(model, seq, data));
      losses.push(Number(asObject(done.metrics)['loss:sum']));
      await client.outcome('optim_step', stepBody(model, seq + 1, 0.01));
    }
    expect(losses.at(-1)).toBeLessThan(losses[0] ?? 0);

    const { sampling_session_id } = await client.outcome('save_weights_for_sampler', {
      model_id: model,
      seq_id: 11,
      sampling_session_seq_id: 0,
    });
    const drawn = await client.outcome('asample', {
      sampling_session_id,
      seq_id: 0,
      prompt: { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] },
      sampling_params: { max_tokens: 8, seed: 5 },
      prompt_logprobs: true,
    });
    const sequence = asObject(asArray(drawn.sequences)[0]);
    const sampled = asArray(sequence.tokens).map(Number);
    const whole = [1, 2, 3, ...sampled];
    const scored = await client.outcome(
      'forward_backward',
      trainBody(model, 12, [
        datum(
          whole.slice(0, -1),
          whole.slice(1).map(() => 1),
          whole.slice(1),
        ),
      ]),
    );
    const rows = asArray(asObject(asObject(asArray(scored.loss_fn_outputs)[0]).logprobs).data).map(Number);
    const expected = [...asArray(drawn.prompt_logprobs).slice(1), ...asArray(sequence.logprobs)].map(Number);
    expect(expected).toHaveLength(10);
    for (const [i, value] of expected.entries()) expect(Math.abs(value - (rows[i] ?? 0))).toBeLessThan(1e-4);

    await server.close();
    server = await open();
    const after = await client.outcome('forward_backward', trainBody(model, 13, data));
    await server.close();
    server = await open();
    expect(await client.outcome('forward_backward', trainBody(model, 13, data))).toEqual(after);
    await client.outcome('optim_step', stepBody(model, 14));
    expect(await client.outcome('unload_model', { model_id: model })).toMatchObject({ model_id: model });
    await server.close();
  });
});
