import { createHash } from 'node:crypto';
import { createLruMap, type LruMap } from '../../base/lru-map.ts';
import type { Appraisal, TurnEvidence } from '../../core/evidence.ts';
import { type Answer, type Ask, addCost, type Cost, NO_COST, type Question } from '../../core/learn.ts';
import { isReading } from '../tools/shell-command.ts';
import { readCall } from '../tools/tool-call.ts';
import type { Calibration } from './calibration.ts';
import { digestTurn } from './digest-turn.ts';
import { type JudgeVote, judgeQuestion } from './judge-question.ts';

interface JudgeParts {
  readonly ask: Ask;
  /** The number of votes; more than half must agree. */
  readonly votes?: number;
  readonly cache?: RulingCache;
  /** Part of the cache key, for a cache that outlives the model. */
  readonly model?: string;
  /** Decides whether the judge is trusted; without it, it is. */
  readonly calibration?: Calibration;
}

interface JudgeReward {
  readonly source: 'judge';
  /** −1 to 1; nearer to 0 the less the votes agree, and halved while the judge was compared with too few words of people. */
  readonly score: number;
  readonly note: string;
}

export type JudgeRuling =
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
export type Judge = (
  evidence: TurnEvidence,
  appraisal: Appraisal,
  signal: AbortSignal,
) => Promise<JudgeRuling>;

/** Grades turns that no other evidence decides. */
export function createJudge(parts: JudgeParts): Judge {
  const votes = Math.max(1, Math.floor(parts.votes ?? 3));
  const cache = parts.cache ?? createRulingCache();
  const rule = (ruling: CachedRuling, cost: Cost, count: VoteCount | undefined): JudgeRuling => {
    const more = count === undefined ? { cost } : { cost, votes: count };
    if (ruling.score === undefined) return { kind: 'unknown', why: ruling.note, isRetryable: false, ...more };
    const score = ruling.score * (parts.calibration?.status().weight ?? 1);
    return { kind: 'ruled', reward: { source: 'judge', score, note: ruling.note }, ...more };
  };
  return async (evidence, appraisal, signal) => {
    const trust = parts.calibration?.status();
    const why = trust?.isTrusted === false ? trust.said : whyNot(evidence, appraisal);
    if (why !== undefined) return { kind: 'skipped', why };
    try {
      const sections = digestTurn(evidence, appraisal);
      const question = judgeQuestion(sections, votes === 1 ? 0 : 0.6);
      const key = keyOf([parts.model ?? '', votes, question.system, question.user]);
      const cached = cache.get(key);
      if (cached !== undefined) return rule(cached, NO_COST, undefined);
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
      if (ruling.score !== undefined || counted.count.spoiled === 0) cache.set(key, ruling);
      return rule(ruling, counted.cost, counted.count);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { kind: 'unknown', why: `judging failed: ${message}`, isRetryable: true, cost: NO_COST };
    }
  };
}

const keyOf = (asked: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(asked)).digest('hex');

function rulingOf({ count, majority, reason }: VoteResult): CachedRuling {
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
  if (!hasMaterial(reply, next)) return 'it only reads, and nobody has said anything about it';
  const spoke = given.find(({ source }) => source !== 'signal');
  if (spoke !== undefined)
    return `${spoke.source === 'chat' ? 'the chat' : `a ${spoke.source}`} has already scored it`;
  return verdict === 'ambiguous' ? undefined : `signals already decided it: ${verdict}`;
}

/** A turn that looked at files and went on has no outcome yet. */
function hasMaterial(reply: TurnEvidence['reply'], next: TurnEvidence['next']): boolean {
  const calls = reply.flatMap((part) => (part.type === 'tool-call' ? [readCall(part)] : []));
  if (calls.length === 0 || next?.user !== undefined) return true;
  return !calls.every(
    ({ kind, programs }) =>
      kind === 'read' || kind === 'search' || (programs.length > 0 && programs.every(isReading)),
  );
}

