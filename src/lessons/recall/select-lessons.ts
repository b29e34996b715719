import type { Lesson, LessonText } from '../../core/lesson.ts';
import type { ConsideredLesson, RecallOutcome, RecallQuery, RecallResult } from '../../core/recall.ts';
import { CHARACTERS_PER_TOKEN, estimateTokens } from '../../text/estimate-tokens.ts';
import { contentOf } from '../check-overlay.ts';
import type { HoldoutLot } from '../effect/hold-out.ts';
import { byPlaceInBlock, isOwnersAlone } from '../identity-tier.ts';
import { renderLine } from '../render-block.ts';
import { isSameInPlainWords } from '../similar/plain-words.ts';
import { promptName } from '../title.ts';
import { isPersonsWord, personsWords } from '../told.ts';
import type { RecallCandidate } from './find-candidates.ts';
import { NOTE_WEIGHTS, type RelevanceWeights, relevanceOf } from './relevance.ts';

export interface RecallLimits {
  /** Lessons shown with their bodies, or held out, besides what people told. 0: no lessons at all. */
  readonly topK: number;
  readonly tokenBudget: number;
  /** Lessons listed by one line each; absent: none. */
  readonly index?: { readonly lines: number; readonly tokens: number };
}

/** Functions that the selection needs. */
export interface SelectionContext {
  /** Whether the session goes without a lesson, so that it is measured. */
  readonly lotOf: (lessonId: string) => HoldoutLot;
  /** Whether two slots are near-duplicates. */
  readonly areAlike: (slot: number, other: number) => boolean;
  readonly weights: Pick<RelevanceWeights, 'listed' | 'near' | 'fewer' | 'nearBest' | 'beside'>;
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
/** The share of the token budget that the bodies of what people told may take. Their lines beyond it may take as much as the whole. */
const FOR_PERSONS_WORDS = 1 / 2;
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
const lineTokens = new WeakMap<LessonText, number>();

function lineTokensOf(lesson: Lesson): number {
  const counted = lineTokens.get(lesson.text);
  if (counted !== undefined) return counted;
  const tokens = estimateTokens(renderLine(lesson));
  lineTokens.set(lesson.text, tokens);
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
 * What people told has a share of its own, and no limit to its number: it is never held out and never hidden by age, and beyond its share
 * stands by a line. Identities come first, then fragments. The others are ranked by evidence; activation, confidence and importance decide only between nearly
 * equal lessons, activation also at the threshold. Lessons that clearly fit are
 * shown with their bodies, the next ones by a line each. A held-out lesson takes its place in the budget, so that the other
 * lessons do not depend on the hold-out.
 */
export function selectLessons(
  candidates: readonly RecallCandidate[],
  limits: RecallLimits,
  context: SelectionContext,
): Pick<RecallResult, 'lessons' | 'index' | 'heldOut' | 'unmeasured' | 'considered'> {
  const selection = openSelection(candidates, limits, context);
  const { taken, twins } = selection;
  const bodies = chooseBodies(candidates, selection);
  const judged = chooseLines(bodies, selection);
  const withVerdict = (verdict: RecallOutcome): readonly RecallCandidate[] =>
    judged.filter((one) => one.verdict === verdict).map((one) => one.candidate);
  const unmeasured = taken
    .filter(({ lesson }) => isOwnersAlone(lesson) || isPersonsWord(lesson))
    .map(({ lesson }) => lesson.id);
  return {
    ...(unmeasured.length === 0 ? {} : { unmeasured }),
    lessons: [...withVerdict('shown')].sort(byPlace).map(({ lesson }) => lesson),
    index: [...withVerdict('condensed'), ...withVerdict('listed')].map(({ lesson }) => lesson),
    heldOut: withVerdict('held-out')
      .map(({ lesson }) => lesson.id)
      .sort(),
    considered: judged
      .toSorted((a, b) => interest(a.verdict) - interest(b.verdict) || byEvidence(a.candidate, b.candidate))
      .slice(0, Math.max(MOST_CONSIDERED, taken.length))
      .map(({ candidate, verdict }) => considered(candidate, verdict, twins.get(candidate))),
  };
}

/** What a person told takes part in no measurement. */
const lotOf = (lesson: Lesson, context: SelectionContext): HoldoutLot =>
  isPersonsWord(lesson) ? 'shown' : context.lotOf(lesson.id);

/** The room of a block, as it fills. */
interface Selection {
  readonly limits: Required<RecallLimits>;
  readonly context: SelectionContext;
  /** Candidates in the scope of the query. */
  readonly open: readonly RecallCandidate[];
  /** The evidence that a body needs. */
  readonly enough: number;
  /** What guidelines leave to experiences until these have had their turn. */
  reserved: { readonly places: number; readonly tokens: number };
  /** Shown, listed or held out. */
  readonly taken: RecallCandidate[];
  /** Of near-duplicates: the id of the lesson that they repeat. */
  readonly twins: Map<RecallCandidate, string>;
  identities: number;
  identityTokens: number;
  /** What people told: how many, and the tokens of the bodies and of the lines. */
  told: number;
  toldTokens: number;
  toldLineTokens: number;
  /** Of all other bodies. */
  tokens: number;
}

interface JudgedCandidate {
  readonly candidate: RecallCandidate;
  readonly verdict: RecallOutcome;
}

function openSelection(
  candidates: readonly RecallCandidate[],
  { topK, tokenBudget, index = NO_INDEX }: RecallLimits,
  context: SelectionContext,
): Selection {
  const { beside, nearBest } = context.weights;
  const open = candidates.filter((candidate) => candidate.isInScope);
  const best = Math.max(...open.map(({ evidence }) => evidence));
  const enough = best < 0 ? 0 : Math.max(beside, Math.min(best - nearBest, best * HALF_OF_BEST));
  return {
    limits: { topK, tokenBudget, index },
    context,
    open,
    enough,
    reserved: roomForExperiences(open, enough, topK, tokenBudget),
    taken: [],
    twins: new Map(),
    identities: 0,
    identityTokens: 0,
    told: 0,
    toldTokens: 0,
    toldLineTokens: 0,
    tokens: 0,
  };
}

/** All candidates in the order of their rank, with a verdict about their bodies. */
function chooseBodies(
  candidates: readonly RecallCandidate[],
  selection: Selection,
): readonly JudgedCandidate[] {
  const inOrder = candidates.toSorted(byRank);
  const verdicts = new Map<RecallCandidate, RecallOutcome>();
  const judge = (some: readonly RecallCandidate[]): void => {
    for (const one of some) verdicts.set(one, judgeBody(one, selection));
  };
  // Before the others, which nearly repeat it at times; the best-fitting first.
  for (const one of candidates.filter(isToldAdvice).toSorted(byEvidence))
    verdicts.set(one, judgePersonsWord(one, selection));
  judge(inOrder.filter((one) => !isToldAdvice(one)));
  if (selection.reserved.places > 0) {
    selection.reserved = NOTHING_RESERVED;
    const isOutOfRoom = (one: RecallCandidate): boolean => OUT_OF_ROOM.has(verdicts.get(one) ?? 'shown');
    judge(
      inOrder.filter((one) => one.isGuideline && !isIdentity(one) && !isToldAdvice(one) && isOutOfRoom(one)),
    );
  }
  return inOrder.map((candidate) => ({ candidate, verdict: verdicts.get(candidate) ?? 'not-relevant' }));
}

const isToldAdvice = (candidate: RecallCandidate): boolean =>
  candidate.isFragment !== true && !isIdentity(candidate) && isPersonsWord(candidate.lesson);

/** What fits is shown, however much better something else fits. */
function judgePersonsWord(candidate: RecallCandidate, selection: Selection): RecallOutcome {
  const { lesson, evidence, isDue } = candidate;
  const { limits, enough } = selection;
  if (candidate.isPrivate) return 'private';
  if (!candidate.isInScope) return 'out-of-scope';
  if (!isDue && evidence < Math.min(enough, 0)) return 'not-relevant';
  if (limits.topK === 0) return 'over-limit';
  if (isRepeated(candidate, selection)) return 'near-duplicate';
  const size = estimateLessonTokens(lesson);
  const isBody = selection.toldTokens + size <= limits.tokenBudget * FOR_PERSONS_WORDS;
  const line = lineTokensOf(lesson);
  if (!isBody && selection.toldLineTokens + line > limits.tokenBudget) return 'over-budget';
  selection.taken.push(candidate);
  selection.told++;
  if (isBody) selection.toldTokens += size;
  else selection.toldLineTokens += line;
  return isBody ? 'shown' : 'condensed';
}

function judgeBody(candidate: RecallCandidate, selection: Selection): RecallOutcome {
  const { lesson, evidence, activation, isKept, isDue } = candidate;
  const { limits, enough, taken, reserved } = selection;
  if (candidate.isPrivate) return 'private';
  if (!candidate.isInScope) return 'out-of-scope';
  if (!isDue && evidence < enough) return 'not-relevant';
  if (!isDue && !isKept && evidence < Math.min(enough, 0) + AGE_MARGIN * (1 - activation))
    return 'hidden-by-age';
  if (lesson.kind === 'identity') return judgeIdentity(candidate, selection);
  // Fragments are alike where their frames are: what they say is short.
  if (!candidate.isFragment && isRepeated(candidate, selection)) return 'near-duplicate';
  const size = estimateLessonTokens(lesson);
  const { places, tokens } =
    candidate.isGuideline && candidate.isFragment !== true ? reserved : NOTHING_RESERVED;
  if (taken.length - selection.identities - selection.told >= limits.topK - places) return 'over-limit';
  if (candidate.isFragment && taken.filter((one) => one.isFragment).length >= MOST_FRAGMENTS)
    return 'over-limit';
  if (selection.tokens + size > limits.tokenBudget - selection.toldTokens - tokens) return 'over-budget';
  taken.push(candidate);
  selection.tokens += size;
  return lotOf(lesson, selection.context) === 'held-out' ? 'held-out' : 'shown';
}

/** An identity has a budget of its own; what the owner approved is never held out. */
function judgeIdentity(candidate: RecallCandidate, selection: Selection): RecallOutcome {
  const { lesson } = candidate;
  const size = estimateLessonTokens(lesson);
  if (selection.limits.topK === 0) return 'over-limit';
  if (selection.identityTokens + size > IDENTITY_TOKENS) return 'over-budget';
  selection.taken.push(candidate);
  selection.identities++;
  selection.identityTokens += size;
  if (isOwnersAlone(lesson)) return 'shown';
  return selection.context.lotOf(lesson.id) === 'held-out' ? 'held-out' : 'shown';
}

/** Two rules that people told may differ in one word that matters: only the same words are the same rule. */
function isRepeated(candidate: RecallCandidate, { taken, twins, context }: Selection): boolean {
  const isTold = isToldAdvice(candidate);
  const twin = taken.find(
    (other) =>
      context.areAlike(other.slot, candidate.slot) && (!isTold || isSameRule(candidate.lesson, other.lesson)),
  );
  if (twin !== undefined) twins.set(candidate, twin.lesson.id);
  return twin !== undefined;
}

const isSameRule = (one: Lesson, other: Lesson): boolean =>
  isSameInPlainWords(leadingWords(one), leadingWords(other));
const leadingWords = (lesson: Lesson): string => personsWords(lesson)[0] ?? lesson.text.content;

/** Lists the next ones by a line each. */
function chooseLines(bodies: readonly JudgedCandidate[], selection: Selection): readonly JudgedCandidate[] {
  const { taken, limits, context, open } = selection;
  const { index } = limits;
  const { listed, near, fewer } = context.weights;
  const sunk = fewer * Math.max(0, 1 - open.length / Math.max(1, index.lines));
  const best = Math.max(...open.map(({ evidence }) => evidence));
  const floor = best < near - sunk ? Number.POSITIVE_INFINITY : listed - sunk;
  const bodyCount = taken.length;
  let tokens = 0;
  const judgeLine = ({ candidate, verdict }: JudgedCandidate): RecallOutcome => {
    const { lesson, evidence } = candidate;
    if (!LISTABLE.has(verdict) || evidence < floor) return verdict;
    // No bodies at all means no lessons at all.
    if (limits.topK === 0 || taken.length - bodyCount >= index.lines) return verdict;
    if (isRepeated(candidate, selection)) return 'near-duplicate';
    const size = lineTokensOf(lesson);
    if (tokens + size > index.tokens) return verdict;
    taken.push(candidate);
    tokens += size;
    return lotOf(lesson, context) === 'held-out' ? 'held-out' : 'listed';
  };
  return bodies.map((one) => ({ candidate: one.candidate, verdict: judgeLine(one) }));
}

const NOTHING_RESERVED = { places: 0, tokens: 0 };
const OUT_OF_ROOM: ReadonlySet<RecallOutcome> = new Set(['over-limit', 'over-budget']);

/** The room that experiences which clearly fit need, at most their share. */
function roomForExperiences(
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

/** The room of lines for each token of the bodies: 600 tokens and 24 lines beside the usual 1,500, enough for a library of a few dozen. */
const LINE_TOKENS = 0.4;
const TOKENS_OF_LINE = 25;

/** Lessons that fit, but not clearly enough for their whole text. Who gives lessons more room gives it to their lines, too. */
const roomForLines = (tokenBudget: number): NonNullable<RecallLimits['index']> => {
  const tokens = Math.round(tokenBudget * LINE_TOKENS);
  return { tokens, lines: Math.round(tokens / TOKENS_OF_LINE) };
};
const NO_INDEX = { lines: 0, tokens: 0 };

/** The limits of settings that may change, as they are at each recall. */
export const limitsFor = (settings: Pick<RecallLimits, 'topK' | 'tokenBudget'>): RecallLimits => ({
  get topK() {
    return settings.topK;
  },
  get tokenBudget() {
    return settings.tokenBudget;
  },
  get index() {
    return roomForLines(settings.tokenBudget);
  },
});

/** The limits for a query: no more bodies and tokens than it asks for, and in a message no lines of lessons that only may fit. */
export function limitsWithin(
  { topK, tokenBudget, index = NO_INDEX }: RecallLimits,
  { most = topK, room = tokenBudget, place }: Pick<RecallQuery, 'most' | 'room' | 'place'>,
): RecallLimits {
  const lines = room < tokenBudget ? roomForLines(room) : index;
  return {
    topK: Math.min(topK, most),
    tokenBudget: Math.min(tokenBudget, room),
    index: place === 'message' ? NO_INDEX : lines,
  };
}

const OF_INTEREST: readonly RecallOutcome[] = ['shown', 'condensed', 'listed', 'held-out'];
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
  // As the prompt shows it: a later withdrawal names it so.
  name: promptName(lesson.text),
  relevance: relevanceOf(evidence),
  activation,
  verdict,
  ...(of === undefined ? {} : { of }),
});
