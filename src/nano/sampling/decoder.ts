import { applyLinear, lookUp } from '../model/forward.ts';
import { FLOAT, type Machine } from '../model/machine.ts';
import type { Model } from '../model/model.ts';
import type { KeyValues } from './key-values.ts';

/** Computes one more token for each of the given sequences, all at the same position. */
export interface Decoder {
  /** The address of the final hidden states, a row for each token. */
  step(tokens: Int32Array, sequences: readonly number[], position: number): number;
}

/** Allocates from the machine's arena, for up to `most` sequences. */
export const createDecoder = (
  machine: Machine,
  model: Model,
  keyValues: KeyValues,
  most: number,
): Decoder => {
  const { arena, kernels, shape, head, eps, turns } = machine;
  const { width, heads, inner } = shape;
  const take = (columns: number): number => arena.take(most * columns * FLOAT);
  const [x, factors, normed, qkv] = [take(width), take(1), take(width), take(3 * width)];
  const [mixed, wide, act] = [take(width), take(2 * inner), take(inner)];
  return {
    step(tokens, sequences, position) {
      const rows = tokens.length;
      lookUp(machine, model, tokens, x);
      model.layers.forEach((layer, index) => {
        kernels.norm(x, layer.attentionNorm, normed, factors, eps, rows, width);
        applyLinear(machine, layer.attention, normed, qkv, rows);
        kernels.rotate(qkv, 3 * width * FLOAT, turns + position * head * FLOAT, 0, rows, 2 * heads, head / 2);
        keyValues.append(index, qkv, sequences);
        keyValues.attend(index, qkv, mixed, sequences);
        applyLinear(machine, layer.attentionOut, mixed, x, rows, 1);
        kernels.norm(x, layer.mlpNorm, normed, factors, eps, rows, width);
        applyLinear(machine, layer.wide, normed, wide, rows);
        kernels.gate(wide, act, rows, inner);
        applyLinear(machine, layer.down, act, x, rows, 1);
      });
      keyValues.advance();
      kernels.norm(x, model.norm, normed, factors, eps, rows, width);
      return normed;
    },
  };
};
