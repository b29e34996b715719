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
  /** The number of votes; more than half must agree. */
  readonly votes?: number;
  readonly cache?: RulingCache;
  /** Part of the cache key, for a cache that outlives the model. */
  readonly model?: string;
  /** Decides whether the judge is trusted; without it, it is. */
  readonly calibration?: Calibration;
}

/** The caller records it, unless its weight is 0. */
export interface JudgeReward {
  readonly source: 'judge';
  /** −1 to 1; nearer to 0 the less the votes agree. */
  readonly score: number;
  readonly note: string;
  /** 0 when calibration shows that the judge disagrees with people and verifiers: shown, but not counted. */
  readonly weight: 0 | 1;
}

export type Ruling =
  | {
      readonly kind: 'ruled';
      readonly reward: JudgeReward;
      /** Absent when the ruling came from the cache. */
      readonly votes?: VoteCount;
      readonly cost: Cost;
    }
  /** Split, unclear or not answered: no reward. `isRetryable`: the same question may succeed later. */
  | {
      readonly kind: 'unknown';
      readonly why: string;
      readonly isRetryable: boolean;
      readonly votes?: VoteCount;
      readonly cost: Cost;
    }
  /** The judge was not asked. */
  | { readonly kind: 'skipped'; readonly why: string };

/** Never rejects. */
export type Judge = (evidence: TurnEvidence, appraisal: Appraisal, signal: AbortSignal) => Promise<Ruling>;

const FREE: Cost = { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 };

/** Grades turns that no other evidence decides. */
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
  return async (evidence, appraisal, signal) => {
    const why = whyNot(evidence, appraisal);
    if (why !== undefined) return { kind: 'skipped', why };
    try {
      const sections = digestTurn(evidence, appraisal);
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
      // An unusable reply is not cached: the next one may be usable.
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
  if (majority === undefined) return { note: `no majority: ${fell}` };
  return { score: (success - failure) / (success + failure + unclear), note: reason };
}

/** Why the judge is not asked; undefined when it is. */
function whyNot({ role, given, reply, next }: TurnEvidence, { verdict }: Appraisal): string | undefined {
  if (role !== 'main') return `it is a ${role} turn, not the agent's own work`;
  if (verdict === 'infrastructure') return 'the turn failed for external reasons';
  if (reply.length === 0 && next === undefined) return 'there is nothing to judge';
  const spoke = given.find(({ source }) => source !== 'signal');
  if (spoke !== undefined) return `a ${spoke.source} has already scored it`;
  return verdict === 'ambiguous' ? undefined : `signals already decided it: ${verdict}`;
}
