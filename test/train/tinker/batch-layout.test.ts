import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/base/random.ts';
import { asArray, asObject, asString, type JsonObject } from '../../../src/core/json.ts';
import type { LossKind, StepInput, TrainDatum } from '../../../src/core/training.ts';
import { layOutBatch } from '../../../train/tinker/batch-layout.ts';
import { PROFILES, type ServerTraits } from '../../../train/tinker/profiles.ts';
import { createServer, createTabularEngine } from '../tabular-engine.ts';
import { withScripted } from './connect-scripted.ts';
import type { Seen } from './scripted-server.ts';

const signal = new AbortController().signal;
const VOCABULARY = 5;

/** Sequences of different lengths, masked at their beginning, of which a step would be made. */
function dataOf(count: number, seed = 'layout'): readonly TrainDatum[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const length = 3 + random.below(5);
    const draw = (): readonly number[] => Array.from({ length }, () => random.below(VOCABULARY));
    const weights = Array.from({ length }, (_, at) => (at === 0 ? 0 : 1));
    return {
      tokens: draw(),
      targets: draw(),
      weights,
      advantages: weights.map((weight) => weight * (random.next() - 0.5)),
      logprobs: weights.map((weight) => weight * (-1.6 + 0.2 * random.next())),
    };
  });
}

const rowIn = (inputs: JsonObject, name: string): readonly number[] | undefined =>
  inputs[name] === undefined ? undefined : (asArray(asObject(inputs[name]).data) as readonly number[]);

const inputsIn = ({ body }: Seen): readonly JsonObject[] =>
  asArray(asObject(body.forward_backward_input).data).map(asObject);

function datumIn(sent: JsonObject): TrainDatum {
  const [chunk] = asArray(asObject(sent.model_input).chunks);
  const tokens = asArray(asObject(chunk).tokens) as readonly number[];
  const inputs = asObject(sent.loss_fn_inputs);
  return {
    tokens,
    targets: rowIn(inputs, 'target_tokens') ?? [],
    // Where losses are summed, weights come multiplied into the advantages.
    weights: rowIn(inputs, 'weights') ?? tokens.map(() => 1),
    advantages: rowIn(inputs, 'advantages') ?? [],
    logprobs: rowIn(inputs, 'logprobs') ?? [],
  };
}

/** The gradient that requests have on a server with these traits, computed by a table. */
async function gradientOf(
  requests: readonly StepInput[],
  { reduction, dividesByCount }: Pick<ServerTraits, 'reduction' | 'dividesByCount'>,
): Promise<readonly number[]> {
  const server = createServer({ vocabulary: VOCABULARY, reduction });
  const model = await createTabularEngine(server).createModel({ rank: 1 });
  for (const request of requests) await model.forwardBackward(request, signal).done;
  const count = requests.reduce((sum, { data }) => sum + data.length, 0);
  const gathered = server.models.get(model.id)?.gathered ?? [];
  return Array.from(gathered, (value) => (dividesByCount ? value / count : value));
}

interface SendOptions {
  readonly data: readonly TrainDatum[];
  readonly loss: LossKind;
  readonly traits: ServerTraits;
  /** What the server's settings say about one request. */
  readonly limits?: JsonObject;
}

/** What a server of these traits received for one step. */
const sendStep = ({ data, loss, traits, limits = {} }: SendOptions) =>
  withScripted(
    {
      fault: (route) =>
        route === 'client/config' ? { when: 'before', answer: { status: 200, body: limits } } : undefined,
    },
    async ({ engine, server }) => {
      const model = await engine.createModel({ rank: 4 });
      const config = loss === 'ppo' ? { config: { clip_low_threshold: 0.9, clip_high_threshold: 1.1 } } : {};
      const given = model.forwardBackward({ data, loss, ...config }, signal);
      const stepped = model.optimStep({ learningRate: 0.1 }, signal);
      const output = await given.done;
      await stepped.done;
      const seen = server.ofRoute('forward_backward');
      const requests = seen.map((one): StepInput => {
        const input = asObject(one.body.forward_backward_input);
        const sent = { data: inputsIn(one).map(datumIn), loss };
        expect(asString(input.loss_fn)).toBe(loss);
        return { ...sent, ...config };
      });
      const largest = Math.max(...seen.map(({ bytes }) => bytes.length));
      return { output, requests, largest, effects: server.effects };
    },
    { profile: traits },
  );

