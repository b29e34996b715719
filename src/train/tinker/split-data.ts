import type { TrainDatum } from '../../core/training.ts';
import type { WireKind } from './encode-train.ts';

export interface ChunkLimits {
  readonly data: number;
  readonly bytes: number;
}

export const CHUNK_LIMITS: ChunkLimits = { data: 1024, bytes: 5_000_000 };

/** Bytes per position: a token, a target and up to three numbers. In JSON a number has about twenty digits. */
const BYTES_PER_POSITION = { protobuf: 24, json: 76 } as const;

const sizeOf = ({ tokens }: TrainDatum, wire: WireKind): number =>
  200 + tokens.length * BYTES_PER_POSITION[wire];

/** The data in order, in as few chunks as the limits allow; a datum over the limit is a chunk of its own. */
export function splitData(
  data: readonly TrainDatum[],
  wire: WireKind,
  limits: ChunkLimits,
): readonly (readonly TrainDatum[])[] {
  const chunks: TrainDatum[][] = [];
  let bytes = 0;
  for (const datum of data) {
    const size = sizeOf(datum, wire);
    const last = chunks.at(-1);
    if (last === undefined || last.length >= limits.data || bytes + size > limits.bytes) {
      chunks.push([datum]);
      bytes = size;
    } else {
      last.push(datum);
      bytes += size;
    }
  }
  return chunks;
}
