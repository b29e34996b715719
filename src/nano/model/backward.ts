import { PANEL } from '../kernels/matmul-kernel.ts';
import type { Attention } from './attention.ts';
import type { Tape } from './forward.ts';
import type { LoraGradient } from './lora-gradient.ts';
import { FLOAT, type Machine } from './machine.ts';
import type { Linear, Model } from './model.ts';

/**
 * Backpropagates `dHidden`, the gradient of the hidden states, down to the first layer, and accumulates the gradient of each
 * matrix's LoRA factors. Allocates from the machine's arena.
 */
export const runBackward = (
  machine: Machine,
  model: Model,
  attention: Attention,
  gradient: LoraGradient,
  tape: Tape,
  dHidden: number,
): void => {
  const { arena, kernels, shape, head, returns } = machine;
  const { width, heads, inner } = shape;
  const { rows } = tape;
  const take = (columns: number): number => arena.take(rows * columns * FLOAT);
  const [dx, dIn, dMixed, dQkv, dAct, dWide] = [
    take(width),
    take(width),
    take(width),
    take(3 * width),
    take(inner),
    take(2 * inner),
  ];
  /** dx = dy·W. */
  const applyBack = ({ inputs, outputs, backward }: Linear, dy: number, to: number): void => {
    const steps = [outputs * FLOAT, backward, outputs * PANEL * FLOAT, to, inputs * FLOAT] as const;
    kernels.matmul(dy, ...steps, rows, outputs, inputs, 0);
  };

  arena.floats(dx, rows * width).fill(0);
  kernels.normBack(tape.x, model.norm, tape.factors, dHidden, dx, rows, width);
  for (let index = model.layers.length - 1; index >= 0; index--) {
    const [layer, saved] = [model.layers[index], tape.layers[index]];
    if (layer === undefined || saved === undefined) continue;
    gradient.gather(index, ['down'], saved.act, dx, rows);
    applyBack(layer.down, dx, dAct);
    kernels.gateBack(saved.wide, dAct, dWide, rows, inner);
    gradient.gather(index, ['gate', 'up'], saved.mlpIn, dWide, rows);
    applyBack(layer.wide, dWide, dIn);
    kernels.normBack(saved.middle, layer.mlpNorm, saved.mlpFactors, dIn, dx, rows, width);

    gradient.gather(index, ['o'], saved.mixed, dx, rows);
    applyBack(layer.attentionOut, dx, dMixed);
    arena.floats(dQkv, rows * 3 * width).fill(0);
    attention.backward(saved.qkv, dMixed, dQkv, tape.segments);
    for (const { start, length, position } of tape.segments) {
      const [at, table] = [dQkv + start * 3 * width * FLOAT, returns + position * head * FLOAT];
      kernels.rotate(at, 3 * width * FLOAT, table, head * FLOAT, length, 2 * heads, head / 2);
    }
    gradient.gather(index, ['q', 'k', 'v'], saved.attentionIn, dQkv, rows);
    // Nothing below the first layer is trained.
    if (index === 0) return;
    applyBack(layer.attention, dQkv, dIn);
    kernels.normBack(saved.x, layer.attentionNorm, saved.attentionFactors, dIn, dx, rows, width);
  }
};
