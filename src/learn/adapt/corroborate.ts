import type { CandidateDraft, LearningRecord } from '../../core/adapt.ts';

export const PASS_SCORE = 60;
/** The most that a candidate can have which no other record supports. */
const WITHOUT_MATCH = 45;
const SHARE_OF_MEAN = 0.85;
const FOR_EACH_MATCH = 5;
const MOST_FOR_MATCHES = 15;

export interface Corroboration {
  readonly matches: number;
  /** The mean score of the matches; 0 without one. */
  readonly mean: number;
  /** 0 to 100. */
  readonly score: number;
  readonly passes: boolean;
}

/**
 * The score of a candidate by records that it was not drafted from: those of its label and scope, and of its principal and key. A
 * session has one vote a day: whoever provokes a failure four times has seen it once. The draft's own session had its vote on the draft's day.
 */
export function corroborate(
  draft: Pick<CandidateDraft, 'scope' | 'sourceLabel' | 'records' | 'score' | 'member' | 'key'>,
  records: readonly LearningRecord[],
): Corroboration {
  const used = new Set(draft.records);
  const alike = records.filter(
    ({ sourceLabel, scope, member, key }) =>
      sourceLabel === draft.sourceLabel &&
      scope.type === draft.scope.type &&
      scope.id === draft.scope.id &&
      member === draft.member &&
      (draft.key === undefined || key === draft.key),
  );
  const voted = new Set(alike.filter(({ id }) => used.has(id)).map(voteOf));
  const scores: number[] = [];
  for (const record of alike) {
    if (used.has(record.id)) continue;
    const vote = voteOf(record);
    if (voted.has(vote)) continue;
    voted.add(vote);
    scores.push(record.score);
  }
  return scoreOf(scores, draft.score);
}

/** `min(100, mean * 0.85 + min(15, 5 * matches))`; without a match at most 45, which fails. */
export function scoreOf(scores: readonly number[], own: number): Corroboration {
  const matches = scores.length;
  if (matches === 0) return { matches, mean: 0, score: Math.min(WITHOUT_MATCH, own), passes: false };
  const mean = scores.reduce((sum, one) => sum + one, 0) / matches;
  const score = Math.min(100, mean * SHARE_OF_MEAN + Math.min(MOST_FOR_MATCHES, FOR_EACH_MATCH * matches));
  return { matches, mean, score, passes: score >= PASS_SCORE };
}

const DAY_MS = 86_400_000;
/** Records without a session are votes of the key that reported them: else one caller could have any number. */
const voteOf = ({ session, by = '', at }: LearningRecord): string =>
  `${session === undefined ? `key ${by}` : `session ${session}`} ${Math.floor(at / DAY_MS)}`;