/**
 * What a judge may see of a turn that somebody else has scored, to compare it with them: neither their score nor their words
 * nor the signs that were read from them.
 */
export function blindEvidence(
  evidence: TurnEvidence,
  { turn, source, digests }: Appraisal,
): readonly [TurnEvidence, Appraisal] {
  const { next, ...rest } = evidence;
  const blindNext = next === undefined || source === 'chat' ? next && { tools: next.tools } : next;
  return [
    { ...rest, given: [], ...(blindNext === undefined ? {} : { next: blindNext }) },
    { turn, verdict: 'ambiguous', signals: [], digests },
  ];
}

/** The votes by kind. `spoiled`: unusable replies. */
interface VoteCount {
  readonly success: number;
  readonly failure: number;
  readonly unclear: number;
  readonly spoiled: number;
}

interface VoteResult {
  readonly count: VoteCount;
  /** The side with more than half of all votes; absent when neither has that. */
  readonly majority?: 1 | -1;
  /** The reason of a vote for the majority, else of any vote. */
  readonly reason: string;
  /** Why voting stopped early: the model was unavailable, or the budget is spent. */
  readonly interrupted?: string;
  readonly cost: Cost;
}

/**
 * Repeats the question until one side has more than half of all votes or none can reach it. The votes that a majority
 * needs are asked in parallel, the rest one by one, so that a clear case costs no more than necessary.
 */
async function countVotes(
  ask: Ask,
  question: Question<JudgeVote>,
  votes: number,
  signal: AbortSignal,
): Promise<VoteResult> {
  const needed = Math.floor(votes / 2) + 1;
  const answers: Answer<JudgeVote>[] = [];
  while (answers.length < votes && !isSettled(answers, votes, needed)) {
    const batch = answers.length === 0 ? needed : 1;
    answers.push(...(await Promise.all(Array.from({ length: batch }, () => ask(question, signal)))));
  }
  const count = tally(answers);
  const majority = count.success >= needed ? 1 : count.failure >= needed ? -1 : undefined;
  const cast = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  const reason = cast.find(({ score }) => score === (majority ?? score))?.reason ?? '';
  const why = majority === undefined ? interruptionOf(answers) : undefined;
  return {
    count,
    ...(majority === undefined ? {} : { majority }),
    reason,
    ...(why === undefined ? {} : { interrupted: why }),
    cost: totalOf(answers),
  };
}

function isSettled(answers: readonly Answer<JudgeVote>[], votes: number, needed: number): boolean {
  const { success, failure } = tally(answers);
  const most = Math.max(success, failure);
  return most >= needed || most + votes - answers.length < needed || interruptionOf(answers) !== undefined;
}

const interruptionOf = (answers: readonly Answer<JudgeVote>[]): string | undefined => {
  const broken = answers.find((answer) => !answer.ok && answer.isRetryable);
  return broken === undefined || broken.ok ? undefined : broken.why;
};

function tally(answers: readonly Answer<JudgeVote>[]): VoteCount {
  const castFor = (score: number): number =>
    answers.filter((answer) => answer.ok && answer.value.score === score).length;
  return {
    success: castFor(1),
    failure: castFor(-1),
    unclear: castFor(0),
    spoiled: answers.filter(({ ok }) => !ok).length,
  };
}

const totalOf = (answers: readonly Answer<JudgeVote>[]): Cost =>
  answers.reduce((sum, { cost }) => addCost(sum, cost), NO_COST);

/** A judge's ruling on some content; without a score when it was undecided. */
interface CachedRuling {
  readonly score?: number;
  readonly note: string;
}

/** Keyed by the hash of the judged content. Evicted content is judged again. */
type RulingCache = Pick<LruMap<string, CachedRuling>, 'get' | 'set'>;

export const createRulingCache = (): RulingCache => createLruMap(1000);
