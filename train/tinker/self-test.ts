import {
  type LossKind,
  type Sampler,
  type TrainDatum,
  TrainingError,
  type TrainingModel,
} from '../../src/core/training.ts';
import type { Tolerance } from './profiles.ts';

/** The probability ratio of each token in the test of losses, and the upper clip bound. */
const RATIO = 2;
const CLIP_HIGH = 1.2;
/** Relative tolerance: the server computes the ratio in its own precision. */
const MAY_DIFFER = 0.03;

/** The loss of one token with advantage 1, given its log-probability. */
const TOKEN_LOSS: Readonly<Record<LossKind, (p: number) => number>> = {
  cross_entropy: (p) => -p,
  importance_sampling: () => -RATIO,
  ppo: () => -CLIP_HIGH,
  cispo: (p) => -CLIP_HIGH * p,
};

/** The loss in the metrics: the sum if there is one. */
function lossIn(metrics: Readonly<Record<string, number>>): number | undefined {
  const names = Object.keys(metrics).filter((name) => /(^|_)loss(:|$)/.test(name));
  return metrics['loss:sum'] ?? (names[0] === undefined ? undefined : metrics[names[0]]);
}

interface LossCheck {
  readonly loss: LossKind;
  readonly value: number;
  readonly reduction: 'sum' | 'mean-per-sequence';
  readonly logprobs: readonly (readonly number[])[];
  readonly weights: readonly (readonly number[])[];
}

/** Why a loss is wrong; undefined when it is the requested one. */
function checkLoss({ loss, value, reduction, logprobs, weights }: LossCheck): string | undefined {
  const sums = (kind: LossKind): readonly number[] =>
    logprobs.map((row, i) =>
      row.reduce((sum, p, t) => sum + ((weights[i]?.[t] ?? 0) === 0 ? 0 : TOKEN_LOSS[kind](p)), 0),
    );
  const total = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0);
  const means = (kind: LossKind): number =>
    total(sums(kind).map((sum, i) => sum / Math.max(1, total(weights[i] ?? []))));
  const isNear = (wanted: number): boolean =>
    Math.abs(value - wanted) <= MAY_DIFFER * Math.abs(wanted) + 1e-4;

  const summed = total(sums(loss));
  // Servers with per-sequence means report the sum of token losses, the sum of the means, or their mean.
  const mean = means(loss);
  const allowed = reduction === 'sum' ? [summed] : [summed, mean, mean / logprobs.length];
  if (allowed.some(isNear)) return undefined;
  if (isNear(mean) || isNear(mean / logprobs.length))
    return `${loss} is averaged over each sequence, but the profile says it is summed`;
  const other = (Object.keys(TOKEN_LOSS) as LossKind[]).find(
    (kind) => kind !== loss && (isNear(total(sums(kind))) || isNear(means(kind))),
  );
  const suspicion = other === undefined ? '' : `, which is what ${other} gives`;
  return `${loss} should be ${summed.toPrecision(4)} and is ${value.toPrecision(4)}${suspicion}`;
}

export interface SelfTestReport {
  /** KL(sampler || trainer) per sampled token, by an unbiased estimate that is never negative. */
  readonly kl: number;
  readonly maxDifference: number;
  readonly tokens: number;
  /** How far a step with a zero gradient moved a log-probability. */
  readonly drift: number;
  /** Undefined: the server does not report it. */
  readonly gradientNorm: number | undefined;
  /** The value of each loss on data whose loss is known. */
  readonly losses: Readonly<Partial<Record<LossKind, number>>>;
}

