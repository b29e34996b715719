import type { Lesson } from '../../core/lesson.ts';
import type { Domain, EmbeddingModel, Recall, RecallQuery, RecallResult } from '../../core/recall.ts';
import { isFragment, isRecalled } from '../check-overlay.ts';
import type { Holdout } from '../effect/hold-out.ts';
import { audienceOf, isInScope, type LearnedIn, type ReadLearnedIn, widestReach } from '../scope.ts';
import { isSameInPlainWords } from '../similar/plain-words.ts';
import { UNKNOWN_USE, type Usefulness } from './activation.ts';
import { readQuery } from './clean-query.ts';
import { type DomainPattern, guessedDomain, namedDomain } from './domain.ts';
import { eligibilityOf, findCandidates, type RecallCandidate, scanLessons } from './find-candidates.ts';
import { chatPenalty, isSmallTalk } from './idle-requests.ts';
import type { IndexFile } from './index-file.ts';
import { createLessonIndex, type IndexStats, type LessonIndex } from './lesson-index.ts';
import { createQueryEmbedding, type EmbeddingRateLimit, type QueryEmbedding } from './query-embedding.ts';
import { FIRST_LOOK, IN_DOUBT, RELEVANCE, type RelevanceWeights } from './relevance.ts';
import { limitsWithin, type RecallLimits, selectLessons } from './select-lessons.ts';
import type { VectorCache } from './vector-cache.ts';

export interface RecallSettings {
  readonly embed: EmbeddingModel;
  /** Answers at once, for the turns that do not wait: its vectors may be compared with those of `embed`. */
  readonly first: EmbeddingModel;
  /** Read for each recall, like the patterns: both may change. */
  readonly limits: RecallLimits;
  readonly patterns?: readonly DomainPattern[];
  readonly usefulness?: (lessonId: string) => Usefulness;
  /** Holds lessons out from sessions, to measure their effect. */
  readonly holdout?: Pick<Holdout, 'lotOf'>;
  /** Where a private lesson was learned; without it, where its scope says. */
  readonly learnedIn?: ReadLearnedIn;
  /** Keeps the model's vectors between two starts. */
  readonly vectorCache?: VectorCache;
  /** Keeps what the index computes of lessons, likewise. */
  readonly indexFile?: IndexFile;
  /** The rate limit for the model; absent: none. */
  readonly demand?: EmbeddingRateLimit;
  /** Read for each recall. Others than the usual ones only to fit them. */
  readonly weights?: RelevanceWeights;
}

export interface LessonRecall {
  readonly recall: Recall;
  /** Sets the lessons that may be shown. They are found when it resolves; the model reads new ones in the background. */
  update(lessons: readonly Lesson[]): Promise<void>;
  /** Resolves when all embeddings are computed, or when the model has failed. */
  settled(): Promise<void>;
  stats(): IndexStats & RecallStats;
}

interface RecallStats {
  /** Whether the sentence model is loaded. */
  readonly isModelReady: boolean;
  readonly recalls: RecallCounts;
}

/** How tasks were compared with lessons since the start. */
interface RecallCounts {
  /** By the sentence model. */
  readonly bySentences: number;
  /** At a first look, by the static table; by keywords alone where that is missing. */
  readonly firstLooks: number;
}

/** The cosine above which two lessons are near-duplicates. */
const ALIKE = 0.92;
/** Where neither model can be loaded. */
const NO_MODEL = 'words';
const NO_DOMAIN: Domain = { name: 'general', reason: 'default' };

/** The lessons that may be shown, and what recall knows of them. */
interface RecallState {
  readonly settings: RecallSettings;
  readonly index: LessonIndex;
  /** Where private lessons were learned, by id and revision. */
  readonly places: Map<string, readonly LearnedIn[] | undefined>;
  readonly queries: QueryEmbedding;
  readonly counts: { bySentences: number; firstLooks: number };
  newest: readonly Lesson[];
  /** The lessons that are for every run in their scope. */
  fragments: ReadonlySet<string>;
}

/** Recall of lessons for a task, by embeddings and by keywords. */
export function createRecall(settings: RecallSettings): LessonRecall {
  const { embed, first, vectorCache, indexFile } = settings;
  const places: RecallState['places'] = new Map();
  const state: RecallState = {
    settings,
    index: createLessonIndex({ embed, first, cache: vectorCache, file: indexFile }, (lesson) =>
      audienceOf(lesson, places.get(revisionKey(lesson))),
    ),
    places,
    queries: createQueryEmbedding(embed, settings.demand),
    counts: { bySentences: 0, firstLooks: 0 },
    newest: [],
    fragments: new Set(),
  };
  const { index, counts } = state;
  return {
    recall: async (query, now) => {
      try {
        return await recallLessons(state, query, now);
      } catch {
        // A failed recall must not fail the request; the error of the model is in `stats`.
        counts.firstLooks++;
        return emptyRecall(NO_DOMAIN, NO_MODEL);
      }
    },
    update: (all) => updateLessons(state, all.filter(isRecalled)),
    settled: index.settled,
    stats: () => statsOf(state),
  };
}

const statsOf = ({ settings, index, queries, counts }: RecallState): IndexStats & RecallStats => {
  const failure = index.stats().failure ?? queries.failure();
  return {
    ...index.stats(),
    ...(failure === undefined ? {} : { failure }),
    isModelReady: settings.embed.isReady?.() ?? true,
    recalls: { ...counts },
  };
};

/** A task as a vector, and what computed it. */
interface ReadTask {
  readonly meaning: Float32Array | undefined;
  readonly engine: string;
  readonly isFirstLook: boolean;
}

