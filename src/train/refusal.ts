/** Why something is not trained on. The name is for counting, the words are for people. */
export interface Refusal {
  readonly refused: RefusalName;
  readonly why: string;
}

export type RefusalName =
  /** Not attempts at one task, by one policy, under one generation. */
  | 'mixed-task'
  | 'mixed-policy'
  | 'mixed-generation'
  /** One attempt has nothing to be compared with. */
  | 'too-few'
  /** Tokens without log-probabilities of their own, or rewards that are no numbers. */
  | 'unusable-rollout'
  /** Made under prompts that are no longer shown. */
  | 'other-generation'
  /** By weights that are too many steps old, or that are not an ancestor of those in training. */
  | 'stale-policy'
  /** Weights have learned from it. */
  | 'trained-before'
  /** The engine lacks the loss. */
  | 'unknown-loss'
  /** What was sampled does not fit to what is trained. */
  | 'diverged'
  /** A number that is none came back. */
  | 'not-finite';

export const refuse = (refused: RefusalName, why: string): Refusal => ({ refused, why });

export const isRefusal = (value: object): value is Refusal => 'refused' in value;