const SKYRL: ServerTraits = { ...PROFILES.skyrl, wire: 'json' };
const SUMMING: ServerTraits = { ...PROFILES.tinker, wire: 'json' };
const expectSame = (one: readonly number[], other: readonly number[]): void => {
  expect(Math.hypot(...other)).toBeGreaterThan(1e-3);
  expect(one).toHaveLength(other.length);
  one.forEach((value, at) => {
    expect(value).toBeCloseTo(other[at] ?? Number.NaN, 9);
  });
};

describe('a step for a server that compiles for each number of sequences', () => {
  it.each([1, 5, 16, 17, 40])(
    'sends %i sequences as a multiple of 16, with their own gradient',
    async (count) => {
      for (const loss of ['importance_sampling', 'ppo'] as const) {
        const data = dataOf(count);
        const { output, requests } = await sendStep({ data, loss, traits: SKYRL });
        expect(requests.map((request) => request.data.length)).toEqual([Math.ceil(count / 16) * 16]);
        expect(output.logprobs.map(({ length }) => length)).toEqual(data.map(({ tokens }) => tokens.length));
        // What the port promises: the sum over sequences of their means, whatever the server divides by.
        const clip = { clip_low_threshold: 0.9, clip_high_threshold: 1.1 };
        const wanted = await gradientOf([{ data, loss, config: clip }], { ...SKYRL, dividesByCount: false });
        expectSame(await gradientOf(requests, SKYRL), wanted);
      }
    },
  );

  it('does not lengthen the longest sequence, and reports the loss of the data that were asked for', async () => {
    const data = dataOf(3);
    const [chunk] = layOutBatch(
      { data, loss: 'importance_sampling' },
      { forwardOnly: false, wire: 'json', limits: { data: 1024, bytes: 5e6 }, traits: SKYRL },
    );
    expect(chunk).toMatchObject({ count: 3, scale: 16 });
    expect(chunk?.data.slice(3).every(({ tokens }) => tokens.length === 1)).toBe(true);
    const { output } = await sendStep({ data, loss: 'importance_sampling', traits: SKYRL });
    // This server says how many data came, divided by what they were multiplied by.
    expect(output.metrics['loss:sum']).toBe(1);
  });

  it('neither fills up nor scales a cross entropy, whose mean no weight can scale', async () => {
    const data = dataOf(3);
    const { requests } = await sendStep({ data, loss: 'cross_entropy', traits: SKYRL });
    expect(requests.map((request) => request.data.length)).toEqual([3]);
  });

  it('leaves other servers as they were', async () => {
    const data = dataOf(5);
    const { requests } = await sendStep({ data, loss: 'importance_sampling', traits: SUMMING });
    expect(requests[0]?.data).toHaveLength(5);
    expectSame(
      await gradientOf(requests, SUMMING),
      await gradientOf([{ data, loss: 'importance_sampling' }], SUMMING),
    );
  });
});

describe('a step that does not fit into one request', () => {
  const cases = [
    ['by number', { fwdbwd_max_chunk_len: 16 }],
    ['by bytes', { fwdbwd_max_chunk_bytes_count: 16_000 }],
  ] as const;
  it.each(cases)(
    'is split %s before one optimizer step, with the same gradient for both reductions',
    async (_, limits) => {
      for (const traits of [SUMMING, SKYRL]) {
        const data = dataOf(70);
        const loss = 'importance_sampling';
        const whole = await sendStep({ data, loss, traits });
        const split = await sendStep({ data, loss, traits, limits });
        expect(whole.requests).toHaveLength(1);
        expect(split.requests.length).toBeGreaterThanOrEqual(4);
        expect(split.effects.filter((effect) => effect.startsWith('optim_step'))).toHaveLength(1);
        expect(split.effects.at(-1)).toMatch(/^optim_step/);
        if ('fwdbwd_max_chunk_bytes_count' in limits)
          expect(split.largest).toBeLessThan(limits.fwdbwd_max_chunk_bytes_count);
        expectSame(await gradientOf(split.requests, traits), await gradientOf(whole.requests, traits));
        expect(split.output.logprobs).toHaveLength(70);
      }
    },
  );
});
