import type { TrainDatum, TrainingModel } from '../src/core/training.ts';
import type { RolloutData } from './datum.ts';

/** Computes log-probabilities of given tokens: a model that is not trained. */
export type ReferenceModel = Pick<TrainingModel, 'forward'>;

interface Penalised {
  readonly data_N: readonly RolloutData[];
  /** The mean of log p(sampler) − log p(reference) over the trained tokens: an estimate of KL(policy ‖ reference) per token. */
  readonly kl: number;
}

/**
 * Adds a penalty for the distance from a reference policy to the advantages, before they are scaled: each trained token loses
 * `coefficient` × (d − mean d), where d is its log-probability under the weights that sampled it minus that under the reference. The
 * mean over the batch is a baseline; without it long replies would lose more than short ones. A coefficient of 0.01 takes 0.01 of a
 * reward from a token that is one nat more probable than under the reference. Rejects with a TrainingError.
 */
export async function penaliseDistance(
  data_N: readonly RolloutData[],
  reference: ReferenceModel,
  coefficient: number,
  signal: AbortSignal,
): Promise<Penalised> {
  const data = data_N.flatMap((each) => each.data);
  // The loss is ignored: only the log-probabilities are read.
  const { logprobs } = await reference.forward({ data, loss: 'cross_entropy' }, signal);
  const distances = data.map((datum, at) => distancesOf(datum, logprobs[at] ?? []));
  const trained = distances.flatMap((of, at) => of.filter((_, place) => data[at]?.weights[place] !== 0));
  const mean = trained.reduce((sum, distance) => sum + distance, 0) / Math.max(1, trained.length);
  const changed = new Map(
    data.map((datum, at): [TrainDatum, TrainDatum] => [
      datum,
      {
        ...datum,
        advantages: (datum.advantages ?? []).map((advantage, place) =>
          datum.weights[place] === 0
            ? advantage
            : advantage - coefficient * ((distances[at]?.[place] ?? Number.NaN) - mean),
        ),
      },
    ]),
  );
  return {
    data_N: data_N.map((each) => ({ ...each, data: each.data.map((datum) => changed.get(datum) ?? datum) })),
    kl: mean,
  };
}

/** A missing number must not be replaced: the engine's client refuses NaN. */
const distancesOf = (
  { weights, logprobs = [] }: TrainDatum,
  reference: readonly number[],
): readonly number[] =>
  weights.map((weight, place) =>
    weight === 0 ? 0 : (logprobs[place] ?? Number.NaN) - (reference[place] ?? Number.NaN),
  );
