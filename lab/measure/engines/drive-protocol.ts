import type { LossKind, TrainDatum } from '../../../src/core/training.ts';
import type { TinkerEngine } from '../../../train/tinker/tinker-engine.ts';
import type { TinkerModel } from '../../../train/tinker/tinker-model.ts';
import { assertHolds, type CheckReport } from './check-report.ts';

/** A fetch that loses responses: the request arrives, the response does not. */
interface LossyFetch {
  readonly fetch: typeof fetch;
  /** The next response of this route is lost. */
  lose(route: string): void;
  readonly lost: number;
}

export function createLossyFetch(): LossyFetch {
  const routes = new Set<string>();
  let lost = 0;
  return {
    get lost() {
      return lost;
    },
    lose: (route) => routes.add(route),
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      const route = String(url).replace(/^.*\/api\/v1\//, '');
      if (!routes.delete(route)) return response;
      await response.arrayBuffer();
      lost++;
      throw new TypeError('fetch failed', { cause: new Error('the response was lost') });
    },
  };
}

interface ProtocolOptions {
  readonly losses: readonly LossKind[];
  readonly steps: number;
  readonly rank: number;
  readonly rate: number;
  /** Data in one call, enough to be split into several requests. */
  readonly many: number;
  /** The server really trains: log-probabilities change in the right direction, and samples are drawn. */
  readonly learns: boolean;
  /** The fetch that the engine was connected with. */
  readonly way: LossyFetch;
}

const signal = new AbortController().signal;
const PROMPT = [5, 6, 7, 8, 9, 10, 11, 12];
const REQUEST = { prompt: PROMPT, count: 4, maxTokens: 12, temperature: 1, stop: [], seed: 3 };
const NO_PATH = 'tinker://00000000/weights/nothing';

