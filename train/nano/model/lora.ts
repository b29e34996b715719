import { EngineError, type LoraOptions } from '../engine.ts';
import { createRandomStream } from '../random-stream.ts';
import type { ModelShape } from './decoder-weights.ts';
import { isOfAttention, PROJECTIONS, type Projection, projectionSize } from './decoder-weights.ts';

/** One matrix's low-rank change: W + alpha / rank · B·A. `a` and `b` are where A [rank][inputs] and B [outputs][rank] begin. */
export interface LoraPiece {
  readonly layer: number;
  readonly projection: Projection;
  readonly inputs: number;
  readonly outputs: number;
  readonly a: number;
  readonly b: number;
}

/** All weights of an adapter in one array, in the layout of `loraPieces`. */
export interface Lora {
  readonly options: LoraOptions;
  readonly values: Float32Array;
}

const MAX_RANK = 64;

export const loraPieces = (
  shape: ModelShape,
  { rank, attention, mlp }: LoraOptions,
): readonly LoraPiece[] => {
  let end = 0;
  const take = (count: number): number => {
    end += count;
    return end - count;
  };
  const wanted = PROJECTIONS.filter((projection) => (isOfAttention(projection) ? attention : mlp));
  return Array.from({ length: shape.layers }, (_, layer) =>
    wanted.map((projection) => {
      const { inputs, outputs } = projectionSize(shape, projection);
      return { layer, projection, inputs, outputs, a: take(rank * inputs), b: take(outputs * rank) };
    }),
  ).flat();
};

export const loraSize = (shape: ModelShape, options: LoraOptions): number =>
  loraPieces(shape, options).reduce((sum, { inputs, outputs }) => sum + (inputs + outputs) * options.rank, 0);

export const checkLoraOptions = ({ rank, alpha, seed, attention, mlp }: LoraOptions): void => {
  if (!Number.isInteger(rank) || rank < 1 || rank > MAX_RANK) {
    throw new EngineError(`rank is ${rank}; it must be an integer from 1 to ${MAX_RANK}`);
  }
  if (!Number.isFinite(alpha) || alpha <= 0) throw new EngineError(`alpha is ${alpha}; it must be positive`);
  if (!Number.isSafeInteger(seed)) throw new EngineError(`seed is ${seed}; it must be an integer`);
  if (!attention && !mlp) throw new EngineError('an adapter must train attention, mlp or both');
};

/** B is zero, so that the model is unchanged; A is Kaiming-uniform with a = √5 as in PEFT: within ±1 / √inputs. */
export const createLora = (shape: ModelShape, options: LoraOptions): Lora => {
  checkLoraOptions(options);
  const values = new Float32Array(loraSize(shape, options));
  loraPieces(shape, options).forEach(({ a, inputs }, stream) => {
    const random = createRandomStream(options.seed, stream);
    const bound = 1 / Math.sqrt(inputs);
    for (let i = a; i < a + options.rank * inputs; i++) values[i] = (2 * random() - 1) * bound;
  });
  return { options, values };
};
