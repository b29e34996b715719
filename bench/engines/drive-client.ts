import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

interface Datum {
  readonly tokens: readonly number[];
  readonly targets: readonly number[];
  readonly weights: readonly number[];
  readonly advantages: readonly number[];
  readonly logprobs: readonly number[];
}
interface StepInput {
  readonly data: readonly Datum[];
  readonly loss: string;
}
interface StepOutput {
  readonly logprobs: readonly (readonly number[])[];
  readonly metrics: Readonly<Record<string, number>>;
}
interface Model {
  forward(input: StepInput, signal: AbortSignal): Promise<StepOutput>;
  forwardBackward(input: StepInput, signal: AbortSignal): { readonly done: Promise<StepOutput> };
  optimStep(adam: object, signal: AbortSignal): { readonly done: Promise<object> };
  saveState(name: string): Promise<string>;
  saveForSampler(name: string): Promise<string>;
  close(): Promise<void>;
}
interface Sequence {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly stop: string;
}
interface Engine {
  readonly profile: { readonly learningRate: number };
  readonly selfTest: object | undefined;
  createModel(options: object): Promise<Model>;
  openModel(path: string): Promise<Model>;
  openSampler(
    path: string | undefined,
  ): Promise<{ sample(request: object, signal: AbortSignal): Promise<readonly Sequence[]> }>;
  close(): Promise<void>;
}

/** What was built: a bench stands outside of the package. */
const built = async <T>(file: string): Promise<T> =>
  import(pathToFileURL(`dist/${file}.js`).href) as Promise<T>;
const { systemClock } = await built<{ systemClock: object }>('core/clock');
const { createRandom } = await built<{ createRandom(seed: string): object }>('stats/random');
const { connectTinker } = await built<{ connectTinker(options: object): Promise<Engine> }>(
  'train/tinker/connect-tinker',
);

/**
 * Drives our client against a server that is already running: connect, self-test, a few steps of each loss that the
 * profile has, sample, save, load, and the same log-probabilities from the model that was loaded.
 */
const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8000' },
    key: { type: 'string' },
    model: { type: 'string', default: '' },
    profile: { type: 'string', default: 'generic' },
    losses: { type: 'string', default: 'cross_entropy,importance_sampling,ppo,cispo' },
    steps: { type: 'string', default: '5' },
    rate: { type: 'string' },
    rank: { type: 'string', default: '8' },
    'no-self-test': { type: 'boolean', default: false },
  },
});

const signal = new AbortController().signal;
const say = (name: string, value: unknown): void => {
  process.stdout.write(`${name.padEnd(22)} ${typeof value === 'string' ? value : JSON.stringify(value)}\n`);
};
const losses = values.losses.split(',');
const started = performance.now();

const engine = await connectTinker({
  url: values.url,
  ...(values.key === undefined ? {} : { key: values.key }),
  baseModel: values.model,
  profile: values.profile,
  losses,
  ...(values['no-self-test'] ? { selfTest: false } : {}),
  fetch,
  clock: systemClock,
  random: createRandom(`drive/${Date.now()}`),
  log: (line: string) => say('log', line),
});
say('profile', engine.profile);
say('self-test', engine.selfTest ?? 'not run');

const prompt = [5, 6, 7, 8, 9, 10, 11, 12];
const model = await engine.createModel({ rank: Number(values.rank), seed: 1 });
const base = await engine.openSampler(undefined);
const sequences = await base.sample(
  { prompt, count: 4, maxTokens: 12, temperature: 1, stop: [], seed: 3 },
  signal,
);
say(
  'sampled',
  sequences.map(({ tokens, stop }) => `${tokens.length} ${stop}`),
);

const data = sequences.map(({ tokens, logprobs }, i): Datum => {
  const full = [...prompt, ...tokens];
  const blank = prompt.slice(1).map(() => 0);
  return {
    tokens: full.slice(0, -1),
    targets: full.slice(1),
    weights: [...blank, ...tokens.map(() => 1)],
    // The first sample is the good one.
    advantages: [...blank, ...tokens.map(() => (i === 0 ? 1 : -1 / 3))],
    logprobs: [...blank, ...logprobs],
  };
});
const learningRate = Number(values.rate ?? engine.profile.learningRate);
const score = async (of: typeof model): Promise<number[]> => {
  const { logprobs } = await of.forward({ data, loss: 'cross_entropy' }, signal);
  return logprobs.map((row, i) => row.reduce((sum, p, t) => sum + p * (data[i]?.weights[t] ?? 0), 0));
};
say(
  'log-probs before',
  (await score(model)).map((sum) => sum.toFixed(3)),
);
for (const loss of losses) {
  const input: StepInput = { data: loss === 'cross_entropy' ? data.slice(0, 1) : data, loss };
  for (let step = 0; step < Number(values.steps); step++) {
    const given = model.forwardBackward(input, signal);
    const moved = model.optimStep({ learningRate, gradClipNorm: 1 }, signal);
    const { metrics } = await given.done;
    await moved.done;
    if (step === 0 || step === Number(values.steps) - 1) say(`${loss} ${step}`, metrics);
  }
}
const learned = await score(model);
say(
  'log-probs after',
  learned.map((sum) => sum.toFixed(3)),
);

const state = await model.saveState(`state-${Date.now()}`);
const sampler = await engine.openSampler(await model.saveForSampler(`sampler-${Date.now()}`));
say(
  'sampled after',
  (await sampler.sample({ prompt, count: 1, maxTokens: 8, temperature: 1, stop: [], seed: 3 }, signal))[0]
    ?.tokens ?? [],
);
const loaded = await engine.openModel(state);
const apart = (await score(loaded)).map((sum, i) => Math.abs(sum - (learned[i] ?? Number.NaN)));
say('loaded differs by', Math.max(...apart));
await loaded.close();
await model.close();
await engine.close();
say('seconds', ((performance.now() - started) / 1000).toFixed(1));
