import { type Batch, type BatchResult, EngineError } from '../engine.ts';
import { type Attention, createAttention } from '../model/attention.ts';
import { runBackward } from '../model/backward.ts';
import { runForward } from '../model/forward.ts';
import type { LoraGradient } from '../model/lora-gradient.ts';
import { FLOAT, type Machine } from '../model/machine.ts';
import type { Model } from '../model/model.ts';
import { type Asked, scoreRows } from '../model/score-rows.ts';
import { NOTHING, tokenLoss } from './losses.ts';
import { type Microbatch, microbatches } from './microbatches.ts';

/** Sums for the metrics. */
interface Tally {
  loss: number;
  tokens: number;
  drift: number;
  highestRatio: number;
  clipped: number;
}

const metricsOf = ({ loss }: Batch, tally: Tally): Readonly<Record<string, number>> => {
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
const askFor = (batch: Batch, { data, rows }: Microbatch) => {
  const places = data.flatMap((datum, member) =>
    Array.from(batch.data[datum]?.targets ?? [], (target, index) => ({
      datum,
      index,
      target,
      row: rows.rowsOf[member]?.[index] ?? 0,
    })),
  );
  const asked: Asked = {
    rows: Int32Array.from(places, ({ row }) => row),
    tokens: Int32Array.from(places, ({ target }) => target),
  };
  return { places, asked };
};

/**
 * The batch's log-probabilities and loss under the bound weights; `gradient`, if given, accumulates the gradient. Throws an
 * EngineError when the loss is not finite. The arena is left as it was.
 */
export const runBatch = (
  machine: Machine,
  model: Model,
  batch: Batch,
  gradient?: LoraGradient,
): BatchResult => {
  const { arena, shape } = machine;
  const lossOf = tokenLoss(batch);
  const logprobs = batch.data.map(({ tokens }) => new Float32Array(tokens.length));
  const tally: Tally = { loss: 0, tokens: 0, drift: 0, highestRatio: 0, clipped: 0 };

  const run = (part: Microbatch, attention: Attention): void => {
    const { places, asked } = askFor(batch, part);
    const tape = runForward(machine, model, attention, part.rows);
    const dHidden = gradient === undefined ? undefined : arena.take(tape.rows * shape.width * FLOAT);
    const onLogprob = (at: number, logprob: number): number => {
      const place = places[at];
      const datum = batch.data[place?.datum ?? 0];
      if (place === undefined || datum === undefined) return 0;
      const { datum: member, index } = place;
      const row = logprobs[member];
      if (row !== undefined) row[index] = logprob;
      const token = lossOf(logprob, datum, index);
      if (token === NOTHING) return 0;
      tally.loss += token.loss;
      tally.tokens++;
      tally.drift += (datum.logprobs?.[index] ?? 0) - logprob;
      tally.highestRatio = Math.max(tally.highestRatio, token.ratio);
      tally.clipped += token.isClipped ? 1 : 0;
      return token.slope;
    };
    scoreRows(machine, model, tape, asked, onLogprob, dHidden);
    if (!Number.isFinite(tally.loss)) throw new EngineError(`the loss of the batch is ${tally.loss}`);
    if (gradient !== undefined && dHidden !== undefined) {
      runBackward(machine, model, attention, gradient, tape, dHidden);
    }
  };

  const ground = arena.mark();
  try {
    const attention = createAttention(machine);
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
