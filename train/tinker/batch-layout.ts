import type { StepInput, StepOutput, TrainDatum } from '../../src/core/training.ts';
import type { ServerTraits } from './profiles.ts';
import { type ChunkLimits, sizeOfDatum, splitData, type WireKind } from './train-messages.ts';

/** The data of one request, as they are sent. */
export interface BatchChunk {
  readonly data: readonly TrainDatum[];
  /** How many of them, at the front, were asked for; the others fill the request up. */
  readonly count: number;
  /** What advantages were multiplied by, and with them the loss that the server reports. */
  readonly scale: number;
}

interface LayoutOptions {
  readonly forwardOnly: boolean;
  readonly wire: WireKind;
  readonly limits: ChunkLimits;
  readonly traits: Pick<ServerTraits, 'fills' | 'dividesByCount'>;
}

/**
 * The requests of one pass: the data in order, within the server's limits, filled up with data that have no gradient. Where the
 * server divides the gradient by the number of sequences, advantages are multiplied by the number that is sent, in all
 * requests together: the gradient is then the sum over the sequences that were asked for, however they were split and
 * filled up. That holds when each optimizer step follows one pass. The mean of a cross entropy cannot be scaled by its
 * data: its passes backward are neither filled up nor scaled.
 */
export function layOutBatch(input: StepInput, options: LayoutOptions): readonly BatchChunk[] {
  const { forwardOnly, wire, limits, traits } = options;
  const { data, loss } = input;
  const isScalable = loss !== 'cross_entropy';
  const multiple = forwardOnly || isScalable ? (traits.fills?.train ?? 1) : 1;
  const [first] = data;
  const blank = first === undefined ? undefined : blankLike(first, isScalable ? 1 : 0);
  const fillBytes = blank === undefined ? 0 : (multiple - 1) * sizeOfDatum(blank, wire);
  const room = {
    data: Math.max(multiple, limits.data - (limits.data % multiple)),
    bytes: Math.max(1, limits.bytes - fillBytes),
  };
  const chunks = splitData(data, wire, room);
  const sent = chunks.reduce((sum, { length }) => sum + roundUp(length, multiple), 0);
  const scale = traits.dividesByCount && isScalable && !forwardOnly ? sent : 1;
  return chunks.map((chunk) => {
    const missing = roundUp(chunk.length, multiple) - chunk.length;
    const scaled = scale === 1 ? chunk : chunk.map((datum) => scaleAdvantages(datum, scale));
    const filling = blank === undefined ? [] : Array.from({ length: missing }, () => blank);
    return { data: [...scaled, ...filling], count: chunk.length, scale };
  });
}

export const roundUp = (count: number, multiple: number): number => Math.ceil(count / multiple) * multiple;

/**
 * One token with an advantage of 0. Its weight is 1 where an advantage counts, because a mean over no weight is undefined; a
 * cross entropy, which is filled up only in passes forward, would count the token.
 */
function blankLike({ tokens, targets }: TrainDatum, weight: number): TrainDatum {
  return {
    tokens: tokens.slice(0, 1),
    targets: targets.slice(0, 1),
    weights: [weight],
    advantages: [0],
    logprobs: [0],
  };
}

const scaleAdvantages = (datum: TrainDatum, scale: number): TrainDatum =>
  datum.advantages === undefined
    ? datum
    : { ...datum, advantages: datum.advantages.map((advantage) => advantage * scale) };

const LOSS = /(^|_)loss(:|$)/;

/** What the server answered for the data that were asked for. */
export function withoutFilling(output: StepOutput, { data, count, scale }: BatchChunk): StepOutput {
  // An answer of another length is an error, and must stay one.
  const logprobs = output.logprobs.length === data.length ? output.logprobs.slice(0, count) : output.logprobs;
  const metrics = Object.entries(output.metrics).map(([name, value]): [string, number] => [
    name,
    LOSS.test(name) ? value / scale : value,
  ]);
  return { logprobs, metrics: Object.fromEntries(metrics) };
}
