import type { FailureCase, Proposal } from '../../core/learn.ts';
import type { Evidence, Lesson, Quote } from '../../core/lesson.ts';
import { rankFailures } from '../weigh-failures.ts';

/** In `why` of a refusal: nothing is wrong with it, it has only been seen too seldom. The failures go on waiting. */
export const NEEDS_ANOTHER_SESSION = 'needs another session';

const MOST_TURNS = 64;
const MOST_QUOTES = 64;
const FEWEST_SESSIONS = 2;

export interface EvidenceRules {
  /** The day that a moment belongs to. */
  readonly voteDay: (at: number) => string;
  /** Where a passage of a turn stands in what was recorded. */
  readonly locate?: (turn: string, text: string) => Promise<Quote | undefined>;
}

export type Weighed =
  | { readonly refusal: string }
  | {
      readonly evidence: Evidence;
      /** The failures that speak for it, one of each session and day first. */
      readonly cited: readonly FailureCase[];
      /** Only guessed, and seen in one session: for a person to weigh. */
      readonly isSeldom: boolean;
    };

/**
 * What a proposal really rests on: failures among those that were looked at, with quotes that were really said. A verifier
 * or a person is believed once; what was only guessed must have happened in two sessions, and a session has one vote a
 * day however often it failed.
 */
export async function weighEvidence(
  { change: { text }, quotes }: Proposal,
  cases: readonly FailureCase[],
  old: Lesson | undefined,
  { voteDay, locate }: EvidenceRules,
  mayBeSeldom: boolean,
): Promise<Weighed> {
  const named = new Set(text.evidence.turns);
  const spoken = quotes.filter(({ turn, text: said }) => isSaid(said, turn, cases));
  const isMadeUp = (turn: string): boolean =>
    quotes.some((quote) => quote.turn === turn) && !spoken.some((quote) => quote.turn === turn);
  const known = cases.filter(({ turn }) => named.has(turn));
  const cited = rankFailures(known).filter(
    ({ turn, appraisal }) => appraisal.verdict === 'failure' && !isMadeUp(turn),
  );
  if (known.length === 0) return { refusal: 'it rests on none of the failures that were looked at' };
  if (cited.length === 0)
    return {
      refusal: known.some(({ turn }) => isMadeUp(turn))
        ? 'it rests on quotes that nobody said'
        : 'nothing that it rests on was a failure',
    };
  const votes = new Map<string, FailureCase>();
  for (const failure of cited) {
    const vote = `${failure.session}\n${voteDay(failure.at)}`;
    if (!votes.has(vote)) votes.set(vote, failure);
  }
  const isTold = cited.some(({ source }) => source === 'person' || source === 'verifier');
  const sessions = new Set([...votes.values()].map(({ session }) => session));
  const isSeldom = !isTold && sessions.size < FEWEST_SESSIONS;
  if (isSeldom && !mayBeSeldom) return { refusal: NEEDS_ANOTHER_SESSION };

  const firsts = [...votes.values()];
  const ranked = [...firsts, ...cited.filter((failure) => !firsts.includes(failure))];
  const earlier = old?.text.evidence;
  const turns = new Set([...ranked.map(({ turn }) => turn).slice(0, MOST_TURNS), ...(earlier?.turns ?? [])]);
  const kept = new Set([...turns].slice(0, MOST_TURNS));
  const placed = await placeQuotes(
    spoken.filter(({ turn }) => ranked.some((failure) => failure.turn === turn)),
    locate,
  );
  const quoted = [...placed, ...(earlier?.quotes ?? [])].filter(({ turn }) => kept.has(turn));
  const { learner, model, prompt } = text.evidence;
  return {
    cited: ranked,
    isSeldom,
    evidence: {
      turns: [...kept],
      quotes: quoted.slice(0, MOST_QUOTES),
      learner,
      ...(model === undefined ? {} : { model }),
      ...(prompt === undefined ? {} : { prompt }),
    },
  };
}

const isSaid = (said: string, turn: string, cases: readonly FailureCase[]): boolean =>
  said.trim() !== '' &&
  cases.some(
    (failure) =>
      failure.turn === turn &&
      (failure.task.includes(said) || failure.passages.some(({ text }) => text.includes(said))),
  );

async function placeQuotes(
  quotes: Proposal['quotes'],
  locate: EvidenceRules['locate'],
): Promise<readonly Quote[]> {
  if (locate === undefined) return [];
  const placed: Quote[] = [];
  for (const { turn, text } of quotes.slice(0, MOST_QUOTES)) {
    const quote = await locate(turn, text);
    if (quote !== undefined) placed.push(quote);
  }
  return placed;
}
