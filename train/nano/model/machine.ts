import { type Arena, createArena } from '../../../src/base/wasm/arena.ts';
import { PANEL_COLUMNS } from '../kernels/matmul-kernels.ts';
import { createNanoKernels, type NanoKernels } from '../kernels/nano-kernels.ts';
import type { ModelShape } from './decoder-weights.ts';

export const FLOAT = 4;

/** Rows of a segment whose attention scores are held at a time. */
export const SCORE_ROWS = 32;

/** Rounded up to whole panels. */
export const padded = (count: number): number => Math.ceil(count / PANEL_COLUMNS) * PANEL_COLUMNS;

/** WebAssembly memory, the kernels that work on it, and the constants of a shape. `eps` to `backScores` are addresses. */
export interface Machine {
  readonly arena: Arena;
  readonly kernels: NanoKernels;
  readonly shape: ModelShape;
  readonly head: number;
  readonly eps: number;
  /** 1 / √head. */
  readonly scale: number;
  /** log2(e) / √head, for powers of two instead of e. */
  readonly sharpness: number;
  /** Rotary position table: for each position a row of cosines, then sines. */
  readonly turns: number;
  /** The same with negated sines, for the inverse rotation. */
  readonly returns: number;
  /** Two blocks of SCORE_ROWS rows, `scoreStep` bytes apart. */
  readonly scores: number;
  readonly backScores: number;
  readonly scoreStep: number;
}

/** The softmax kernel writes a vector beyond the last key. */
const SPARE = 4;

export const createMachine = (shape: ModelShape): Machine => {
  const arena = createArena();
  const head = shape.width / shape.heads;
  const half = head / 2;
  const floats = (count: number): number => arena.take(count * FLOAT);
  const put = (value: number): number => {
    const address = floats(1);
    arena.floats(address, 1)[0] = value;
    return address;
  };
  const table = (sign: number): number => {
    const address = floats(shape.contextLength * head);
    const rows = arena.floats(address, shape.contextLength * head);
    for (let position = 0; position < shape.contextLength; position++) {
      for (let pair = 0; pair < half; pair++) {
        const angle = position * shape.ropeBase ** (-pair / half);
        rows[position * head + pair] = Math.cos(angle);
        rows[position * head + half + pair] = sign * Math.sin(angle);
      }
    }
    return address;
  };
  const scoreStep = (padded(shape.contextLength) + SPARE) * FLOAT;
  return {
    arena,
    kernels: createNanoKernels(arena.memory),
    shape,
    head,
    eps: put(shape.normEps),
    scale: put(1 / Math.sqrt(head)),
    sharpness: put(Math.LOG2E / Math.sqrt(head)),
    turns: table(1),
    returns: table(-1),
    scores: arena.take(SCORE_ROWS * scoreStep),
    backScores: arena.take(SCORE_ROWS * scoreStep),
    scoreStep,
  };
};