/** The sentence model's vector where it is there, or may be waited for; else that of the static table. */
async function readTask(
  { settings: { embed, first }, queries }: RecallState,
  text: string,
  isUnhurried: boolean,
): Promise<ReadTask> {
  const meaning = isUnhurried || first === embed ? await queries.wait(text) : queries.recent(text);
  if (meaning !== undefined) return { meaning, engine: embed.id, isFirstLook: false };
  const [vector] = await first.embed([text]).catch(() => []);
  return { meaning: vector, engine: vector === undefined ? NO_MODEL : first.id, isFirstLook: true };
}

async function recallLessons(state: RecallState, query: RecallQuery, now: number): Promise<RecallResult> {
  const { isUnhurried = false } = query;
  // Before all else: the first lesson may still be on its way into the index.
  if (isUnhurried) await state.index.settled();
  const { settings, index, fragments, counts } = state;
  const { text, meant } = readQuery(query.text);
  const named = namedDomain(query, text, settings.patterns ?? []);
  // Nothing is in scope: no search, and no time of the model.
  const isForAsker = index.table.audiences.some((audience) =>
    isInScope(widestReach(audience, query), query, named?.name),
  );
  // Small talk needs no lesson; what is for every run is shown all the same, and compared with nothing.
  const isIdle = isSmallTalk(text);
  if (index.size === 0 || !isForAsker || (isIdle && fragments.size === 0))
    return emptyRecall(named ?? NO_DOMAIN, settings.embed.id);
  const task: ReadTask = isIdle
    ? { meaning: undefined, engine: settings.embed.id, isFirstLook: false }
    : await readTask(state, meant, isUnhurried);
  const { weights = task.isFirstLook ? FIRST_LOOK : RELEVANCE } = settings;
  const domain = named ?? guessedDomain(index.middles, task.meaning);
  const range = { length: index.table.length, stamp: index.stamp };
  const allowed = isIdle ? { ...query, among: inBoth(fragments, query.among) } : query;
  const standings = await eligibilityOf(index, range, allowed, { domain, now });
  const scan = await scanLessons(index, { ...range, standings }, { text, meaning: task.meaning }, weights);
  const candidates = await findCandidates(index, scan, standings, {
    domain,
    now,
    doubt: chatPenalty(text),
    usefulness: settings.usefulness ?? (() => UNKNOWN_USE),
    weights,
  });
  const chosen = selectLessons(candidates, limitsWithin(settings.limits, query), {
    lotOf: (lessonId) => settings.holdout?.lotOf(query, lessonId) ?? 'shown',
    areAlike: compareIn(index),
    weights,
  });
  if (task.isFirstLook) counts.firstLooks++;
  else if (!isIdle) counts.bySentences++;
  // Where nothing is near, or something clearly fits, the model would find the same.
  const isInDoubt = task.isFirstLook && isNearlyShown(candidates);
  if (isInDoubt) state.queries.request(meant);
  const isLate = isInDoubt && statsOf(state).failure === undefined;
  return { ...chosen, domain, engine: task.engine, ...(isLate ? { isLate } : {}) };
}

function isNearlyShown(candidates: readonly RecallCandidate[]): boolean {
  const best = Math.max(...candidates.filter(({ isInScope }) => isInScope).map(({ evidence }) => evidence));
  return best >= IN_DOUBT.from && best < IN_DOUBT.to;
}

async function updateLessons(state: RecallState, lessons: readonly Lesson[]): Promise<void> {
  const { embed, first, learnedIn } = state.settings;
  // Read from the disk while nobody waits for it; where it cannot be, keywords answer.
  if (first !== embed && lessons.length > 0 && state.newest.length === 0)
    void first.embed(['']).catch(() => undefined);
  state.newest = lessons;
  state.fragments = new Set(
    lessons.filter((one) => isFragment(one) || one.kind === 'identity').map(({ id }) => id),
  );
  const unread = lessons.filter(
    (lesson) => lesson.text.note.visibility === 'private' && !state.places.has(revisionKey(lesson)),
  );
  // A private lesson whose origin cannot be read is shown to nobody.
  for (const lesson of unread)
    state.places.set(revisionKey(lesson), await learnedIn?.(lesson).catch((): readonly LearnedIn[] => []));
  // A later call may have come meanwhile.
  return state.index.update(state.newest);
}

const emptyRecall = (domain: Domain, engine: string): RecallResult => ({
  lessons: [],
  index: [],
  heldOut: [],
  considered: [],
  domain,
  engine,
});

const inBoth = (ids: ReadonlySet<string>, among: ReadonlySet<string> = ids): ReadonlySet<string> =>
  new Set([...ids].filter((id) => among.has(id)));

const revisionKey = ({ id, revision }: Lesson): string => `${id} ${revision}`;

/** Whether two slots are near-duplicates. Each vector is read once for a recall: every candidate is compared with all taken. */
/** Until the model has read two whole texts, a description stands for them: lessons with one description may say different things. */
function compareIn({ meanings, at: placeOf }: LessonIndex): (slot: number, other: number) => boolean {
  const vectors = new Map<number, Float32Array>();
  const vectorOf = (slot: number): Float32Array => {
    const vector = vectors.get(slot) ?? meanings.read(slot);
    vectors.set(slot, vector);
    return vector;
  };
  return (slot, other) => {
    const [placed, beside] = [placeOf(slot), placeOf(other)];
    if (placed === undefined || beside === undefined) return false;
    if (!placed.isWhole || !beside.isWhole)
      return isSameInPlainWords(placed.lesson.text.content, beside.lesson.text.content);
    const [one, two] = [vectorOf(slot), vectorOf(other)];
    let sum = 0;
    for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (two[at] ?? 0);
    return sum > ALIKE;
  };
}
