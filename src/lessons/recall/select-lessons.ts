import type { Lesson, LessonPlace, LessonText } from '../../core/lesson.ts';
import type { ConsideredLesson, RecallOutcome, RecallResult } from '../../core/recall.ts';
import { CHARACTERS_PER_TOKEN, estimateTokens } from '../../text/estimate-tokens.ts';
import type { HoldoutLot } from '../effect/hold-out.ts';
import { byPlaceInBlock, isOwnersAlone } from '../identity-tier.ts';
import { contentOf } from '../overlay-lessons.ts';
import { renderLine } from '../render-block.ts';
import type { RecallCandidate } from './find-candidates.ts';
import { NOTE_WEIGHTS, type RelevanceWeights, relevanceOf } from './relevance.ts';

export interface RecallLimits {
  /** Lessons shown with their bodies, or held out. */
  readonly topK: number;
  readonly tokenBudget: number;
  /** Lessons listed by one line each; absent: none. */
  readonly index?: { readonly lines: number; readonly tokens: number };
}

/** Functions that the selection needs. */
export interface SelectionContext {
  /** Whether a lesson is held out, and whether the session measures it. */
  readonly lotOf: (lessonId: string) => HoldoutLot;
  /** Whether two slots are near-duplicates. */
  readonly areAlike: (slot: number, other: number) => boolean;
  readonly weights: Pick<RelevanceWeights, 'listed' | 'fewer' | 'nearBest' | 'beside'>;
}

const HALF_OF_BEST = 0.5;
/** How far activation may move a lesson past another: less than a meaningful difference of evidence. */
const NEAR_TIE = 0.5;
/** The additional evidence that a lesson without activation needs. */
const AGE_MARGIN = 0.75;
const MOST_CONSIDERED = 20;
/**
 * What guidelines (skills, fragments) leave of places and tokens to experiences that clearly fit: else a library with many skills
 * would never show what happened. What experiences do not need, guidelines get back.
 */
const FOR_EXPERIENCES = 1 / 3;
/** Fragments of a block: the newest ones. */
const MOST_FRAGMENTS = 3;
/** For all identities of a block, besides the budget of the others. */
const IDENTITY_TOKENS = 600;

/** An estimate of a lesson's size in a prompt. */
export function estimateLessonTokens({ text }: Lesson): number {
  const rendered = `### ${text.name}\n_${text.description}_\n\n${contentOf(text)}`;
  return Math.ceil(rendered.length / CHARACTERS_PER_TOKEN);
}

/** By the text, which never changes. */
const knownLineTokens = new WeakMap<LessonText, number>();

function lineTokensOf(lesson: Lesson): number {
  const known = knownLineTokens.get(lesson.text);
  if (known !== undefined) return known;
  const tokens = estimateTokens(renderLine(lesson));
  knownLineTokens.set(lesson.text, tokens);
  return tokens;
}

/** A lesson of which no body is shown for one of these reasons may still be listed. */
const LISTABLE: ReadonlySet<RecallOutcome> = new Set([
  'not-relevant',
  'over-limit',
  'over-budget',
  'hidden-by-age',
]);

/**
 * Identities come first, then fragments. The others are ranked by evidence; activation, confidence and importance decide only between nearly
 * equal lessons, activation also at the threshold. Lessons that clearly fit are
 * shown with their bodies, the next ones by a line each. A held-out lesson takes its place in the budget, so that the other
 * lessons do not depend on the hold-out.
 */
