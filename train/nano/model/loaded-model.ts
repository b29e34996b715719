import { PANEL_COLUMNS } from '../kernels/matmul-kernels.ts';
import { type DecoderWeights, PROJECTIONS, type Projection, projectionSize } from './decoder-weights.ts';
import { type Lora, type LoraPiece, loraPieces } from './lora.ts';
import { FLOAT, type Machine, padded } from './machine.ts';

/** A matrix packed for y = x·Wᵀ and, in a trainable model, for dx = dy·W. Several projections may be side by side. */
export interface PackedLinear {
  readonly inputs: number;
  readonly outputs: number;
  readonly forward: number;
  readonly backward: number;
}

interface DecoderLayer {
  readonly attentionNorm: number;
  /** Query, key and value. */
  readonly attention: PackedLinear;
  readonly attentionOut: PackedLinear;
  readonly mlpNorm: number;
  /** Gate and up. */
  readonly wide: PackedLinear;
  readonly down: PackedLinear;
}

/** An adapter's factors packed for the gradient: for x·Aᵀ, and for dy·B multiplied by the scale. */
export interface BoundPiece {
  readonly piece: LoraPiece;
  readonly a: number;
  readonly b: number;
}

/** The model's weights in a machine's memory, with one adapter at a time merged into them. */
export interface LoadedModel {
  readonly machine: Machine;
  /** One row for each token. */
  readonly embedding: number;
  readonly unembedding: PackedLinear;
  readonly layers: readonly DecoderLayer[];
  readonly norm: number;
  /**
   * Merges an adapter into the matrices; undefined gives the base model. Frees all memory allocated since the last bind, and
   * allocates what the factors need. Returns the adapter's factors, for the gradient.
   */
  bind(lora: Lora | undefined): readonly BoundPiece[];
}

/** The place of one projection's matrix in memory. */
interface Slot {
  readonly base: Float32Array;
  readonly inputs: number;
  readonly outputs: number;
  readonly forward: number;
  readonly backward: number;
  /** Bytes between panels of `backward`, which has the projections side by side. */
  readonly backwardStep: number;
}

export const createLoadedModel = (
  machine: Machine,
  weights: DecoderWeights,
  canTrain: boolean,
): LoadedModel => {
  const { arena, shape } = machine;
  const put = (values: Float32Array): number => {
    const address = arena.take(values.byteLength);
    arena.floats(address, values.length).set(values);
    return address;
  };
  const slots = new Map<string, Slot>();
  const linear = (layer: number, ...projections: readonly Projection[]): PackedLinear => {
    const sizes = projections.map((projection) => projectionSize(shape, projection));
    const inputs = sizes[0]?.inputs ?? 0;
    const outputs = sizes.reduce((sum, size) => sum + size.outputs, 0);
    const forward = arena.take(inputs * outputs * FLOAT);
    const backward = canTrain ? arena.take(inputs * outputs * FLOAT) : 0;
    let first = 0;
    projections.forEach((projection, index) => {
      const own = sizes[index]?.outputs ?? 0;
      slots.set(`${layer}.${projection}`, {
        base: weights.layers[layer]?.matrices[projection] ?? new Float32Array(),
        inputs,
        outputs: own,
        forward: forward + first * inputs * FLOAT,
        backward: backward + first * PANEL_COLUMNS * FLOAT,
        backwardStep: outputs * PANEL_COLUMNS * FLOAT,
      });
      first += own;
    });
    return { inputs, outputs, forward, backward };
  };

  const layers = weights.layers.map((layer, index) => ({
    attentionNorm: put(layer.attentionNorm),
    attention: linear(index, 'q', 'k', 'v'),
    attentionOut: linear(index, 'o'),
    mlpNorm: put(layer.mlpNorm),
    wide: linear(index, 'gate', 'up'),
    down: linear(index, 'down'),
  }));
  const embedding = put(weights.embedding);
  const unembedding = {
    inputs: shape.width,
    outputs: shape.vocabulary,
    forward: arena.take(weights.embedding.byteLength),
    backward: canTrain ? arena.take(weights.embedding.byteLength) : 0,
  };
  const unembeddingStep = shape.vocabulary * PANEL_COLUMNS * FLOAT;
  const unembeddingSlot = { ...unembedding, base: weights.embedding, backwardStep: unembeddingStep };
  packSlot(machine, unembeddingSlot, embedding, canTrain);
  const norm = put(weights.norm);
  const merged = arena.take(shape.width * Math.max(shape.width, shape.inner) * FLOAT);
  const ground = arena.mark();

  return {
    machine,
    embedding,
    unembedding,
    layers,
    norm,
    bind(lora) {
      arena.rewind(ground);
      const bound: BoundPiece[] = [];
      const pieces = lora === undefined ? [] : loraPieces(shape, lora.options);
      for (let layer = 0; layer < shape.layers; layer++) {
        for (const projection of PROJECTIONS) {
          const slot = slots.get(`${layer}.${projection}`);
          if (slot === undefined) continue;
          const piece = pieces.find((each) => each.layer === layer && each.projection === projection);
          arena.floats(merged, slot.base.length).set(slot.base);
          if (lora !== undefined && piece !== undefined) bound.push(mergePiece(machine, lora, piece, merged));
          packSlot(machine, slot, merged, canTrain);
        }
      }
      return bound;
    },
  };
};

