import type { LoraOptions } from '../engine.ts';
import { PANEL } from '../kernels/matmul-kernel.ts';
import { FLOAT, type Machine, padded } from './machine.ts';
import type { BoundPiece } from './model.ts';
import { type Projection, projectionSize } from './projections.ts';

/**
 * The gradient of an adapter's factors. With y = x·(W + s·B·A)ᵀ the gradient of W is not needed: dA = (dy·sB)ᵀ·x and
 * dB = s·dyᵀ·(x·Aᵀ).
 */
export interface LoraGradient {
  /** Accumulates the gradient of projections that share their input x; dy has their outputs side by side. */
  gather(layer: number, projections: readonly Projection[], x: number, dy: number, rows: number): void;
  /** The accumulated gradient, in the layout of the adapter's weights. */
  read(): Float32Array;
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
    gather(layer, projections, x, dy, rows) {
      const outputsOf = (projection: Projection): number => projectionSize(shape, projection).outputs;
      const dyStep = projections.reduce((sum, projection) => sum + outputsOf(projection), 0) * FLOAT;
      projections.forEach((projection, index) => {
        const found = pieces.find(({ piece }) => piece.layer === layer && piece.projection === projection);
        if (found === undefined) return;
        const { inputs, outputs } = found.piece;
        const xStep = inputs * FLOAT;
        for (let first = 0; first < rows; first += CHUNK) {
          const count = Math.min(CHUNK, rows - first);
          const from = x + first * xStep;
          const back = dy + first * dyStep + index * outputs * FLOAT;
          kernels.matmul(
            from,
            xStep,
            found.a,
            inputs * PANEL * FLOAT,
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
            found.b,
            outputs * PANEL * FLOAT,
            backward,
            rankStep,
            count,
            outputs,
            rank,
            0,
          );
          kernels.addOuter(inward, rankStep, back, dyStep, found.dB, outputs * FLOAT, count, rank, outputs);
          kernels.addOuter(backward, rankStep, from, xStep, found.dA, xStep, count, rank, inputs);
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
