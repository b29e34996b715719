import { type BatchResult, type Datum, EngineError, type LossName, type TrainBatch } from '../engine.ts';
import { type Attention, createAttention } from '../model/attention.ts';
import { type LoraGradient, runBackward } from '../model/backward.ts';
import { runForward, scoreRows } from '../model/forward.ts';
import type { LoadedModel } from '../model/loaded-model.ts';
import { FLOAT } from '../model/machine.ts';
import { createPrefixTree, type PrefixTreeRows } from '../model/prefix-tree.ts';

/** One token's contribution to the loss; `slope` is the derivative with respect to its log-probability. */
interface TokenLoss {
  readonly loss: number;
  readonly slope: number;
  /** The probability of the target now, divided by that when it was sampled; 1 where nothing was sampled. */
  readonly ratio: number;
  readonly isClipped: boolean;
}

/** p is the log-probability now, q the one when it was sampled. */
type LossRule = (p: number, q: number, advantage: number, clip: RatioClip) => TokenLoss;

type RatioClip = NonNullable<TrainBatch['clip']>;

const DEFAULT_CLIP: RatioClip = { low: 0.8, high: 1.2 };
/** A token that does not count. */
const MASKED_TOKEN: TokenLoss = { loss: 0, slope: 0, ratio: 1, isClipped: false };

const clamp = (value: number, { low, high }: RatioClip): number => Math.min(Math.max(value, low), high);

const RULES: Readonly<Record<Exclude<LossName, 'cross_entropy'>, LossRule>> = {
  importance_sampling: (p, q, advantage) => {
    const ratio = Math.exp(p - q);
    return { loss: -ratio * advantage, slope: -ratio * advantage, ratio, isClipped: false };
  },
  ppo: (p, q, advantage, clip) => {
    const ratio = Math.exp(p - q);
    const free = ratio * advantage;
    const clipped = clamp(ratio, clip) * advantage;
    const isClipped = clipped < free;
    return { loss: -Math.min(free, clipped), slope: isClipped ? 0 : -free, ratio, isClipped };
  },
  cispo: (p, q, advantage, clip) => {
    const ratio = Math.exp(p - q);
    const weight = clamp(ratio, clip);
    return { loss: -weight * p * advantage, slope: -weight * advantage, ratio, isClipped: weight !== ratio };
  },
};

/** The loss per token; `weights` scale it, and a weight of 0 masks a token out. */
const tokenLoss = ({ loss, clip }: TrainBatch): ((p: number, datum: Datum, index: number) => TokenLoss) => {
  if (loss === 'cross_entropy') {
    return (p, { weights }, index) => {
      const weight = weights === undefined ? 1 : (weights[index] ?? 0);
      return weight === 0 ? MASKED_TOKEN : { loss: -p * weight, slope: -weight, ratio: 1, isClipped: false };
    };
  }
  const rule = RULES[loss];
  return (p, { weights, advantages, logprobs }, index) => {
    const weight = weights === undefined ? 1 : (weights[index] ?? 0);
    const advantage = advantages?.[index] ?? 0;
    // Prompt tokens have no advantage and meaningless log-probabilities: their ratio must not enter the metrics.
    if (weight === 0 || advantage === 0) return MASKED_TOKEN;
    const token = rule(p, logprobs?.[index] ?? 0, advantage, clip ?? DEFAULT_CLIP);
    return { ...token, loss: weight * token.loss, slope: weight * token.slope };
  };
};

/** Data computed together; `data` are indexes into the batch, in the order of `rows.rowsOf`. */
interface Microbatch {
  readonly data: readonly number[];
  readonly rows: PrefixTreeRows;
}

/** Bounds memory: about 30 KB for each row on the model that ships. */
const MAX_ROWS = 2048;
/** Above this, a sequence with little shared prefix starts the next microbatch, so that groups stay together. */
const ENOUGH_ROWS = 512;