/** Packs the matrix at `plain` into its slot. */
const packSlot = ({ kernels }: Machine, slot: Slot, plain: number, canTrain: boolean): void => {
  const { inputs, outputs } = slot;
  kernels.pack(plain, inputs * FLOAT, FLOAT, slot.forward, inputs * PANEL_COLUMNS * FLOAT, outputs, inputs);
  if (!canTrain) return;
  kernels.pack(plain, FLOAT, inputs * FLOAT, slot.backward, slot.backwardStep, inputs, outputs);
};

/** Adds s·B·A to the matrix at `matrix`, and packs the factors for the gradient. */
const mergePiece = (
  { arena, kernels }: Machine,
  lora: Lora,
  piece: LoraPiece,
  matrix: number,
): BoundPiece => {
  const { inputs, outputs } = piece;
  const rank = padded(lora.options.rank);
  const bound = {
    piece,
    a: arena.take(inputs * rank * FLOAT),
    b: arena.take(outputs * rank * FLOAT),
  };
  const mark = arena.mark();
  const { a, b } = stageFactors(arena, lora, piece);
  const packed = arena.take(rank * inputs * FLOAT);
  const rankStep = rank * PANEL_COLUMNS * FLOAT;
  kernels.pack(a, FLOAT, inputs * FLOAT, packed, rankStep, inputs, rank);
  kernels.matmul(b, rank * FLOAT, packed, rankStep, matrix, inputs * FLOAT, outputs, rank, inputs, 1);
  kernels.pack(a, inputs * FLOAT, FLOAT, bound.a, inputs * PANEL_COLUMNS * FLOAT, rank, inputs);
  kernels.pack(b, FLOAT, rank * FLOAT, bound.b, outputs * PANEL_COLUMNS * FLOAT, rank, outputs);
  arena.rewind(mark);
  return bound;
};

/** The factors with the rank padded by zeros: A [rank][inputs], and B [outputs][rank] times the scale. */
const stageFactors = (arena: Machine['arena'], { options, values }: Lora, piece: LoraPiece) => {
  const { inputs, outputs } = piece;
  const rank = padded(options.rank);
  const scale = options.alpha / options.rank;
  const [a, b] = [arena.take(rank * inputs * FLOAT), arena.take(outputs * rank * FLOAT)];
  const [aValues, bValues] = [
    arena.floats(a, rank * inputs).fill(0),
    arena.floats(b, outputs * rank).fill(0),
  ];
  aValues.set(values.subarray(piece.a, piece.a + options.rank * inputs));
  for (let output = 0; output < outputs; output++) {
    for (let r = 0; r < options.rank; r++) {
      bValues[output * rank + r] = scale * (values[piece.b + output * options.rank + r] ?? 0);
    }
  }
  return { a, b };
};
