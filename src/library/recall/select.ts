import type { Lesson } from '../../core/lesson.ts';
import type { Considered, Recalled, Verdict } from '../../core/recall.ts';
import { THRESHOLD } from './relevance.ts';

/** A lesson that may be shown, with what speaks for it. */
export interface Candidate {
  readonly lesson: Lesson;
  readonly slot: number;
  readonly relevance: number;
  readonly activation: number;
  /** Pinned or proven: age does not hide it. */
  readonly isKept: boolean;
  /** Belongs to the domain's block, which goes first. */
  readonly isGuideline: boolean;
  /** Shown because its domain was named, not because it fits the words. */
  readonly isDue: boolean;
  readonly isInScope: boolean;
}

export interface Limits {
  /** Lessons shown or held out. */
  readonly topK: number;
  readonly tokenBudget: number;
}

/** What the choice asks of others. */
export interface Ways {
  readonly isHeldOut: (lessonId: string) => boolean;
  /** Whether two slots say nearly the same. */
  readonly areAlike: (slot: number, other: number) => boolean;
}

/** How much activation may move a lesson past another one: less than what one can tell two relevances apart by. */
const NEAR_TIE = 0.05;
/** Forgotten lessons must fit by this much more than fresh ones. */
const AGE_MARGIN = 0.15;
const MOST_CONSIDERED = 20;
/** English with some code has 3.6 characters to a token or a little more: an estimate that rather counts too many. */
const CHARACTERS_PER_TOKEN = 3.6;

/** The size of a lesson as prompts show it. */
export function tokensOf({ text }: Lesson): number {
  const rendered = `### ${text.name}\n_${text.description}_\n\n${text.content}`;
  return Math.ceil(rendered.length / CHARACTERS_PER_TOKEN);
}

/** Relevance decides; activation only between what is as good as equal, and at the threshold. */
export function select(
  candidates: readonly Candidate[],
  { topK, tokenBudget }: Limits,
  { isHeldOut, areAlike }: Ways,
): Pick<Recalled, 'lessons' | 'heldOut' | 'considered'> {
  const taken: Candidate[] = [];
  const verdicts = new Map<Candidate, Verdict>();
  let tokens = 0;
  const judge = (candidate: Candidate): Verdict => {
    const { lesson, slot, relevance, activation, isKept, isDue } = candidate;
    if (!candidate.isInScope) return 'out-of-scope';
    if (relevance < THRESHOLD && !isDue) return 'not-relevant';
    if (!isKept && !isDue && relevance < THRESHOLD + AGE_MARGIN * (1 - activation)) return 'hidden-by-age';
    if (taken.some((other) => areAlike(other.slot, slot))) return 'near-duplicate';
    if (taken.length >= topK) return 'over-limit';
    if (tokens + tokensOf(lesson) > tokenBudget) return 'over-budget';
    taken.push(candidate);
    tokens += tokensOf(lesson);
    return isHeldOut(lesson.id) ? 'held-out' : 'shown';
  };
  for (const candidate of [...candidates].sort(byRank)) verdicts.set(candidate, judge(candidate));

  const withVerdict = (verdict: Verdict): readonly Candidate[] =>
    taken.filter((candidate) => verdicts.get(candidate) === verdict);
  const shown = withVerdict('shown');
  const heldOut = withVerdict('held-out');
  const rest = candidates.filter((candidate) => !taken.includes(candidate)).sort(byRelevance);
  return {
    lessons: [...shown].sort(byPlace).map(({ lesson }) => lesson),
    heldOut: heldOut.map(({ lesson }) => lesson.id).sort(),
    considered: [...shown, ...heldOut, ...rest]
      .slice(0, Math.max(MOST_CONSIDERED, taken.length))
      .map((candidate) => considered(candidate, verdicts.get(candidate) ?? 'not-relevant')),
  };
}

const rankOf = ({ relevance, activation }: Candidate): number => relevance + NEAR_TIE * activation;
const byId = (a: Candidate, b: Candidate): number => (a.lesson.id < b.lesson.id ? -1 : 1);
const byRank = (a: Candidate, b: Candidate): number =>
  Number(b.isGuideline) - Number(a.isGuideline) || rankOf(b) - rankOf(a) || byId(a, b);
const byRelevance = (a: Candidate, b: Candidate): number => b.relevance - a.relevance || byId(a, b);
/** By id within a block: the same lessons are the same bytes, whatever was asked. */
const byPlace = (a: Candidate, b: Candidate): number =>
  Number(b.isGuideline) - Number(a.isGuideline) || byId(a, b);

const considered = ({ lesson, relevance, activation }: Candidate, verdict: Verdict): Considered => ({
  id: lesson.id,
  revision: lesson.revision,
  name: lesson.text.name,
  relevance,
  activation,
  verdict,
});
