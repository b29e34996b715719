import type { IdentityRuling } from '../../evidence/judge/identity-judge.ts';
import type { RewardWeights } from '../../evidence/shape-reward.ts';

/** Says how far replies keep lines. `model` is its source, for the record. */
export interface IdentityJudge {
  readonly model: string;
  /** Undefined when it has no answer. */
  rule(
    lines: readonly string[],
    task: string,
    reply: string,
    sessions: readonly string[],
    signal: AbortSignal,
  ): Promise<IdentityRuling | undefined>;
}

/** What rewards of attempts are made of, besides the task's own. */
export interface RewardShaping {
  readonly weights: RewardWeights;
  /** Absent: how far an answer keeps the identity does not count. */
  readonly judge?: IdentityJudge | undefined;
  /** The lines of an agent's core, and those that the judge is shown. */
  readonly core: (agent: string | undefined) => readonly string[];
  readonly judged: (agent: string | undefined) => readonly string[];
}