interface SelfTestOptions {
  readonly model: TrainingModel;
  readonly sampler: Sampler;
  readonly losses: readonly LossKind[];
  readonly reduction: 'sum' | 'mean-per-sequence';
  readonly tolerance: Tolerance;
  readonly prompt: readonly number[];
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

const SAMPLES = 4;
const SAMPLE_TOKENS = 16;
/** Large, so that any gradient shows: Adam's first step has this size whatever the gradient's size. */
const LEARNING_RATE = 0.01;
const NO_GRADIENT = 1e-6;

/**
 * Tests whether a server computes what it claims, on a model that is discarded afterwards. Rejects with a TrainingError that
 * names the difference.
 */
export async function runSelfTest(options: SelfTestOptions): Promise<SelfTestReport> {
  const { model, losses, reduction, tolerance, signal, log } = options;
  const { data, sampled } = await sampleData(options);
  const forward = async (): Promise<readonly (readonly number[])[]> =>
    (await model.forward({ data, loss: 'cross_entropy' }, signal)).logprobs;

  const trained = await forward();
  const { kl, maxDifference, tokens } = compare(sampled, trained, options.prompt.length);
  if (!(maxDifference <= tolerance.difference && kl <= tolerance.kl))
    fail(
      `the sampler and the trainer are not the same model: over ${tokens} sampled tokens their log-probabilities ` +
        `differ by up to ${maxDifference.toPrecision(3)} (allowed ${tolerance.difference}), KL ${kl.toPrecision(3)} (allowed ${tolerance.kl})`,
    );

  // A mean over zero weights would be NaN.
  const idle = losses.filter((loss) => loss !== 'cross_entropy' || reduction === 'sum');
  const zeroed = data.map((datum) => ({ ...datum, advantages: datum.tokens.map(() => 0) }));
  const silent = zeroed.map((datum) => ({ ...datum, weights: datum.tokens.map(() => 0) }));
  const steps = idle.map((loss) =>
    model.forwardBackward({ data: loss === 'cross_entropy' ? silent : zeroed, loss }, signal),
  );
  const step = model.optimStep({ learningRate: LEARNING_RATE }, signal);
  for (const [i, { done }] of steps.entries()) {
    const loss = lossIn((await done).metrics);
    if (loss !== undefined && !(Math.abs(loss) <= NO_GRADIENT * tokens))
      fail(
        `with no advantage anywhere, ${idle[i]} has the loss ${loss} instead of 0: the server computes another loss`,
      );
  }
  const gradientNorm = gradientNormIn(await step.done);
  if (gradientNorm !== undefined && !(gradientNorm <= NO_GRADIENT))
    fail(`with no advantage anywhere, the gradient has the norm ${gradientNorm} instead of 0`);
  const after = await forward();
  const drift = compare(trained, after, options.prompt.length).maxDifference;
  if (!(drift <= tolerance.drift))
    fail(
      `a step with no advantage anywhere moved log-probabilities by up to ${drift.toPrecision(3)} ` +
        `(allowed ${tolerance.drift}): the server computes another loss`,
    );

  const given: Partial<Record<LossKind, number>> = {};
  for (const loss of losses) {
    const likelier = data.map((datum, i) => ({
      ...datum,
      advantages: datum.weights,
      // As if each token had been half as likely when sampled: there all losses have different values.
      logprobs: (after[i] ?? []).map((p, t) => (datum.weights[t] === 0 ? 0 : p - Math.log(RATIO))),
    }));
    const { metrics, logprobs } = await model.forward({ data: likelier, loss }, signal);
    const value = lossIn(metrics);
    if (value === undefined)
      log(`${loss}: the server does not report the loss, so only its gradient was tested`);
    else {
      given[loss] = value;
      const wrong = checkLoss({
        loss,
        value,
        reduction,
        logprobs,
        weights: data.map(({ weights }) => weights),
      });
      if (wrong !== undefined) fail(wrong);
    }
  }
  return { kl, maxDifference, tokens, drift, gradientNorm, losses: given };
}

/** New samples as data: sampled tokens have weight 1. */
async function sampleData({ sampler, prompt, signal }: SelfTestOptions): Promise<{
  readonly data: readonly TrainDatum[];
  readonly sampled: readonly (readonly number[])[];
}> {
  const request = { prompt, count: SAMPLES, maxTokens: SAMPLE_TOKENS, temperature: 1, stop: [], seed: 1 };
  const sequences = (await sampler.sample(request, signal)).filter(({ tokens }) => tokens.length > 0);
  if (sequences.length === 0) fail('the sampler answered with no tokens at all');
  const data = sequences.map(({ tokens, logprobs }): TrainDatum => {
    const full = [...prompt, ...tokens];
    const blank = prompt.slice(1).map(() => 0);
    return {
      tokens: full.slice(0, -1),
      targets: full.slice(1),
      weights: [...blank, ...tokens.map(() => 1)],
      advantages: [...blank, ...tokens.map(() => 0)],
      logprobs: [...blank, ...logprobs],
    };
  });
  return { data, sampled: data.map(({ logprobs }) => logprobs ?? []) };
}

function compare(a: readonly (readonly number[])[], b: readonly (readonly number[])[], promptLength: number) {
  let maxDifference = 0;
  let kl = 0;
  let tokens = 0;
  a.forEach((row, i) => {
    row.forEach((q, t) => {
      if (t < promptLength - 1) return;
      const apart = (b[i]?.[t] ?? Number.NaN) - q;
      // Math.max propagates NaN, which then fails the check.
      maxDifference = Math.max(maxDifference, Math.abs(apart));
      kl += Math.exp(apart) - 1 - apart;
      tokens++;
    });
  });
  return { maxDifference, kl: tokens === 0 ? 0 : kl / tokens, tokens };
}

function gradientNormIn(metrics: Readonly<Record<string, number>>): number | undefined {
  const name = Object.keys(metrics).find((one) => /grad(ient)?_?norm/i.test(one) && !/clip/i.test(one));
  return name === undefined ? undefined : metrics[name];
}

function fail(detail: string): never {
  throw new TrainingError('server', `self-test: ${detail}`);
}
