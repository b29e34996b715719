import { describe, expect, it } from 'vitest';
import { type StepInput, TrainingError } from '../../../src/core/training.ts';
import { datum, FAST, withScripted } from './connect-scripted.ts';

const signal = new AbortController().signal;
const adam = { learningRate: 1e-4 };
const step: StepInput = { data: [datum], loss: 'importance_sampling' };
/** As the server’s config makes them: two data in a request. */
const SMALL_CHUNKS = { status: 200, body: { fwdbwd_max_chunk_len: 2 } } as const;
const smallChunks = (route: string) =>
  route === 'client/config' ? ({ when: 'before', answer: SMALL_CHUNKS } as const) : undefined;

describe('a model over the wire', () => {
  it('sends a large batch in chunks with consecutive numbers, and merges the answers in order', async () => {
    await withScripted(
      {
        fault: smallChunks,
        result: (route, body) => {
          if (route !== 'forward_backward') return undefined;
          const { data } = body.forward_backward_input as unknown as {
            data: { model_input: { chunks: { tokens: number[] }[] } }[];
          };
          const rows = data.map((one) => one.model_input.chunks[0]?.tokens ?? []);
          return {
            status: 200,
            body: {
              loss_fn_outputs: rows.map((tokens) => ({ logprobs: { data: tokens.map((token) => -token) } })),
              metrics: { 'loss:sum': rows.length, 'x:mean': rows.length, 'm:max': rows[0]?.[0] ?? 0 },
            },
          };
        },
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const data = [10, 20, 30, 40, 50].map((token) => ({ ...datum, tokens: [token, token, token] }));
        const given = model.forwardBackward({ data, loss: 'ppo' }, signal);
        const moved = model.optimStep(adam, signal);
        const { logprobs, metrics } = await given.done;
        await moved.done;
        expect(logprobs.map(([first]) => first)).toEqual([-10, -20, -30, -40, -50]);
        expect(metrics).toEqual({ 'loss:sum': 5, 'x:mean': (2 * 2 + 2 * 2 + 1) / 5, 'm:max': 50 });
        expect(server.effects.slice(1)).toEqual([
          'forward_backward/1',
          'forward_backward/2',
          'forward_backward/3',
          'optim_step/4',
        ]);
      },
    );
  });

  it('sends no optimizer step after refused gradients, and reuses their number for the next request', async () => {
    await withScripted(
      {
        fault: (route, count) =>
          route === 'forward_backward' && count === 0
            ? { when: 'before', answer: { status: 400, body: { detail: 'bad datum' } } }
            : undefined,
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const given = model.forwardBackward(step, signal);
        const moved = model.optimStep(adam, signal);
        expect(await given.fate).toMatchObject({
          kind: 'not-taken',
          error: { category: 'user', message: expect.stringMatching(/bad datum/) },
        });
        expect(await moved.fate).toMatchObject({
          kind: 'not-taken',
          error: { message: expect.stringMatching(/not sent/) },
        });
        expect(await moved.sent).toEqual([]);
        expect(server.ofRoute('optim_step')).toHaveLength(0);
        void model.forwardBackward(step, signal);
        await model.optimStep(adam, signal).done;
        expect(server.effects.slice(1)).toEqual(['forward_backward/1', 'optim_step/2']);
      },
    );
  });

  it('sends nothing of a step that no server could do', async () => {
    const wrong: readonly [StepInput, RegExp][] = [
      [{ ...step, data: [] }, /no data/],
      [{ ...step, data: [{ ...datum, targets: [1] }] }, /3 tokens and 1 targets/],
      [{ ...step, data: [{ ...datum, advantages: [0, Number.NaN, 0] }] }, /advantages that are not finite/],
      [{ ...step, data: [{ ...datum, tokens: [1, 2, -3] }] }, /not ids/],
      [{ ...step, data: [{ tokens: [1], targets: [1], weights: [1] }] }, /no advantages/],
      [{ ...step, config: { clip_high_threshold: Number.POSITIVE_INFINITY } }, /Infinity/],
      [{ ...step, loss: 'dro' as 'ppo' }, /no loss dro/],
    ];
    await withScripted({}, async ({ engine, server }) => {
      const model = await engine.createModel({ rank: 4 });
      for (const [input, message] of wrong) {
        const given = model.forwardBackward(input, signal);
        const moved = model.optimStep(adam, signal);
        await expect(given.done).rejects.toMatchObject({
          category: 'user',
          message: expect.stringMatching(message),
        });
        await expect(moved.done).rejects.toBeInstanceOf(TrainingError);
      }
      expect(server.effects).toEqual(['create_model/-']);
      expect(wrong).toHaveLength(7);
    });
  });

  it('does not continue after only a part of a batch was accepted', async () => {
    await withScripted(
      {
        fault: (route, count) =>
          smallChunks(route) ??
          (route === 'forward_backward' && count === 1
            ? { when: 'before', answer: { status: 400, body: { detail: 'no' } } }
            : undefined),
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const given = model.forwardBackward({ ...step, data: [datum, datum, datum] }, signal);
        const moved = model.optimStep(adam, signal);
        expect((await given.fate).kind).toBe('failed');
        expect((await moved.fate).kind).toBe('not-taken');
        await expect(model.optimStep(adam, signal).done).rejects.toThrow(/open it again/);
        expect(server.ofRoute('optim_step')).toHaveLength(0);
      },
    );
  });

  it('stops waiting at once on abort, and reports later that the step was made once', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await withScripted(
      {
        fault: async (route, count) => {
          if (route === 'retrieve_future' && count > 0) await held;
          return undefined;
        },
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const patience = new AbortController();
        const given = model.forwardBackward(step, patience.signal);
        const moved = model.optimStep(adam, patience.signal);
        const [request] = await moved.sent;
        patience.abort();
        await expect(given.done).rejects.toThrow(/aborted/);
        await expect(moved.done).rejects.toThrow(/aborted/);
        release();
        expect((await given.fate).kind).toBe('done');
        expect((await moved.fate).kind).toBe('done');
        expect(await engine.lookUp(request?.requestId ?? '', signal)).toBe('result');
        expect(server.effects.slice(1)).toEqual(['forward_backward/1', 'optim_step/2']);
        await model.optimStep(adam, signal).done;
        expect(server.effects.at(-1)).toBe('optim_step/3');
      },
      { pace: { ...FAST, pollMs: 20_000 } },
    );
  });

  it('withdraws an unsent request together with all those behind it', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await withScripted(
      {
        fault: async (route) => {
          if (route === 'forward_backward') await held;
          return undefined;
        },
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const patience = new AbortController();
        const first = model.forwardBackward(step, patience.signal);
        const second = model.forwardBackward(step, patience.signal);
        const third = model.optimStep(adam, signal);
        await expect.poll(() => server.ofRoute('forward_backward').length, { timeout: 100_000 }).toBe(1);
        patience.abort();
        expect((await second.fate).kind).toBe('not-taken');
        expect((await third.fate).kind).toBe('not-taken');
        release();
        expect((await first.fate).kind).toBe('done');
        expect(server.effects.slice(1)).toEqual(['forward_backward/1']);
      },
      { pace: { ...FAST, requestMs: 20_000 } },
    );
  });

  it('is not sent when its signal was already aborted', async () => {
    await withScripted({}, async ({ engine, server }) => {
      const model = await engine.createModel({ rank: 4 });
      const given = model.forwardBackward(step, AbortSignal.abort());
      const moved = model.optimStep(adam, signal);
      expect((await given.fate).kind).toBe('not-taken');
      expect((await moved.fate).kind).toBe('not-taken');
      expect(server.effects).toEqual(['create_model/-']);
    });
  });

  it('refuses an answer that does not match its data', async () => {
    const answers = [
      { loss_fn_outputs: [], metrics: {} },
      { loss_fn_outputs: [{ logprobs: { data: [-1, -1] } }], metrics: {} },
      { nothing: 'of this kind' },
    ];
    for (const body of answers) {
      await withScripted(
        { result: (route) => (route === 'forward' ? { status: 200, body } : undefined) },
        async ({ engine }) => {
          const model = await engine.createModel({ rank: 4 });
          await expect(model.forward(step, signal)).rejects.toMatchObject({
            name: 'TrainingError',
            category: 'server',
          });
        },
      );
    }
    expect(answers).toHaveLength(3);
  });

  it('loads a saved state as its first request, with the rank it was saved with', async () => {
    await withScripted({}, async ({ engine, server }) => {
      const model = await engine.openModel('tinker://run/weights/a');
      await model.optimStep(adam, signal).done;
      expect(server.effects).toEqual(['create_model/-', 'load_weights/1', 'optim_step/2']);
      expect(server.ofRoute('create_model')[0]?.body.lora_config).toMatchObject({ rank: 4 });
      expect(server.ofRoute('load_weights')[0]?.body).toMatchObject({
        optimizer: true,
        path: 'tinker://run/weights/a',
      });
      expect(await model.saveState('b')).toBe('tinker://run/weights/b');
      await model.close();
      expect(server.effects.at(-1)).toBe('unload_model/-');
    });
  });

  it('leaves no model behind when the state cannot be loaded', async () => {
    await withScripted(
      {
        result: (route) =>
          route === 'load_weights'
            ? { status: 200, body: { error: 'no such checkpoint', category: 'user' } }
            : undefined,
      },
      async ({ engine, server }) => {
        const opening = engine.openModel('tinker://run/weights/a');
        await expect(opening).rejects.toMatchObject({ category: 'user' });
        expect(server.effects).toEqual(['create_model/-', 'load_weights/1', 'unload_model/-']);
      },
    );
  });

  it('loads with the default rank from a server that does not report it', async () => {
    await withScripted(
      {
        fault: (route) =>
          route === 'weights_info' ? { when: 'before', answer: { status: 500 } } : undefined,
      },
      async ({ engine, server, lines }) => {
        await engine.openModel('tinker://run/weights/a');
        expect(server.ofRoute('create_model')[0]?.body.lora_config).toMatchObject({ rank: 32 });
        expect(server.ofRoute('weights_info').length).toBeGreaterThan(1);
        expect(lines).toEqual([expect.stringMatching(/rank of .* is unknown/)]);
      },
    );
  });

  it('creates and loads in one request where the server supports it', async () => {
    await withScripted(
      {
        fault: (route) =>
          route === 'client/config'
            ? { when: 'before', answer: { status: 200, body: { create_model_via_load_weights: true } } }
            : undefined,
      },
      async ({ engine, server }) => {
        const model = await engine.openModel('tinker://run/weights/a');
        await model.optimStep(adam, signal).done;
        expect(server.effects).toEqual(['load_weights/-', 'optim_step/1']);
      },
    );
  });

  it.each(['../x', 'a/b', '', '.hidden', 'a b'])('sends no checkpoint under the name "%s"', async (name) => {
    await withScripted({}, async ({ engine, server }) => {
      const model = await engine.createModel({ rank: 4 });
      await expect(model.saveState(name)).rejects.toMatchObject({ category: 'user' });
      await expect(model.saveForSampler(name)).rejects.toMatchObject({ category: 'user' });
      expect(await model.saveState('day-1.2_a')).toBe('tinker://run/weights/day-1.2_a');
      expect(server.effects.slice(1)).toEqual(['save_weights/1']);
    });
  });

  it('reports why the rank is unknown when no model can be created with the default one (not only that rank)', async () => {
    await withScripted(
      {
        fault: (route) =>
          route === 'weights_info'
            ? { when: 'before', answer: { status: 404, body: { detail: 'Model not found' } } }
            : undefined,
        result: (route) =>
          route === 'create_model' ? { status: 400, body: { detail: 'rank 32 is over 8' } } : undefined,
      },
      async ({ engine, server }) => {
        await expect(engine.openModel('tinker://gone/weights/x')).rejects.toMatchObject({
          category: 'user',
          message: expect.stringMatching(
            /^tinker:\/\/gone\/weights\/x: Model not found \(404\); .*rank 32 is over 8/,
          ),
        });
        expect(server.ofRoute('load_weights')).toHaveLength(0);
      },
    );
  });

  it("strips the server's prefix from the optimizer's metrics", async () => {
    await withScripted(
      {
        result: (route) =>
          route === 'optim_step'
            ? { status: 200, body: { metrics: { 'skyrl.ai/grad_norm': 3, 'step:max': 1, odd: 'x' } } }
            : undefined,
      },
      async ({ engine }) => {
        const model = await engine.createModel({ rank: 4 });
        expect(await model.optimStep(adam, signal).done).toEqual({ grad_norm: 3, 'step:max': 1 });
      },
    );
  });
});