/** Splits a batch so that each part fits into memory and sequences with a shared prefix stay together. */
const microbatches = (data: readonly Datum[]): readonly Microbatch[] => {
  const made: Microbatch[] = [];
  let tree = createPrefixTree();
  let members: number[] = [];
  let rows = 0;
  const close = (): void => {
    if (members.length > 0) made.push({ data: members, rows: tree.rows() });
    tree = createPrefixTree();
    members = [];
    rows = 0;
  };
  data.forEach(({ tokens }, index) => {
    const cost = tree.cost(tokens);
    const isMostlyNew = cost > tokens.length / 2;
    if (rows + cost > MAX_ROWS || (rows >= ENOUGH_ROWS && isMostlyNew)) close();
    rows += tree.cost(tokens);
    tree.add(tokens);
    members.push(index);
  });
  close();
  return made;
};

/** Sums for the metrics. */
interface Tally {
  loss: number;
  tokens: number;
  drift: number;
  highestRatio: number;
  clipped: number;
}

const metricsOf = ({ loss }: TrainBatch, tally: Tally): Readonly<Record<string, number>> => {
  const always = { 'loss:sum': tally.loss, 'tokens:sum': tally.tokens };
  if (loss === 'cross_entropy') return always;
  return {
    ...always,
    // KL divergence of the sampler's distribution from the current one, estimated on the sampled tokens.
    'kl:mean': tally.tokens === 0 ? 0 : tally.drift / tally.tokens,
    'ratio:max': tally.highestRatio,
    'clipped:sum': tally.clipped,
  };
};

/** The targets of all data of a microbatch, with their rows. */
const targetsOf = (batch: TrainBatch, { data, rows }: Microbatch) => {
  const places = data.flatMap((datum, member) =>
    Array.from(batch.data[datum]?.targets ?? [], (target, index) => ({
      datum,
      index,
      target,
      row: rows.rowsOf[member]?.[index] ?? 0,
    })),
  );
  return {
    places,
    rows: Int32Array.from(places, ({ row }) => row),
    tokens: Int32Array.from(places, ({ target }) => target),
  };
};

/**
 * The batch's log-probabilities and loss under the bound weights; `gradient`, if given, accumulates the gradient. Throws an
 * EngineError when the loss is not finite. The arena is left as it was.
 */
export const runBatch = (model: LoadedModel, batch: TrainBatch, gradient?: LoraGradient): BatchResult => {
  const { arena, shape } = model.machine;
  const lossOf = tokenLoss(batch);
  const logprobs = batch.data.map(({ tokens }) => new Float32Array(tokens.length));
  const tally: Tally = { loss: 0, tokens: 0, drift: 0, highestRatio: 0, clipped: 0 };

  const run = (part: Microbatch, attention: Attention): void => {
    const { places, rows, tokens } = targetsOf(batch, part);
    const tape = runForward(model, attention, part.rows);
    const dHidden = gradient === undefined ? undefined : arena.take(tape.rows * shape.width * FLOAT);
    const onLogprob = (at: number, logprob: number): number => {
      const place = places[at];
      const datum = batch.data[place?.datum ?? 0];
      if (place === undefined || datum === undefined) return 0;
      const { datum: member, index } = place;
      const row = logprobs[member];
      if (row !== undefined) row[index] = logprob;
      const token = lossOf(logprob, datum, index);
      if (token === MASKED_TOKEN) return 0;
      tally.loss += token.loss;
      tally.tokens++;
      tally.drift += (datum.logprobs?.[index] ?? 0) - logprob;
      tally.highestRatio = Math.max(tally.highestRatio, token.ratio);
      tally.clipped += token.isClipped ? 1 : 0;
      return token.slope;
    };
    scoreRows(model, tape, { rows, tokens, onLogprob }, dHidden);
    if (!Number.isFinite(tally.loss)) throw new EngineError(`the loss of the batch is ${tally.loss}`);
    if (gradient !== undefined && dHidden !== undefined) {
      runBackward(model, attention, tape, { dHidden, gradient });
    }
  };

  const ground = arena.mark();
  try {
    const attention = createAttention(model.machine);
    const workspace = arena.mark();
    for (const part of microbatches(batch.data)) {
      arena.rewind(workspace);
      run(part, attention);
    }
  } finally {
    arena.rewind(ground);
  }
  return { logprobs, metrics: metricsOf(batch, tally) };
};
