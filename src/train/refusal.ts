/** Why something is not trained on: a name for counting, a text for people. */
export interface Refusal {
  readonly refused: RefusalName;
  readonly why: string;
}

export type RefusalName =
  /** The attempts are not all at one task, by one policy, under one generation. */
  | 'mixed-task'
  | 'mixed-policy'
  | 'mixed-generation'
  /** A single attempt has nothing to be compared with. */
  | 'too-few'
  /** Sampled tokens without log-probabilities, or a reward that is not a number. */
  | 'unusable-rollout'
  /** Made under the prompts of another generation. */
  | 'other-generation'
  /** Sampled by weights that are too many updates old, or that are not an ancestor of those in training. */
  | 'stale-policy'
  /** The run has already trained on it. */
  | 'trained-before'
  /** The engine does not have the loss. */
  | 'unknown-loss'
  /** Sampler and trainer disagree about the sampled tokens. */
  | 'diverged'
  /** The engine returned NaN or infinity. */
  | 'not-finite';

export const refuse = (refused: RefusalName, why: string): Refusal => ({ refused, why });

export const isRefusal = (value: object): value is Refusal => 'refused' in value;
