import type { Answer, Ask, Cost, Question } from '../../core/learn.ts';
import type { Vote } from './judge-question.ts';

/** The votes by kind. `spoiled`: unusable replies. */
export interface VoteCount {
  readonly success: number;
  readonly failure: number;
  readonly unclear: number;
  readonly spoiled: number;
}

export interface Counted {
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
export async function countVotes(
  ask: Ask,
  question: Question<Vote>,
  votes: number,
  signal: AbortSignal,
): Promise<Counted> {
  const needed = Math.floor(votes / 2) + 1;
  const answers: Answer<Vote>[] = [];
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

function isSettled(answers: readonly Answer<Vote>[], votes: number, needed: number): boolean {
  const { success, failure } = tally(answers);
  const most = Math.max(success, failure);
  return most >= needed || most + votes - answers.length < needed || interruptionOf(answers) !== undefined;
}

const interruptionOf = (answers: readonly Answer<Vote>[]): string | undefined => {
  const broken = answers.find((answer) => !answer.ok && answer.isRetryable);
  return broken === undefined || broken.ok ? undefined : broken.why;
};

function tally(answers: readonly Answer<Vote>[]): VoteCount {
  const castFor = (score: number): number =>
    answers.filter((answer) => answer.ok && answer.value.score === score).length;
  return {
    success: castFor(1),
    failure: castFor(-1),
    unclear: castFor(0),
    spoiled: answers.filter(({ ok }) => !ok).length,
  };
}

const totalOf = (answers: readonly Answer<Vote>[]): Cost =>
  answers.reduce(
    (sum, { cost }) => ({
      calls: sum.calls + cost.calls,
      inputTokens: sum.inputTokens + cost.inputTokens,
      outputTokens: sum.outputTokens + cost.outputTokens,
      usd: sum.usd + cost.usd,
    }),
    { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
  );
