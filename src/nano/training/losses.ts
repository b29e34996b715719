import type { Batch, Datum, LossName } from '../engine.ts';

/** One token's contribution to the loss; `slope` is the derivative with respect to its log-probability. */
export interface TokenLoss {
  readonly loss: number;
  readonly slope: number;
  /** The probability of the target now, divided by that when it was sampled; 1 where nothing was sampled. */
  readonly ratio: number;
  readonly isClipped: boolean;
}

/** p is the log-probability now, q the one when it was sampled. */
type Rule = (p: number, q: number, advantage: number, low: number, high: number) => TokenLoss;

const DEFAULT_CLIP = { low: 0.8, high: 1.2 };
/** A token that does not count. */
export const NOTHING: TokenLoss = { loss: 0, slope: 0, ratio: 1, isClipped: false };

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

const RULES: Readonly<Record<Exclude<LossName, 'cross_entropy'>, Rule>> = {
  importance_sampling: (p, q, advantage) => {
    const ratio = Math.exp(p - q);
    return { loss: -ratio * advantage, slope: -ratio * advantage, ratio, isClipped: false };
  },
  ppo: (p, q, advantage, low, high) => {
    const ratio = Math.exp(p - q);
    const free = ratio * advantage;
    const clipped = clamp(ratio, low, high) * advantage;
    const isClipped = clipped < free;
    return { loss: -Math.min(free, clipped), slope: isClipped ? 0 : -free, ratio, isClipped };
  },
  cispo: (p, q, advantage, low, high) => {
    const ratio = Math.exp(p - q);
    const weight = clamp(ratio, low, high);
    return { loss: -weight * p * advantage, slope: -weight * advantage, ratio, isClipped: weight !== ratio };
  },
};

/** The loss per token; `weights` scale it, and a weight of 0 masks a token out. */
export const tokenLoss = ({ loss, clip }: Batch): ((p: number, datum: Datum, index: number) => TokenLoss) => {
  if (loss === 'cross_entropy') {
    return (p, { weights }, index) => {
      const weight = weights === undefined ? 1 : (weights[index] ?? 0);
      return weight === 0 ? NOTHING : { loss: -p * weight, slope: -weight, ratio: 1, isClipped: false };
    };
  }
  const rule = RULES[loss];
  const { low, high } = clip ?? DEFAULT_CLIP;
  return (p, { weights, advantages, logprobs }, index) => {
    const weight = weights === undefined ? 1 : (weights[index] ?? 0);
    const advantage = advantages?.[index] ?? 0;
    // Prompt tokens have no advantage and meaningless log-probabilities: their ratio must not enter the metrics.
    if (weight === 0 || advantage === 0) return NOTHING;
    const token = rule(p, logprobs?.[index] ?? 0, advantage, low, high);
    return { ...token, loss: weight * token.loss, slope: weight * token.slope };
  };
};
