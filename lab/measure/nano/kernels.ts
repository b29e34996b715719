import { type FloatTensor, writeSafetensors } from '../../../src/base/safetensors.ts';
import { createArena } from '../../../src/base/wasm/arena.ts';
import { createEngine } from '../../../train/nano/create-engine.ts';
import type { Datum } from '../../../train/nano/engine.ts';
import { createNanoKernels } from '../../../train/nano/kernels/nano-kernels.ts';
import {
  type ModelShape,
  NANO_SHAPE,
  PROJECTIONS,
  projectionName,
  projectionSize,
} from '../../../train/nano/model/decoder-weights.ts';
import { createRandomStream } from '../../../train/nano/random-stream.ts';

/*
 * The cost of the embedded engine's mathematics, for the shipped shape, a smaller and a deeper one with random weights: processor time, so that other work on the
 * machine does not count; best and median of several rounds. `npm run bench:kernels`
 */
/** 0.41 million parameters, to compare with. */
const SMALL_SHAPE: ModelShape = {
  ...NANO_SHAPE,
  ...{ vocabulary: 768, width: 96, layers: 3, heads: 3, inner: 256, contextLength: 768 },
};
/** 2.95 million parameters: what pretrain.py trains unless it is told otherwise. */
const DEEPER_SHAPE: ModelShape = { ...NANO_SHAPE, width: 160, layers: 8, heads: 5 };
const PROMPT = 208;
const ANSWER = 112;
const GROUP = 8;
const LORA = { rank: 8, alpha: 8, seed: 1, attention: true, mlp: true };
const ADAM = { learningRate: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, gradClipNorm: 1 };

const random = createRandomStream(1, 0);
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const tokens = (count: number): number[] =>
  Array.from({ length: count }, () => Math.floor(random() * SMALL_SHAPE.vocabulary));

const weights = (of: ModelShape): Uint8Array => {
  const tensors = new Map<string, FloatTensor>();
  const put = (name: string, middle: number, spread: number, ...shape: readonly number[]): void => {
    const count = shape.reduce((product, side) => product * side);
    const values = Float32Array.from({ length: count }, () => middle + (2 * random() - 1) * spread);
    tensors.set(name, { shape, values });
  };
  put('model.embed_tokens.weight', 0, 0.5, of.vocabulary, of.width);
  put('model.norm.weight', 1, 0, of.width);
  for (let layer = 0; layer < of.layers; layer++) {
    put(`model.layers.${layer}.input_layernorm.weight`, 1, 0, of.width);
    put(`model.layers.${layer}.post_attention_layernorm.weight`, 1, 0, of.width);
    for (const projection of PROJECTIONS) {
      const { inputs, outputs } = projectionSize(of, projection);
      put(`${projectionName(layer, projection)}.weight`, 0, 0.2, outputs, inputs);
    }
  }
  return writeSafetensors(tensors, {});
};

const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Milliseconds of each round, the shortest first. */
const rounds = async (count: number, work: () => unknown): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let round = 0; round < count; round++) {
    const start = processorTime();
    await work();
    times.push(processorTime() - start);
  }
  return times.sort((a, b) => a - b);
};
const text = (times: readonly number[], per = 1): string =>
  `best ${((times[0] ?? 0) / per).toFixed(2)} ms, median ${((times[times.length >> 1] ?? 0) / per).toFixed(2)} ms`;