export function selectLessons(
  candidates: readonly RecallCandidate[],
  { topK, tokenBudget, index = NO_INDEX }: RecallLimits,
  { lotOf, areAlike, weights }: SelectionContext,
): Pick<RecallResult, 'lessons' | 'index' | 'heldOut' | 'unmeasured' | 'considered'> {
  const open = candidates.filter((candidate) => candidate.isInScope);
  const best = Math.max(...open.map(({ evidence }) => evidence));
  /** The evidence that a body needs. */
  const enough =
    best < 0 ? 0 : Math.max(weights.beside, Math.min(best - weights.nearBest, best * HALF_OF_BEST));
  const taken: RecallCandidate[] = [];
  let tokens = 0;
  const kept = keptForExperiences(open, enough, topK, tokenBudget);
  const twins = new Map<RecallCandidate, string>();
  const isRepeated = (candidate: RecallCandidate): boolean => {
    const twin = taken.find((other) => areAlike(other.slot, candidate.slot));
    if (twin !== undefined) twins.set(candidate, twin.lesson.id);
    return twin !== undefined;
  };
  let identities = 0;
  let identityTokens = 0;
  /** An identity has a budget of its own; what the owner approved is never held out. */
  const judgeIdentity = (candidate: RecallCandidate): RecallOutcome => {
    const size = estimateLessonTokens(candidate.lesson);
    if (topK === 0) return 'over-limit';
    if (identityTokens + size > IDENTITY_TOKENS) return 'over-budget';
    taken.push(candidate);
    identities++;
    identityTokens += size;
    if (isOwnersAlone(candidate.lesson)) return 'shown';
    return lotOf(candidate.lesson.id) === 'held-out' ? 'held-out' : 'shown';
  };
  /** Only its links bring it. */
  const isAdded = ({ evidence, linked = evidence, isDue }: RecallCandidate): boolean =>
    !isDue && evidence < enough && linked >= enough;
  const judge = (candidate: RecallCandidate): RecallOutcome => {
    const { lesson, activation, isKept, isDue } = candidate;
    const evidence = isAdded(candidate) ? (candidate.linked ?? 0) : candidate.evidence;
    if (candidate.isPrivate) return 'private';
    if (!candidate.isInScope) return 'out-of-scope';
    if (!isDue && evidence < enough) return 'not-relevant';
    if (!isDue && !isKept && evidence < Math.min(enough, 0) + AGE_MARGIN * (1 - activation))
      return 'hidden-by-age';
    if (lesson.kind === 'identity') return judgeIdentity(candidate);
    // Fragments are alike where their frames are: what they say is short.
    if (!candidate.isFragment && isRepeated(candidate)) return 'near-duplicate';
    const size = estimateLessonTokens(lesson);
    const isLast = candidate.isGuideline && isReserved && candidate.isFragment !== true;
    if (taken.length - identities >= topK - (isLast ? kept.places : 0)) return 'over-limit';
    if (candidate.isFragment && taken.filter((one) => one.isFragment).length >= MOST_FRAGMENTS)
      return 'over-limit';
    if (tokens + size > tokenBudget - (isLast ? kept.tokens : 0)) return 'over-budget';
    taken.push(candidate);
    tokens += size;
    return lotOf(lesson.id) === 'held-out' ? 'held-out' : 'shown';
  };
  /** While experiences have not had their turn. */
  let isReserved = kept.places > 0;
  const inOrder = [...candidates].sort(byRank);
  const verdicts = new Map<RecallCandidate, RecallOutcome>();
  for (const one of inOrder.filter((candidate) => !isAdded(candidate))) verdicts.set(one, judge(one));
  const wasReserved = isReserved;
  isReserved = false;
  for (const [one, verdict] of verdicts)
    if (wasReserved && one.isGuideline && !isIdentity(one) && OUT_OF_ROOM.has(verdict))
      verdicts.set(one, judge(one));
  // What links add comes after all that fits by itself, and takes no room from it.
  for (const one of inOrder.filter(isAdded)) verdicts.set(one, judge(one));
  const ranked = inOrder.map((candidate) => ({
    candidate,
    verdict: verdicts.get(candidate) ?? ('not-relevant' as const),
  }));

  const bodies = taken.length;
  const floor = weights.listed - weights.fewer * Math.max(0, 1 - open.length / Math.max(1, index.lines));
  let lineTokens = 0;
  const list = (candidate: RecallCandidate, verdict: RecallOutcome): RecallOutcome => {
    const { lesson, evidence } = candidate;
    if (!LISTABLE.has(verdict) || evidence < floor) return verdict;
    // No bodies at all means no lessons at all.
    if (topK === 0 || taken.length - bodies >= index.lines) return verdict;
    if (isRepeated(candidate)) return 'near-duplicate';
    const size = lineTokensOf(lesson);
    if (lineTokens + size > index.tokens) return verdict;
    taken.push(candidate);
    lineTokens += size;
    return lotOf(lesson.id) === 'held-out' ? 'held-out' : 'listed';
  };
  const judged = ranked.map(({ candidate, verdict }) => ({ candidate, verdict: list(candidate, verdict) }));
  const withVerdict = (verdict: RecallOutcome): readonly RecallCandidate[] =>
    judged.filter((one) => one.verdict === verdict).map((one) => one.candidate);
  const unmeasured = taken
    .filter(({ lesson }) => isOwnersAlone(lesson) || lotOf(lesson.id) === 'unmeasured')
    .map(({ lesson }) => lesson.id);
  return {
    ...(unmeasured.length === 0 ? {} : { unmeasured }),
    lessons: [...withVerdict('shown')].sort(byPlace).map(({ lesson }) => lesson),
    index: withVerdict('listed').map(({ lesson }) => lesson),
    heldOut: withVerdict('held-out')
      .map(({ lesson }) => lesson.id)
      .sort(),
    considered: [...judged]
      .sort((a, b) => interest(a.verdict) - interest(b.verdict) || byEvidence(a.candidate, b.candidate))
      .slice(0, Math.max(MOST_CONSIDERED, taken.length))
      .map(({ candidate, verdict }) => considered(candidate, verdict, twins.get(candidate))),
  };
}

