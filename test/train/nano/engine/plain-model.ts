import { readSafetensors } from '../../../../src/base/safetensors.ts';
import type { TrainBatch } from '../../../../train/nano/engine.ts';
import type { ModelShape } from '../../../../train/nano/model/decoder-weights.ts';
import {
  type Projection,
  projectionName,
  projectionSize,
} from '../../../../train/nano/model/decoder-weights.ts';

/**
 * The model once more, in plain loops over double-precision numbers and straight from its definition: no kernels, no
 * sharing, the adapter applied beside each matrix. What the engine is held against.
 */
export interface PlainModel {
  /** All numbers of the adapter, by tensor name; a test may change them. */
  readonly lora: Map<string, Float64Array>;
  /** logprobs[i] of targets[i] after tokens[0..i]. */
  logprobs(tokens: Int32Array, targets: Int32Array): number[];
}

type Row = number[];
const dot = (a: Row, b: ArrayLike<number>, start: number): number =>
  a.reduce((sum, value, i) => sum + value * (b[start + i] ?? 0), 0);
const add = (a: Row, b: Row): Row => a.map((value, i) => value + (b[i] ?? 0));

export const createPlainModel = (
  weights: Uint8Array,
  shape: ModelShape,
  adapter?: Uint8Array,
): PlainModel => {
  const { tensors } = readSafetensors(weights);
  const base = (name: string): ArrayLike<number> => tensors.get(name)?.values ?? [];
  const saved = adapter === undefined ? undefined : readSafetensors(adapter);
  const lora = new Map<string, Float64Array>();
  for (const [name, { values }] of saved?.tensors ?? []) {
    if (name.includes('.lora_')) lora.set(name.replace('base_model.model.', ''), Float64Array.from(values));
  }
  const { rank = 1, alpha = 0 } = JSON.parse(saved?.metadata.options ?? '{}') as {
    rank?: number;
    alpha?: number;
  };

  const multiply = (x: Row, matrix: ArrayLike<number>, outputs: number): Row =>
    Array.from({ length: outputs }, (_, n) => dot(x, matrix, n * x.length));
  const project = (layer: number, projection: Projection, x: Row): Row => {
    const name = projectionName(layer, projection);
    const { outputs } = projectionSize(shape, projection);
    const y = multiply(x, base(`${name}.weight`), outputs);
    const [a, b] = [lora.get(`${name}.lora_A.weight`), lora.get(`${name}.lora_B.weight`)];
    if (a === undefined || b === undefined) return y;
    const change = multiply(multiply(x, a, rank), b, outputs);
    return y.map((value, i) => value + (alpha / rank) * (change[i] ?? 0));
  };
  const norm = (x: Row, name: string): Row => {
    const gain = base(name);
    const factor = 1 / Math.sqrt(dot(x, x, 0) / x.length + shape.normEps);
    return x.map((value, i) => value * factor * (gain[i] ?? 0));
  };
  const head = shape.width / shape.heads;
  const turn = (x: Row, position: number): Row =>
    x.map((value, i) => {
      const [d, half] = [i % head, head / 2];
      const angle = position * shape.ropeBase ** ((-2 * (d % half)) / head);
      const other = d < half ? -(x[i + half] ?? 0) : (x[i - half] ?? 0);
      return value * Math.cos(angle) + other * Math.sin(angle);
    });
  /** How much of each earlier row a row takes, in the head that begins at this column. */
  const sharesOf = (query: Row, keys: Row[], first: number): Row => {
    const part = query.slice(first, first + head);
    const scores = keys.map((key) => dot(part, key, first) / Math.sqrt(head));
    const raised = scores.map((score) => Math.exp(score - Math.max(...scores)));
    const total = raised.reduce((sum, value) => sum + value);
    return raised.map((value) => value / total);
  };
  const attend = (queries: Row[], keys: Row[], values: Row[]): Row[] =>
    queries.map((query, at) => {
      const shares = Array.from({ length: shape.heads }, (_, h) =>
        sharesOf(query, keys.slice(0, at + 1), h * head),
      );
      return query.map((_, column) =>
        (shares[Math.floor(column / head)] ?? []).reduce(
          (sum, share, i) => sum + share * (values[i]?.[column] ?? 0),
          0,
        ),
      );
    });

  return {
    lora,
    logprobs(tokens, targets) {
      const embedding = base('model.embed_tokens.weight');
      let states = Array.from(
        tokens,
        (token): Row =>
          Array.from({ length: shape.width }, (_, i) => embedding[token * shape.width + i] ?? 0),
      );
      for (let layer = 0; layer < shape.layers; layer++) {
        const normed = states.map((x) => norm(x, `model.layers.${layer}.input_layernorm.weight`));
        const mixed = attend(
          normed.map((x, position) => turn(project(layer, 'q', x), position)),
          normed.map((x, position) => turn(project(layer, 'k', x), position)),
          normed.map((x) => project(layer, 'v', x)),
        );
        states = states.map((x, i) => add(x, project(layer, 'o', mixed[i] ?? [])));
        states = states.map((x) => {
          const inner = norm(x, `model.layers.${layer}.post_attention_layernorm.weight`);
          const up = project(layer, 'up', inner);
          const act = project(layer, 'gate', inner).map((g, i) => (g / (1 + Math.exp(-g))) * (up[i] ?? 0));
          return add(x, project(layer, 'down', act));
        });
      }
      return states.map((x, i) => {
        const logits = multiply(norm(x, 'model.norm.weight'), embedding, shape.vocabulary);
        const most = Math.max(...logits);
        const whole = most + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - most), 0));
        return (logits[targets[i] ?? 0] ?? 0) - whole;
      });
    },
  };
};

/** The losses as their authors write them down. `held`: log-probabilities that cispo takes its clipped ratio from, unmoved. */
export const plainLoss = (
  model: PlainModel,
  { loss, clip, data }: TrainBatch,
  held?: readonly number[][],
): number => {
  const [low, high] = [clip?.low ?? 0.8, clip?.high ?? 1.2];
  let sum = 0;
  data.forEach(({ tokens, targets, weights, advantages, logprobs }, index) => {
    model.logprobs(tokens, targets).forEach((p, i) => {
      const [w, a, q] = [weights?.[i] ?? 1, advantages?.[i] ?? 0, logprobs?.[i] ?? 0];
      const r = Math.exp(p - q);
      const clipped = Math.min(Math.max(r, low), high);
      if (loss === 'cross_entropy') sum -= p * w;
      if (loss === 'importance_sampling') sum -= w * r * a;
      if (loss === 'ppo') sum -= w * Math.min(r * a, clipped * a);
      const heldRatio = Math.exp((held?.[index]?.[i] ?? p) - q);
      if (loss === 'cispo') sum -= w * Math.min(Math.max(heldRatio, low), high) * p * a;
    });
  });
  return sum;
};
