import type { LoraOptions } from '../engine.ts';
import { PANEL_COLUMNS } from '../kernels/matmul-kernels.ts';
import type { Attention } from './attention.ts';
import { type Projection, projectionSize } from './decoder-weights.ts';
import type { Tape } from './forward.ts';
import type { BoundPiece, LoadedModel, PackedLinear } from './loaded-model.ts';
import { FLOAT, type Machine, padded } from './machine.ts';

/**
 * The gradient of an adapter's factors. With y = x·(W + s·B·A)ᵀ the gradient of W is not needed: dA = (dy·sB)ᵀ·x and
 * dB = s·dyᵀ·(x·Aᵀ).
 */
export interface LoraGradient {
  /** Accumulates the gradient of projections that share their input. */
  gather(layer: number, projections: readonly Projection[], at: GradientRows): void;
  /** The accumulated gradient, in the layout of the adapter's weights. */
  read(): Float32Array;
}

/** Addresses of the input rows of projections, and of the gradient of their outputs, which are side by side. */
interface GradientRows {
  readonly x: number;
  readonly dy: number;
  readonly rows: number;
}

/** Rows processed at a time, so that they are still in the L1 cache when they are used again. */
const CHUNK = 64;

/** Allocates from the machine's arena; valid until that is rewound. */
export const createLoraGradient = (
  machine: Machine,
  bound: readonly BoundPiece[],
  options: LoraOptions,
): LoraGradient => {
  const { arena, kernels, shape } = machine;
  const rank = padded(options.rank);
  const rankStep = rank * FLOAT;
  const zeros = (count: number): number => {
    const address = arena.take(count * FLOAT);
    arena.floats(address, count).fill(0);
    return address;
  };
  const pieces = bound.map((each) => ({
    ...each,
    dA: zeros(rank * each.piece.inputs),
    /** Transposed, [rank][outputs], since the rank is the short side. */
    dB: zeros(rank * each.piece.outputs),
  }));
  const [inward, backward] = [arena.take(CHUNK * rankStep), arena.take(CHUNK * rankStep)];

  return {
    gather(layer, projections, { x, dy, rows }) {
      const outputsOf = (projection: Projection): number => projectionSize(shape, projection).outputs;
      const dyStep = projections.reduce((sum, projection) => sum + outputsOf(projection), 0) * FLOAT;
      projections.forEach((projection, index) => {
        const factors = pieces.find(({ piece }) => piece.layer === layer && piece.projection === projection);
        if (factors === undefined) return;
        const { inputs, outputs } = factors.piece;
        const xStep = inputs * FLOAT;
        for (let first = 0; first < rows; first += CHUNK) {
          const count = Math.min(CHUNK, rows - first);
          const from = x + first * xStep;
          const back = dy + first * dyStep + index * outputs * FLOAT;
          kernels.matmul(
            from,
            xStep,
            factors.a,
            inputs * PANEL_COLUMNS * FLOAT,
            inward,
            rankStep,
            count,
            inputs,
            rank,
            0,
          );
          kernels.matmul(
            back,
            dyStep,
            factors.b,
            outputs * PANEL_COLUMNS * FLOAT,
            backward,
            rankStep,
            count,
            outputs,
            rank,
            0,
          );
          kernels.addOuter(inward, rankStep, back, dyStep, factors.dB, outputs * FLOAT, count, rank, outputs);
          kernels.addOuter(backward, rankStep, from, xStep, factors.dA, xStep, count, rank, inputs);
        }
      });
    },
    read() {
      const scale = options.alpha / options.rank;
      const size = bound.reduce((sum, { piece }) => sum + (piece.inputs + piece.outputs) * options.rank, 0);
      const values = new Float32Array(size);
      for (const { piece, dA, dB } of pieces) {
        values.set(arena.floats(dA, options.rank * piece.inputs), piece.a);
        const turned = arena.floats(dB, options.rank * piece.outputs);
        for (let output = 0; output < piece.outputs; output++) {
          for (let r = 0; r < options.rank; r++) {
            values[piece.b + output * options.rank + r] = scale * (turned[r * piece.outputs + output] ?? 0);
          }
        }
      }
      return values;
    },
  };
};

/** Where the gradient of the hidden states is, and what accumulates that of the LoRA factors. */
interface BackwardPass {
  readonly dHidden: number;
  readonly gradient: LoraGradient;
}

/**
 * Backpropagates the gradient of the hidden states down to the first layer, and accumulates the gradient of each matrix's
 * LoRA factors. Allocates from the machine's arena.
 */
export const runBackward = (
  model: LoadedModel,
  attention: Attention,
  tape: Tape,
  { dHidden, gradient }: BackwardPass,
): void => {
  const { arena, kernels, shape, head, returns } = model.machine;
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
  const applyBack = ({ inputs, outputs, backward }: PackedLinear, dy: number, to: number): void => {
    const steps = [outputs * FLOAT, backward, outputs * PANEL_COLUMNS * FLOAT, to, inputs * FLOAT] as const;
    kernels.matmul(dy, ...steps, rows, outputs, inputs, 0);
  };

  arena.floats(dx, rows * width).fill(0);
  kernels.normBack(tape.x, model.norm, tape.factors, dHidden, dx, rows, width);
  for (let index = model.layers.length - 1; index >= 0; index--) {
    const [layer, saved] = [model.layers[index], tape.layers[index]];
    if (layer === undefined || saved === undefined) continue;
    gradient.gather(index, ['down'], { x: saved.act, dy: dx, rows });
    applyBack(layer.down, dx, dAct);
    kernels.gateBack(saved.wide, dAct, dWide, rows, inner);
    gradient.gather(index, ['gate', 'up'], { x: saved.mlpIn, dy: dWide, rows });
    applyBack(layer.wide, dWide, dIn);
    kernels.normBack(saved.middle, layer.mlpNorm, saved.mlpFactors, dIn, dx, rows, width);

    gradient.gather(index, ['o'], { x: saved.mixed, dy: dx, rows });
    applyBack(layer.attentionOut, dx, dMixed);
    arena.floats(dQkv, rows * 3 * width).fill(0);
    attention.backward(saved.qkv, dMixed, dQkv, tape.segments);
    for (const { start, length, position } of tape.segments) {
      const [at, table] = [dQkv + start * 3 * width * FLOAT, returns + position * head * FLOAT];
      kernels.rotate(at, 3 * width * FLOAT, table, head * FLOAT, length, 2 * heads, head / 2);
    }
    gradient.gather(index, ['q', 'k', 'v'], { x: saved.attentionIn, dy: dQkv, rows });
    // Nothing below the first layer is trained.
    if (index === 0) return;
    applyBack(layer.attention, dQkv, dIn);
    kernels.normBack(saved.x, layer.attentionNorm, saved.attentionFactors, dIn, dx, rows, width);
  }
};
