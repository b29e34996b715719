import type { Scope } from './lesson.ts';

/**
 * How a rule fared in an answer that was given with it. `shown`: it has no check. `does-not-apply`: the answer has nothing that its check is
 * about. `told-again`: the person said the same rule although it was in force.
 */
export type RuleOutcome = 'shown' | 'does-not-apply' | 'kept' | 'broken' | 'told-again';

export interface RuleResult {
  readonly lesson: string;
  readonly revision: number;
  readonly outcome: RuleOutcome;
  /** The check comes from the words of the rule alone. */
  readonly isProvisional?: true;
  /** A command or a model is asked about this answer once there is time: the outcome is preliminary. */
  readonly isWaiting?: true;
  /** A model decided. */
  readonly isJudged?: true;
  /** It was in force without its words, since the weights kept it; said of breaks. */
  readonly isRemembered?: true;
  /** The outcome that the session had for this rule before: a session counts once for a rule. */
  readonly before?: Exclude<RuleOutcome, 'told-again'>;
}

/**
 * What an answer says about the rules that it was given with: only what is new in its session, and every break. Ids alone, no text of
 * people; without results once the session is erased. Part of the closed list of facts.
 */
export interface AdherenceFact {
  readonly type: 'rules-observed';
  readonly session: string;
  /** The last turn of the answer. */
  readonly turn: string;
  readonly results: readonly RuleResult[];
  /** Of a turn that was sampled from a policy in training: what its outcome is compared with. */
  readonly sampled?: { readonly generation: number; readonly scope: Scope };
}
