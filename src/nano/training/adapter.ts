import { type AdamParams, EngineError } from '../engine.ts';
import type { Lora } from '../model/lora.ts';

/** An adapter in training. Its arrays are changed in place. */
export interface Adapter {
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

export const createAdapter = (lora: Lora): Adapter => {
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

const norm = (values: Float32Array): number => {
  let sum = 0;
  for (const value of values) sum += value * value;
  return Math.sqrt(sum);
};

/** One AdamW step with bias correction, along the gradient clipped by its norm. Resets `gathered`. */
export const stepAdapter = (adapter: Adapter, adam: AdamParams): Readonly<Record<string, number>> => {
  checkAdam(adam);
  const { gathered, mean, square } = adapter;
  const { values } = adapter.lora;
  const { learningRate, beta1, beta2, eps, weightDecay, gradClipNorm } = adam;
  const gradientNorm = norm(gathered);
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
    'weight_norm:mean': norm(values),
    'step:max': step,
  };
};