const OUT_OF_ROOM: ReadonlySet<RecallOutcome> = new Set(['over-limit', 'over-budget']);

/** The room that experiences which clearly fit need, at most their share. */
function keptForExperiences(
  open: readonly RecallCandidate[],
  enough: number,
  topK: number,
  tokenBudget: number,
): { readonly places: number; readonly tokens: number } {
  const fitting = open.filter(
    ({ isGuideline, isPrivate, evidence }) => !isGuideline && !isPrivate && evidence >= enough,
  );
  const places = Math.min(fitting.length, Math.floor(topK * FOR_EXPERIENCES));
  if (places === 0) return { places, tokens: 0 };
  const needed = fitting
    .toSorted(byEvidence)
    .slice(0, places)
    .reduce((sum, { lesson }) => sum + estimateLessonTokens(lesson), 0);
  return { places, tokens: Math.min(needed, Math.floor(tokenBudget * FOR_EXPERIENCES)) };
}

/** Lessons that fit, but not clearly enough for their whole text: enough for a library of a few dozen, and a tenth of a usual prompt. */
export const LISTED_LESSONS = { lines: 24, tokens: 600 };
const NO_INDEX = { lines: 0, tokens: 0 };

/** The limits of settings that may change, as they are at each recall. A message has no room for lines. */
export const limitsFor = (
  settings: Pick<RecallLimits, 'topK' | 'tokenBudget'> & { readonly place: LessonPlace },
): RecallLimits => ({
  get topK() {
    return settings.topK;
  },
  get tokenBudget() {
    return settings.tokenBudget;
  },
  get index() {
    return settings.place === 'message' ? NO_INDEX : LISTED_LESSONS;
  },
});

/** The limits with no more than `most` bodies. */
export const limitsWithin = (limits: RecallLimits, most: number | undefined): RecallLimits =>
  most === undefined ? limits : { ...limits, topK: Math.min(limits.topK, most) };

const OF_INTEREST: readonly RecallOutcome[] = ['shown', 'listed', 'held-out'];
const interest = (verdict: RecallOutcome): number => {
  const at = OF_INTEREST.indexOf(verdict);
  return at < 0 ? OF_INTEREST.length : at;
};
const rankOf = ({ lesson, evidence, activation }: RecallCandidate): number =>
  evidence +
  NEAR_TIE * activation +
  NOTE_WEIGHTS.confidence * lesson.text.note.confidence +
  NOTE_WEIGHTS.importance * lesson.text.note.importance;
const byId = (a: RecallCandidate, b: RecallCandidate): number => (a.lesson.id < b.lesson.id ? -1 : 1);
const isIdentity = ({ lesson }: RecallCandidate): boolean => lesson.kind === 'identity';
const byRank = (a: RecallCandidate, b: RecallCandidate): number =>
  Number(isIdentity(b)) - Number(isIdentity(a)) ||
  (isIdentity(a) ? byPlaceInBlock(a.lesson, b.lesson) : 0) ||
  Number(b.isFragment === true) - Number(a.isFragment === true) ||
  (a.isFragment === true ? b.lesson.createdAt - a.lesson.createdAt : 0) ||
  Number(b.isGuideline) - Number(a.isGuideline) ||
  rankOf(b) - rankOf(a) ||
  byId(a, b);
const byEvidence = (a: RecallCandidate, b: RecallCandidate): number => b.evidence - a.evidence || byId(a, b);
/** By id within a block: the same lessons give the same bytes for every query. */
const byPlace = (a: RecallCandidate, b: RecallCandidate): number =>
  Number(isIdentity(b)) - Number(isIdentity(a)) ||
  Number(b.isGuideline) - Number(a.isGuideline) ||
  byId(a, b);

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
