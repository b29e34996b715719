import type { Lesson } from '../../core/lesson.ts';
import type { ConsideredLesson, RecallOutcome, RecallResult } from '../../core/recall.ts';
import { CHARACTERS_PER_TOKEN } from '../../text/estimate-tokens.ts';
import type { RecallCandidate } from './find-candidates.ts';
import { relevanceOf } from './find-candidates.ts';

export interface RecallLimits {
  /** Lessons shown or held out. */
  readonly topK: number;
  readonly tokenBudget: number;
}

/** Functions that the selection needs. */
export interface SelectionContext {
  readonly isHeldOut: (lessonId: string) => boolean;
  /** Whether two slots are near-duplicates. */
  readonly areAlike: (slot: number, other: number) => boolean;
}

/** Next to a much better lesson another one is dropped: it must come near the best evidence, or have half of it. */
const NEAR_BEST = 1.5;
const HALF_OF_BEST = 0.5;
/** How far activation may move a lesson past another: less than a meaningful difference of evidence. */
const NEAR_TIE = 0.5;
/** The additional evidence that a lesson without activation needs. */
const AGE_MARGIN = 0.75;
const MOST_CONSIDERED = 20;

/** An estimate of a lesson's size in a prompt. */
export function estimateLessonTokens({ text }: Lesson): number {
  const rendered = `### ${text.name}\n_${text.description}_\n\n${text.content}`;
  return Math.ceil(rendered.length / CHARACTERS_PER_TOKEN);
}

/**
 * Ranks by evidence; activation decides only between nearly equal lessons and at the threshold. A held-out lesson takes
 * its place in the budget, so that the other lessons do not depend on the hold-out.
 */
export function selectLessons(
  candidates: readonly RecallCandidate[],
  { topK, tokenBudget }: RecallLimits,
  { isHeldOut, areAlike }: SelectionContext,
): Pick<RecallResult, 'lessons' | 'heldOut' | 'considered'> {
  const open = candidates.filter((candidate) => candidate.isInScope);
  const best = Math.max(...open.map(({ evidence }) => evidence));
  const taken: RecallCandidate[] = [];
  let tokens = 0;
  const twins = new Map<RecallCandidate, string>();
  const judge = (candidate: RecallCandidate): RecallOutcome => {
    const { lesson, slot, evidence, activation, isKept, isDue } = candidate;
    if (candidate.isPrivate) return 'private';
    if (!candidate.isInScope) return 'out-of-scope';
    if (!isDue && evidence < Math.max(0, Math.min(best - NEAR_BEST, best * HALF_OF_BEST)))
      return 'not-relevant';
    if (!isDue && !isKept && evidence < AGE_MARGIN * (1 - activation)) return 'hidden-by-age';
    const twin = taken.find((other) => areAlike(other.slot, slot));
    if (twin !== undefined) {
      twins.set(candidate, twin.lesson.id);
      return 'near-duplicate';
    }
    if (taken.length >= topK) return 'over-limit';
    if (tokens + estimateLessonTokens(lesson) > tokenBudget) return 'over-budget';
    taken.push(candidate);
    tokens += estimateLessonTokens(lesson);
    return isHeldOut(lesson.id) ? 'held-out' : 'shown';
  };
  const judged = [...candidates].sort(byRank).map((candidate) => ({ candidate, verdict: judge(candidate) }));
  const withVerdict = (verdict: RecallOutcome): readonly RecallCandidate[] =>
    judged.filter((one) => one.verdict === verdict).map((one) => one.candidate);
  return {
    lessons: [...withVerdict('shown')].sort(byPlace).map(({ lesson }) => lesson),
    heldOut: withVerdict('held-out')
      .map(({ lesson }) => lesson.id)
      .sort(),
    considered: [...judged]
      .sort((a, b) => interest(a.verdict) - interest(b.verdict) || byEvidence(a.candidate, b.candidate))
      .slice(0, Math.max(MOST_CONSIDERED, taken.length))
      .map(({ candidate, verdict }) => considered(candidate, verdict, twins.get(candidate))),
  };
}

const interest = (verdict: RecallOutcome): number =>
  verdict === 'shown' ? 0 : verdict === 'held-out' ? 1 : 2;
const rankOf = ({ evidence, activation }: RecallCandidate): number => evidence + NEAR_TIE * activation;
const byId = (a: RecallCandidate, b: RecallCandidate): number => (a.lesson.id < b.lesson.id ? -1 : 1);
const byRank = (a: RecallCandidate, b: RecallCandidate): number =>
  Number(b.isGuideline) - Number(a.isGuideline) || rankOf(b) - rankOf(a) || byId(a, b);
const byEvidence = (a: RecallCandidate, b: RecallCandidate): number => b.evidence - a.evidence || byId(a, b);
/** By id within a block: the same lessons give the same bytes for every query. */
const byPlace = (a: RecallCandidate, b: RecallCandidate): number =>
  Number(b.isGuideline) - Number(a.isGuideline) || byId(a, b);

const considered = (
  { lesson, evidence, activation }: RecallCandidate,
  verdict: RecallOutcome,
  of: string | undefined,
): ConsideredLesson => ({
  id: lesson.id,
  revision: lesson.revision,
  name: lesson.text.name,
  relevance: relevanceOf(evidence),
  activation,
  verdict,
  ...(of === undefined ? {} : { of }),
});
