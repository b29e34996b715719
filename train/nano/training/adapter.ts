import { type FloatTensor, type Safetensors, writeSafetensors } from '../../../src/base/safetensors.ts';
import { type AdamParams, EngineError, type LoraOptions } from '../engine.ts';
import { type DecoderWeights, projectionName, readEngineTensors } from '../model/decoder-weights.ts';
import { checkLoraOptions, type Lora, type LoraPiece, loraPieces, loraSize } from '../model/lora.ts';

/** An adapter in training. Its arrays are changed in place. */
export interface TrainedAdapter {
  readonly lora: Lora;
  /** The gradients accumulated since the last step. */
  readonly gathered: Float32Array;
  /** Adam's running means of the gradient and of its square. */
  readonly mean: Float32Array;
  readonly square: Float32Array;
  /** Steps taken. */
  steps: number;
  /** Incremented whenever the weights change. */
  version: number;
}

export const createAdapter = (lora: Lora): TrainedAdapter => {
  const zeros = (): Float32Array => new Float32Array(lora.values.length);
  return { lora, gathered: zeros(), mean: zeros(), square: zeros(), steps: 0, version: 0 };
};

const checkAdam = (adam: AdamParams): void => {
  const is = (name: keyof AdamParams, holds: boolean, what: string): void => {
    if (!holds) throw new EngineError(`${name} is ${adam[name]}; it must be ${what}`);
  };
  for (const name of ['learningRate', 'eps', 'weightDecay', 'gradClipNorm'] as const) {
    is(name, Number.isFinite(adam[name]) && adam[name] >= 0, 'a finite number of at least 0');
  }
  for (const name of ['beta1', 'beta2'] as const) {
    is(name, adam[name] >= 0 && adam[name] < 1, 'at least 0 and below 1');
  }
};

const l2Norm = (values: Float32Array): number => {
  let sum = 0;
  for (const value of values) sum += value * value;
  return Math.sqrt(sum);
};

/** One AdamW step with bias correction, along the gradient clipped by its norm. Resets `gathered`. */
export const stepAdapter = (adapter: TrainedAdapter, adam: AdamParams): Readonly<Record<string, number>> => {
  checkAdam(adam);
  const { gathered, mean, square } = adapter;
  const { values } = adapter.lora;
  const { learningRate, beta1, beta2, eps, weightDecay, gradClipNorm } = adam;
  const gradientNorm = l2Norm(gathered);
  const scale = gradClipNorm > 0 && gradientNorm > gradClipNorm ? gradClipNorm / gradientNorm : 1;
  const step = adapter.steps + 1;
  const meanShare = 1 - beta1 ** step;
  const squareShare = 1 - beta2 ** step;
  const next = new Float32Array(values.length);
  let moved = 0;
  for (let i = 0; i < values.length; i++) {
    const gradient = (gathered[i] ?? 0) * scale;
    const value = values[i] ?? 0;
    mean[i] = beta1 * (mean[i] ?? 0) + (1 - beta1) * gradient;
    square[i] = beta2 * (square[i] ?? 0) + (1 - beta2) * gradient * gradient;
    const direction = (mean[i] ?? 0) / meanShare / (Math.sqrt((square[i] ?? 0) / squareShare) + eps);
    // A parameter that never had a gradient gives 0 / 0 with eps 0; it must not change.
    const change = learningRate * ((Number.isNaN(direction) ? 0 : direction) + weightDecay * value);
    next[i] = value - change;
    moved += change * change;
  }
  values.set(next);
  gathered.fill(0);
  adapter.steps = step;
  adapter.version++;
  return {
    'grad_norm:mean': gradientNorm,
    'update_norm:mean': Math.sqrt(moved),
    'weight_norm:mean': l2Norm(values),
    'step:max': step,
  };
};

const FORMAT = 'nano-adapter-1';

/** PEFT's names, so that other tools can read the weights. */
const pieceName = ({ layer, projection }: LoraPiece, factor: 'A' | 'B'): string =>
  `base_model.model.${projectionName(layer, projection)}.lora_${factor}.weight`;

