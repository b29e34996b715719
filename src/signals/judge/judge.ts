import { createHash } from 'node:crypto';
import type { Appraisal, TurnEvidence } from '../../core/evidence.ts';
import type { Ask, Cost } from '../../core/learn.ts';
import type { Calibration } from './calibration.ts';
import { type Counted, countVotes, type VoteCount } from './count-votes.ts';
import { digestTurn } from './digest-turn.ts';
import { judgeQuestion } from './judge-question.ts';
import { type CachedRuling, createRulingCache, type RulingCache } from './ruling-cache.ts';

export interface JudgeParts {
  readonly ask: Ask;
  /** How often the question is put; more than half must agree. */
  readonly votes?: number;
  readonly cache?: RulingCache;
  /** Whose rulings the cache holds, where it outlives the model. */
  readonly model?: string;
  /** Who says how far the judge can be trusted; without it: fully. */
  readonly calibration?: Calibration;
}

/** To be recorded by whoever asked for it, unless its weight is 0. */
export interface JudgeReward {
  readonly source: 'judge';
  /** −1 to 1; the less the votes agree, the nearer to 0. */
  readonly score: number;
  readonly note: string;
  /** 0 once the judge has been found not to agree with people and verifiers: such a reward is shown, not counted. */
  readonly weight: 0 | 1;
}

export type Ruling =
  | {
      readonly kind: 'ruled';
      readonly reward: JudgeReward;
      /** Absent when the same content was judged before. */
      readonly votes?: VoteCount;
      readonly cost: Cost;
    }
  /** Split, unclear, or not answered: no reward. `isRetryable`: the same question may do later. */
  | {
      readonly kind: 'unknown';
      readonly why: string;
      readonly isRetryable: boolean;
      readonly votes?: VoteCount;
      readonly cost: Cost;
    }
  /** There was nothing to ask a judge. */
  | { readonly kind: 'skipped'; readonly why: string };

export interface JudgeOptions {
  /** Judges a turn that others have spoken on, to see whether the judge agrees with them. */
  readonly isAudit?: boolean;
}

/** Never rejects. */
export type Judge = (
  evidence: TurnEvidence,
  appraisal: Appraisal,
  signal: AbortSignal,
  options?: JudgeOptions,
) => Promise<Ruling>;

const FREE: Cost = { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 };

/** Grades turns that nothing else decides. */
export function createJudge(parts: JudgeParts): Judge {
  const votes = Math.max(1, Math.floor(parts.votes ?? 3));
  const cache = parts.cache ?? createRulingCache();
  const rule = (ruling: CachedRuling, cost: Cost, count: VoteCount | undefined): Ruling => {
    const more = count === undefined ? { cost } : { cost, votes: count };
    if (ruling.score === undefined) return { kind: 'unknown', why: ruling.note, isRetryable: false, ...more };
    const trust = parts.calibration?.status();
    const isTrusted = trust?.isTrusted ?? true;
    const note = isTrusted ? ruling.note : `${ruling.note} (not counted: ${trust?.said})`;
    return {
      kind: 'ruled',
      reward: { source: 'judge', score: ruling.score, note, weight: isTrusted ? 1 : 0 },
      ...more,
    };
  };
  return async (evidence, appraisal, signal, { isAudit = false } = {}) => {
    const why = whyNot(evidence, appraisal, isAudit);
    if (why !== undefined) return { kind: 'skipped', why };
    try {
      const sections = digestTurn(evidence, isAudit ? { ...appraisal, signals: [] } : appraisal);
      const question = judgeQuestion(sections, votes === 1 ? 0 : 0.6);
      const key = keyOf([parts.model ?? '', votes, question.system, question.user]);
      const known = await cache.get(key);
      if (known !== undefined) return rule(known, FREE, undefined);
      const counted = await countVotes(parts.ask, question, votes, signal);
      if (counted.interrupted !== undefined || signal.aborted)
        return {
          kind: 'unknown',
          why: counted.interrupted ?? 'aborted',
          isRetryable: true,
          votes: counted.count,
          cost: counted.cost,
        };
      const ruling = rulingOf(counted);
      // A reply that could not be used may be a better one next time.
      if (ruling.score !== undefined || counted.count.spoiled === 0) await cache.set(key, ruling);
      return rule(ruling, counted.cost, counted.count);
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      return { kind: 'unknown', why: `judging failed: ${said}`, isRetryable: true, cost: FREE };
    }
  };
}

const keyOf = (asked: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(asked)).digest('hex');

function rulingOf({ count, majority, reason }: Counted): CachedRuling {
  const { success, failure, unclear, spoiled } = count;
  const fell = `${success} for success, ${failure} for failure, ${unclear} unclear, ${spoiled} unusable`;
  if (majority === undefined) return { note: `the votes do not decide it: ${fell}` };
  return { score: (success - failure) / (success + failure + unclear), note: reason };
}

/** Why a judge is not asked; undefined when it is. */
function whyNot(
  { role, given, reply, next }: TurnEvidence,
  { verdict }: Appraisal,
  isAudit: boolean,
): string | undefined {
  if (role !== 'main') return `it is not the agent's own work but a ${role} turn`;
  if (verdict === 'infrastructure') return 'something outside of the agent went wrong';
  if (reply.length === 0 && next === undefined) return 'there is nothing to judge';
  if (isAudit) return undefined;
  const spoke = given.find(({ source }) => source !== 'signal');
  if (spoke !== undefined) return `a ${spoke.source} has spoken on it`;
  return verdict === 'ambiguous' ? undefined : `it is known to be a ${verdict}`;
}
