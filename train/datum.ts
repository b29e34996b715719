import { createRandom } from '../src/base/random.ts';
import type { EngineProfile, TrainDatum } from '../src/core/training.ts';
import type { ScoredRollout } from './advantage.ts';
import type { RolloutSegment } from './rollout.ts';

/** The items in an order that depends only on the seed. */
export function shuffleBySeed<T>(items: readonly T[], seed: string): readonly T[] {
  const random = createRandom(seed);
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/**
 * Every item once per epoch, in `count` parts of nearly equal size, shuffled per epoch. The same seed gives the same parts:
 * a repeated step is the same step.
 */
export function minibatchesOf<T>(
  items: readonly T[],
  { epochs, count, seed }: { readonly epochs: number; readonly count: number; readonly seed: string },
): readonly (readonly T[])[] {
  const parts = Math.min(count, items.length);
  return Array.from({ length: epochs }, (_, epoch) => {
    const order = parts > 1 ? shuffleBySeed(items, `${seed}/epoch-${epoch}`) : items;
    return Array.from({ length: parts }, (_, part) =>
      order.slice(Math.floor((part * order.length) / parts), Math.floor(((part + 1) * order.length) / parts)),
    );
  }).flat();
}

// N: attempts of an update · T: tokens of a sequence without its last, which predicts nothing.

/** The data of one attempt. Every trained position has its advantage, not scaled yet. */
export interface RolloutData {
  readonly data: readonly TrainDatum[];
  /** Sampled tokens in them. */
  readonly tokens: number;
  /** Sequences over the engine's context length. They are dropped whole: a truncated one has not the ending that was rewarded. */
  readonly overlong: number;
}

/**
 * The divisor of the sum over an attempt's tokens. `tokens`: the same constant for all, so that short attempts do not
 * count more (Dr.GRPO). `own-length`: the attempt's number of tokens (GRPO).
 */
export type LengthRule = { readonly tokens: number } | 'own-length';

/** A conversation in tokens. */
interface Sequence {
  readonly ids: number[];
  /** The sampler's log-probability of each id; undefined where the id was not sampled or must not train. */
  readonly logprobs: (number | undefined)[];
  readonly advantages: number[];
}

export function dataOf(scored: ScoredRollout, contextLength: number): RolloutData {
  const sequences = sequencesOf(scored).filter(({ logprobs }) => logprobs.some(isSampled));
  const fitting = sequences.filter(({ ids }) => ids.length - 1 <= contextLength);
  return {
    data: fitting.map(shifted),
    tokens: fitting.reduce((sum, { logprobs }) => sum + logprobs.filter(isSampled).length, 0),
    overlong: sequences.length - fitting.length,
  };
}

/**
 * A prompt that extends the current sequence continues it; any other prompt starts a new one. When the client has rewritten
 * its history, sampled tokens stay in the sequence in which they were sampled.
 */
function sequencesOf({ rollout, advantage }: ScoredRollout): readonly Sequence[] {
  const sequences: Sequence[] = [];
  for (const segment of rollout.segments) {
    let current = sequences.at(-1);
    if (segment.kind === 'prompt' && (current === undefined || !isStartOf(current.ids, segment.ids))) {
      current = { ids: [], logprobs: [], advantages: [] };
      sequences.push(current);
    }
    if (current !== undefined) append(current, segment, advantage);
  }
  return sequences;
}

function append({ ids, logprobs, advantages }: Sequence, segment: RolloutSegment, advantage: number): void {
  const isNew = segment.kind === 'reply';
  for (let at = isNew ? 0 : ids.length; at < segment.ids.length; at++) {
    ids.push(segment.ids[at] ?? 0);
    logprobs.push(isNew && segment.isBent !== true ? segment.logprobs[at] : undefined);
    advantages.push(isNew ? advantage : 0);
  }
}

const isStartOf = (start: readonly number[], whole: readonly number[]): boolean =>
  start.length <= whole.length && start.every((id, at) => id === whole[at]);

const isSampled = (logprob: number | undefined): logprob is number => logprob !== undefined;

/** Each token predicts the next: targets and what belongs to them move by one. */
function shifted({ ids, logprobs, advantages }: Sequence): TrainDatum {
  const ofTargets = logprobs.slice(1);
  return {
    tokens: ids.slice(0, -1),
    targets: ids.slice(1),
    weights: ofTargets.map((logprob) => (isSampled(logprob) ? 1 : 0)),
    advantages: ofTargets.map((logprob, at) => (isSampled(logprob) ? (advantages[at + 1] ?? 0) : 0)),
    logprobs: ofTargets.map((logprob) => logprob ?? 0),
  };
}

/**
 * The data of one update, scaled so that the engine's loss is the mean over attempts of their token sums divided by the
 * rule's divisor, whatever the engine's own reduction: its divisor is multiplied in beforehand.
 */
export function scaleData(
  data_N: readonly RolloutData[],
  rule: LengthRule,
  reduction: EngineProfile['reduction'],
): readonly TrainDatum[] {
  const attempts = data_N.filter(({ data }) => data.length > 0);
  return attempts.flatMap(({ data, tokens }) => {
    const divisor = attempts.length * (rule === 'own-length' ? tokens : rule.tokens);
    return data.map((datum) => {
      const undone = reduction === 'sum' ? 1 : datum.weights.reduce((sum, weight) => sum + weight, 0);
      const scale = undone / divisor;
      return { ...datum, advantages: (datum.advantages ?? []).map((advantage) => advantage * scale) };
    });
  });
}