/** The optimizer's arrays, one tensor each. */
const STATE = ['gathered', 'mean', 'square'] as const;
const stateName = (part: (typeof STATE)[number]): string => `optimizer.${part}`;

/** An adapter as a safetensors file: its factors and, with the optimizer, its state and the accumulated gradients. */
export const writeAdapter = (
  adapter: TrainedAdapter,
  base: DecoderWeights,
  withOptimizer: boolean,
): Uint8Array => {
  const { options, values } = adapter.lora;
  const { rank } = options;
  const tensors = new Map<string, FloatTensor>();
  for (const piece of loraPieces(base.shape, options)) {
    const { a, b, inputs, outputs } = piece;
    tensors.set(pieceName(piece, 'A'), {
      shape: [rank, inputs],
      values: values.subarray(a, a + rank * inputs),
    });
    tensors.set(pieceName(piece, 'B'), {
      shape: [outputs, rank],
      values: values.subarray(b, b + rank * outputs),
    });
  }
  for (const part of withOptimizer ? STATE : []) {
    tensors.set(stateName(part), { shape: [values.length], values: adapter[part] });
  }
  const state = { steps: withOptimizer ? adapter.steps : 0, hasOptimizer: withOptimizer };
  return writeSafetensors(tensors, {
    format: FORMAT,
    base: base.hash,
    options: JSON.stringify(options),
    ...stateText(state),
  });
};

const stateText = ({ steps, hasOptimizer }: { readonly steps: number; readonly hasOptimizer: boolean }) => ({
  steps: String(steps),
  hasOptimizer: String(hasOptimizer),
});

const readOptions = (text: string | undefined): LoraOptions => {
  let options: unknown;
  try {
    options = JSON.parse(text ?? '');
  } catch (cause) {
    throw new EngineError('the options of the saved adapter are not JSON', { cause });
  }
  if (typeof options !== 'object' || options === null)
    throw new EngineError('the saved adapter has no options');
  const { rank, alpha, seed, attention, mlp } = options as Record<keyof LoraOptions, unknown>;
  const made = {
    rank: Number(rank),
    alpha: Number(alpha),
    seed: Number(seed),
    attention: attention === true,
    mlp: mlp === true,
  };
  checkLoraOptions(made);
  return made;
};

const takeTensor = ({ tensors }: Safetensors, name: string, count: number): Float32Array => {
  const values = tensors.get(name)?.values;
  if (values?.length !== count) {
    throw new EngineError(`the saved adapter has ${values?.length ?? 'no'} numbers in ${name}, not ${count}`);
  }
  if (!values.every(Number.isFinite)) throw new EngineError(`${name} holds a number that is not finite`);
  return values;
};

/** Throws an EngineError for bytes that are not an adapter of these weights. */
export const readAdapter = (
  bytes: Uint8Array,
  base: DecoderWeights,
  withOptimizer: boolean,
): TrainedAdapter => {
  const file = readEngineTensors(bytes);
  const { format, base: hash, options: text, steps: stepsText, hasOptimizer } = file.metadata;
  if (format !== FORMAT) throw new EngineError('the bytes are not a saved adapter of this engine');
  if (hash !== base.hash) throw new EngineError('the saved adapter was trained on other weights');
  if (withOptimizer && hasOptimizer !== 'true') {
    throw new EngineError('the adapter was saved without its optimizer; load it without');
  }
  const options = readOptions(text);
  const values = new Float32Array(loraSize(base.shape, options));
  for (const piece of loraPieces(base.shape, options)) {
    values.set(takeTensor(file, pieceName(piece, 'A'), options.rank * piece.inputs), piece.a);
    values.set(takeTensor(file, pieceName(piece, 'B'), options.rank * piece.outputs), piece.b);
  }
  const adapter = createAdapter({ options, values });
  if (!withOptimizer) return adapter;
  for (const part of STATE) adapter[part].set(takeTensor(file, stateName(part), values.length));
  const steps = Number(stepsText);
  if (!Number.isSafeInteger(steps) || steps < 0)
    throw new EngineError(`the saved adapter took ${stepsText} steps`);
  adapter.steps = steps;
  return adapter;
};