/** Every call of the client, in the order of a run. */
export async function driveProtocol(
  engine: TinkerEngine,
  options: ProtocolOptions,
  report: CheckReport,
): Promise<void> {
  const { losses, steps, rank, rate, many, learns, way } = options;
  const { check, refused, say } = report;
  const adam = { learningRate: rate, gradClipNorm: 1 };
  const bare = await engine.openSampler(undefined);
  const sequences = await bare.sample(REQUEST, signal);
  await check('sample', async () => sequences.map(({ tokens, stop }) => `${tokens.length} ${stop}`));
  await check('sample, same seed', async () => {
    const again = await bare.sample(REQUEST, signal);
    assertHolds(JSON.stringify(again) === JSON.stringify(sequences), 'the tokens differ');
    return 'the same tokens';
  });
  const data = sequences.map(({ tokens, logprobs }, i) => datumOf(tokens, logprobs, i === 0 ? 1 : -1 / 3));

  // The first sample is the good one: from the weights that sampled it, every loss makes it likelier.
  let model = await engine.createModel({ rank, seed: 1 });
  for (const [i, loss] of losses.entries())
    await check(`${loss}, ${steps} steps`, async () => {
      if (i > 0) {
        await model.close();
        model = await engine.createModel({ rank, seed: 1 });
      }
      const input = { data: loss === 'cross_entropy' ? data.slice(0, 1) : data, loss };
      const before = (await score(model, data))[0] ?? Number.NaN;
      const values: string[] = [];
      for (let step = 0; step < steps; step++) {
        const given = model.forwardBackward(input, signal);
        const moved = model.optimStep(adam, signal);
        values.push((await given.done).metrics['loss:sum']?.toFixed(3) ?? 'no loss');
        await moved.done;
      }
      const after = (await score(model, data))[0] ?? Number.NaN;
      assertHolds(!learns || after > before, `log-probability ${before} -> ${after}`);
      return `loss ${values[0]} -> ${values.at(-1)}, log-probability ${before.toFixed(2)} -> ${after.toFixed(2)}`;
    });
  await check(`${many} data in one call`, async () => {
    const short = data.map((datum) => cut(datum, 4));
    const large = Array.from({ length: many }, (_, i) => short[i % short.length] ?? short[0]);
    const input = { data: large.flatMap((datum) => datum ?? []), loss: 'cross_entropy' as const };
    const given = model.forwardBackward(input, signal);
    const { logprobs } = await given.done;
    await model.optimStep({ ...adam, learningRate: 0 }, signal).done;
    return `${logprobs.length} answers to ${(await given.sent).length} requests`;
  });

  // Futures.
  const step = model.forwardBackward({ data, loss: 'importance_sampling' }, signal);
  const id = (await step.sent)[0]?.requestId ?? '';
  await step.done;
  await model.optimStep({ ...adam, learningRate: 0 }, signal).done;
  await check('future, polled again', async () => engine.lookUp(id, signal));
  await check('unknown future', async () => {
    const kind = await engine.lookUp('987654321', signal);
    assertHolds(kind === 'failed', kind);
    return kind;
  });

  // Lost responses: a step is applied once, or the client reports an unknown outcome. It never reports success for a step that was not applied.
  await check('lost answer of retrieve_future', () =>
    other(engine, rank, async (one) => {
      way.lose('retrieve_future');
      await stepOnce(one, data, adam);
      return `done, ${way.lost} lost`;
    }),
  );
  for (const route of ['forward_backward', 'optim_step'])
    await check(`lost answer of ${route}`, async () => {
      const calm = await other(engine, rank, (one) => twoSteps(one));
      return other(engine, rank, async (one) => {
        const done = await twoSteps(one, () => way.lose(route)).catch((error: Error) => error);
        if (done instanceof Error) return `reported: ${done.message}`;
        assertHolds(
          !learns || distance(done, calm) === 0,
          `differs by ${distance(done, calm)} from one done once`,
        );
        return 'done once';
      });
    });

  // Checkpoints.
  const name = `drive-${Date.now()}`;
  const learned = await score(model, data);
  let state = '';
  let sampler = '';
  await check('save_weights', async () => {
    state = await model.saveState(name);
    return state;
  });
  await check('save_weights_for_sampler', async () => {
    sampler = await model.saveForSampler(name);
    return sampler;
  });
  await answered('save_weights, name taken', () => model.saveState(name));
  const drawn = await draw(engine, sampler);
  await check('load_weights with optimiser', async () => {
    const loaded = await engine.openModel(state);
    const apart = distance(await score(loaded, data), learned);
    assertHolds(apart === 0, `differs by ${apart}`);
    await stepOnce(loaded, data, adam);
    const fromFile = await score(loaded, data);
    await loaded.close();
    await stepOnce(model, data, adam);
    const fromMemory = await score(model, data);
    assertHolds(
      !learns || distance(fromFile, fromMemory) === 0,
      `a step later they differ by ${distance(fromFile, fromMemory)}`,
    );
    return learns ? 'the same now, and after one more step of both' : 'the same';
  });
  await check('sample an older checkpoint', async () => {
    const before = await score(model, data);
    assertHolds((await draw(engine, sampler)) === drawn, 'it has changed');
    const apart = distance(await score(model, data), before);
    assertHolds(apart === 0, `the model in training has moved by ${apart}`);
    return 'as when it was saved; the model in training has not moved';
  });
  await model.close();
  await check('sample after unload_model', async () => {
    assertHolds((await draw(engine, sampler)) === drawn, 'it has changed');
    return 'as when it was saved';
  });

  // Requests that must be refused.
  await refused('missing checkpoint', () => engine.openModel(NO_PATH), /user|unknown/);
  await refused('invalid name', () => other(engine, rank, (one) => one.saveState('../x')), /user/);
  await refused('step after unload_model', () => model.optimStep(adam, signal).done, /user|unknown/);
  await check('a step afterwards', () =>
    other(engine, rank, async (one) => {
      await stepOnce(one, data, adam);
      return 'done';
    }),
  );
  await answered('rank 4096', () => other(engine, 4096, async () => 'accepted'));

  /** Two steps, so that the optimiser has momentum. */
  async function twoSteps(one: TinkerModel, before = (): void => undefined): Promise<readonly number[]> {
    await stepOnce(one, data, adam);
    before();
    await stepOnce(one, data, adam);
    return score(one, data);
  }

  /** Servers may accept or refuse it. */
  async function answered(what: string, call: () => Promise<string>): Promise<void> {
    say(what, await call().catch((error: Error) => `refused: ${error.message}`));
  }

  function datumOf(tokens: readonly number[], logprobs: readonly number[], advantage: number): TrainDatum {
    const full = [...PROMPT, ...tokens];
    const blank = PROMPT.slice(1).map(() => 0);
    return {
      tokens: full.slice(0, -1),
      targets: full.slice(1),
      weights: [...blank, ...tokens.map(() => 1)],
      advantages: [...blank, ...tokens.map(() => advantage)],
      logprobs: [...blank, ...logprobs],
    };
  }
}

function cut(datum: TrainDatum, length: number): TrainDatum {
  const { tokens, targets } = datum;
  return {
    tokens: tokens.slice(0, length),
    targets: targets.slice(0, length),
    weights: targets.slice(0, length).map(() => 1),
  };
}

/** The log-probability of each sample. */
async function score(model: TinkerModel, data: readonly TrainDatum[]): Promise<readonly number[]> {
  const { logprobs } = await model.forward({ data, loss: 'cross_entropy' }, signal);
  return logprobs.map((row, i) => row.reduce((sum, p, t) => sum + p * (data[i]?.weights[t] ?? 0), 0));
}

async function stepOnce(model: TinkerModel, data: readonly TrainDatum[], adam: { learningRate: number }) {
  const given = model.forwardBackward({ data, loss: 'importance_sampling' }, signal);
  const moved = model.optimStep(adam, signal);
  for (const one of await Promise.allSettled([given.done, moved.done]))
    if (one.status === 'rejected') throw one.reason;
}

async function draw(engine: TinkerEngine, path: string): Promise<string> {
  const sampler = await engine.openSampler(path);
  const sequences = await sampler.sample(REQUEST, signal);
  await sampler.close();
  return JSON.stringify(sequences);
}

async function other<T>(engine: TinkerEngine, rank: number, use: (model: TinkerModel) => Promise<T>) {
  const model = await engine.createModel({ rank, seed: 1 });
  try {
    return await use(model);
  } finally {
    await model.close();
  }
}

const distance = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((one, i) => Math.abs(one - (b[i] ?? Number.NaN))));