const measureMatmul = async (): Promise<void> => {
  const arena = createArena();
  const kernels = createNanoKernels(arena.memory);
  const rows = PROMPT + GROUP * ANSWER;
  const shapes = [
    [rows, 192, 576, 'query, key, value'],
    [rows, 192, 1024, 'gate, up'],
    [rows, 512, 192, 'down'],
    [64, 192, 1024, 'logits'],
    [32, 32, 320, 'scores of a block'],
    [GROUP, 192, 1024, 'gate, up of eight tokens'],
    [1, 192, 1024, 'gate, up of one token'],
  ] as const;
  for (const [m, inputs, outputs, what] of shapes) {
    const [x, w, out] = [m * inputs, inputs * outputs, m * outputs].map((count) => arena.take(count * 4));
    const work = 2 * m * inputs * outputs;
    const repeat = Math.ceil(1e8 / work);
    const times = await rounds(9, () => {
      for (let i = 0; i < repeat; i++) {
        kernels.matmul(x ?? 0, inputs * 4, w ?? 0, inputs * 32, out ?? 0, outputs * 4, m, inputs, outputs, 0);
      }
    });
    const speed = (time = 1): string => ((work * repeat) / time / 1e6).toFixed(1);
    say(
      `matmul ${m} x ${inputs} x ${outputs} (${what}): best ${speed(times[0])} GFLOP/s, median ${speed(times[4])}`,
    );
  }
};

const group = (): readonly Datum[] => {
  const prompt = tokens(PROMPT);
  return Array.from({ length: GROUP }, () => {
    const full = Int32Array.from([...prompt, ...tokens(ANSWER + 1)]);
    const length = full.length - 1;
    return {
      tokens: full.slice(0, -1),
      targets: full.slice(1),
      advantages: Float32Array.from({ length }, (_, i) => (i < PROMPT - 1 ? 0 : random() - 0.5)),
      logprobs: new Float32Array(length).fill(-Math.log(SMALL_SHAPE.vocabulary)),
    };
  });
};

const megabytes = (): string => `${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MB`;

const measureEngine = async (shape: ModelShape): Promise<void> => {
  say(`width ${shape.width}, ${shape.layers} layers; before the engine: RSS ${megabytes()}`);
  const engine = createEngine({ weights: weights(shape), shape, name: 'bench' });
  const adapter = await engine.createAdapter(LORA);
  const batch = { loss: 'importance_sampling', data: group() } as const;
  say(`forward, group of 8: ${text(await rounds(15, () => engine.forward(adapter, batch)))}`);
  say(
    `forward and backward, group of 8: ${text(await rounds(15, () => engine.forwardBackward(adapter, batch)))}`,
  );
  say(`step of Adam: ${text(await rounds(15, () => engine.optimStep(adapter, ADAM)))}`);
  const signal = new AbortController().signal;
  const copy = await engine.freeze(adapter);
  const request = {
    prompt: Int32Array.from(tokens(PROMPT)),
    temperature: 1,
    topK: -1,
    topP: 1,
    seed: 1,
    stop: [],
  };
  const sample = (count: number, maxTokens: number) => () =>
    engine.sample(copy, { ...request, count, maxTokens }, signal);
  const prefill = await rounds(15, sample(1, 1));
  say(`prompt of ${PROMPT} tokens: ${text(prefill)}`);
  for (const count of [1, GROUP]) {
    const times = (await rounds(9, sample(count, ANSWER + 1))).map((time) => time - (prefill[7] ?? 0));
    say(
      `sampling ${count} at a time, per token: ${text(times, count * ANSWER)}; per step ${text(times, ANSWER)}`,
    );
  }
  let highest = 0;
  for (let step = 0; step < 30; step++) {
    for (let prompt = 0; prompt < 4; prompt++) {
      const data = group();
      await engine.sample(adapter, { ...request, count: GROUP, maxTokens: ANSWER }, signal);
      await engine.forwardBackward(adapter, { loss: 'importance_sampling', data });
    }
    await engine.optimStep(adapter, ADAM);
    highest = Math.max(highest, process.memoryUsage.rss());
  }
  say(`30 steps of 4 prompts x 8 rollouts: highest RSS ${(highest / 2 ** 20).toFixed(0)} MB`);
  await engine.close();
};

await measureMatmul();
for (const shape of [SMALL_SHAPE, NANO_SHAPE, DEEPER_SHAPE]) await measureEngine(shape);
