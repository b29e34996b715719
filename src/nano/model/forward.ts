import { PANEL } from '../kernels/matmul-kernel.ts';
import type { Attention } from './attention.ts';
import { FLOAT, type Machine } from './machine.ts';
import type { Linear, Model } from './model.ts';
import type { Rows, Segment } from './segments.ts';

/** The activations of a layer that its gradient needs: addresses of one row per token. */
export interface LayerTape {
  readonly x: number;
  readonly attentionFactors: number;
  readonly attentionIn: number;
  readonly qkv: number;
  readonly mixed: number;
  readonly middle: number;
  readonly mlpFactors: number;
  readonly mlpIn: number;
  readonly wide: number;
  readonly act: number;
}

export interface Tape {
  readonly rows: number;
  readonly segments: readonly Segment[];
  readonly layers: readonly LayerTape[];
  readonly x: number;
  readonly factors: number;
  /** The final hidden states, from which the logits are computed. */
  readonly hidden: number;
}

/** y = x·Wᵀ, or y += x·Wᵀ. */
export const applyLinear = (
  { kernels }: Machine,
  { inputs, outputs, forward }: Linear,
  x: number,
  y: number,
  rows: number,
  isAdded = 0,
): void => {
  const steps = [inputs * FLOAT, forward, inputs * PANEL * FLOAT, y, outputs * FLOAT] as const;
  kernels.matmul(x, ...steps, rows, inputs, outputs, isAdded);
};

/** Copies the embeddings of these tokens. */
export const lookUp = (
  { arena, shape: { width } }: Machine,
  model: Model,
  tokens: Int32Array,
  to: number,
): void => {
  const bytes = arena.bytes(0, arena.memory.buffer.byteLength);
  const step = width * FLOAT;
  tokens.forEach((token, row) => {
    bytes.copyWithin(to + row * step, model.embedding + token * step, model.embedding + (token + 1) * step);
  });
};

/** Runs the model over all rows. Allocates from the machine's arena: the tape is valid until that is rewound. */
export const runForward = (machine: Machine, model: Model, attention: Attention, rows: Rows): Tape => {
  const { arena, kernels, shape, head, eps, turns } = machine;
  const { width, heads, inner } = shape;
  const count = rows.tokens.length;
  const take = (columns: number): number => arena.take(count * columns * FLOAT);
  const layers = model.layers.map(() => ({
    x: take(width),
    attentionFactors: take(1),
    attentionIn: take(width),
    qkv: take(3 * width),
    mixed: take(width),
    middle: take(width),
    mlpFactors: take(1),
    mlpIn: take(width),
    wide: take(2 * inner),
    act: take(inner),
  }));
  const last = { x: take(width), factors: take(1), hidden: take(width) };
  const bytes = arena.bytes(0, arena.memory.buffer.byteLength);
  const copy = (from: number, to: number): void => {
    bytes.copyWithin(to, from, from + count * width * FLOAT);
  };

  lookUp(machine, model, rows.tokens, layers[0]?.x ?? last.x);
  model.layers.forEach((layer, index) => {
    const tape = layers[index];
    if (tape === undefined) return;
    kernels.norm(tape.x, layer.attentionNorm, tape.attentionIn, tape.attentionFactors, eps, count, width);
    applyLinear(machine, layer.attention, tape.attentionIn, tape.qkv, count);
    for (const { start, length, position } of rows.segments) {
      const [at, table] = [tape.qkv + start * 3 * width * FLOAT, turns + position * head * FLOAT];
      kernels.rotate(at, 3 * width * FLOAT, table, head * FLOAT, length, 2 * heads, head / 2);
    }
    attention.forward(tape.qkv, tape.mixed, rows.segments);
    copy(tape.x, tape.middle);
    applyLinear(machine, layer.attentionOut, tape.mixed, tape.middle, count, 1);
    kernels.norm(tape.middle, layer.mlpNorm, tape.mlpIn, tape.mlpFactors, eps, count, width);
    applyLinear(machine, layer.wide, tape.mlpIn, tape.wide, count);
    kernels.gate(tape.wide, tape.act, count, inner);
    const next = layers[index + 1]?.x ?? last.x;
    copy(tape.middle, next);
    applyLinear(machine, layer.down, tape.act, next, count, 1);
  });
  kernels.norm(last.x, model.norm, last.hidden, last.factors, eps, count, width);
  return { rows: count, segments: rows.segments, layers, ...last };
};
