import type { Lesson } from '../../core/lesson.ts';
import type { Domain, EmbeddingModel, Recall, RecallQuery, RecallResult } from '../../core/recall.ts';
import { isFragment, isRecalled } from '../check-overlay.ts';
import type { Holdout } from '../effect/hold-out.ts';
import { audienceOf, isInScope, type LearnedIn, type ReadLearnedIn, widestReach } from '../scope.ts';
import { UNKNOWN_USE, type Usefulness } from './activation.ts';
import { readQuery } from './clean-query.ts';
import { type DomainPattern, guessedDomain, namedDomain } from './domain.ts';
import { eligibilityOf, findCandidates, scanLessons } from './find-candidates.ts';
import { chatPenalty, isSmallTalk } from './idle-requests.ts';
import type { Int8Vectors } from './int8-vectors.ts';
import { createLessonIndex, type IndexStats, type LessonIndex } from './lesson-index.ts';
import { createQueryEmbedding, type EmbeddingRateLimit } from './query-embedding.ts';
import { RELEVANCE, type RelevanceWeights } from './relevance.ts';
import { limitsWithin, type RecallLimits, selectLessons } from './select-lessons.ts';
import type { VectorCache } from './vector-cache.ts';

export interface RecallSettings {
  readonly embed: EmbeddingModel;
  /** Answers immediately; used while the model is slow or missing. */
  readonly fallback: EmbeddingModel;
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
  /** The rate limit for the model; absent: none. */
  readonly demand?: EmbeddingRateLimit;
  /** How long a query waits for the model. */
  readonly patienceMs?: number;
  /** Read for each recall. Others than the usual ones only to fit them. */
  readonly weights?: RelevanceWeights;
}

export interface LessonRecall {
  readonly recall: Recall;
  /** Begins to embed a task that is about to be recalled, while its caller still waits for something else. */
  prepare(query: Pick<RecallQuery, 'text'>): void;
  /** Sets the lessons that may be shown. Keyword search covers them when it resolves; embeddings follow in the background. */
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
  /** By n-grams and keywords alone: the sentence model was not ready in time, or failed. */
  readonly byLetters: number;
}

/**
 * How long a turn waits for the embedding of its task where the model is fast: less than a person notices. What comes later is
 * shown behind the next message (see `shown/late-lessons`).
 */
const PATIENCE_MS = 40;
/** Loads the model and lets its code be compiled, so that the first task finds it ready. */
const WARM_UP = Array.from(
  { length: 4 },
  () => 'The build fails on the second machine since the update: find out why, and fix it.',
);
/** The cosine above which two lessons are near-duplicates. */
const ALIKE = 0.92;
const NO_DOMAIN: Domain = { name: 'general', reason: 'default' };

/** The lessons that may be shown, and what recall knows of them. */
interface RecallState {
  readonly settings: RecallSettings;
  readonly index: LessonIndex;
  /** Where private lessons were learned, by id and revision. */
  readonly places: Map<string, readonly LearnedIn[] | undefined>;
  readonly meaningOf: ReturnType<typeof createQueryEmbedding>;
  readonly spellingOf: ReturnType<typeof createQueryEmbedding>;
  readonly read: (text: string) => ReturnType<typeof readQuery>;
  readonly counts: { bySentences: number; byLetters: number };
  newest: readonly Lesson[];
  /** The lessons that are for every run in their scope. */
  fragments: ReadonlySet<string>;
  isWarm: boolean;
  /** Why the model could not be loaded. */
  loadFailure: string | undefined;
}

/** Recall of lessons for a task, by embeddings and by keywords. */
export function createRecall(settings: RecallSettings): LessonRecall {
  const { embed, fallback, patienceMs = PATIENCE_MS } = settings;
  const places: RecallState['places'] = new Map();
  const state: RecallState = {
    settings,
    index: createLessonIndex(
      embed,
      fallback,
      (lesson) => audienceOf(lesson, places.get(revisionKey(lesson))),
      settings.vectorCache,
    ),
    places,
    meaningOf: createQueryEmbedding(embed, patienceMs, settings.demand),
    spellingOf: createQueryEmbedding(fallback, patienceMs),
    read: createReadOnce(),
    counts: { bySentences: 0, byLetters: 0 },
    newest: [],
    fragments: new Set(),
    isWarm: false,
    loadFailure: undefined,
  };
  const { index, counts } = state;
  return {
    recall: async (query, now) => {
      try {
        return await recallLessons(state, query, now);
      } catch {
        // A failed recall must not fail the request; the error of the model is in `stats`.
        counts.byLetters++;
        return emptyRecall(NO_DOMAIN, fallback.id);
      }
    },
    prepare: (query) => {
      const { text, meant } = state.read(query.text);
      if (index.stats().known > 0 && !isSmallTalk(text)) void state.meaningOf(meant);
    },
    update: (all) => updateLessons(state, all.filter(isRecalled)),
    settled: index.settled,
    stats: () => statsOf(state),
  };
}

const statsOf = ({ settings, index, counts, loadFailure }: RecallState): IndexStats & RecallStats => ({
  ...(loadFailure === undefined ? {} : { failure: loadFailure }),
  ...index.stats(),
  isModelReady: settings.embed.isReady?.() ?? true,
  recalls: { ...counts },
});

/** A prepared task is read once. */
function createReadOnce(): RecallState['read'] {
  let newest: { readonly text: string; readonly query: ReturnType<typeof readQuery> } | undefined;
  return (text) => {
    if (newest?.text !== text) newest = { text, query: readQuery(text) };
    return newest.query;
  };
}

async function recallLessons(state: RecallState, query: RecallQuery, now: number): Promise<RecallResult> {
  const { settings, index, fragments, counts } = state;
  const { embed, fallback, weights = RELEVANCE } = settings;
  const { text, meant } = state.read(query.text);
  const named = namedDomain(query, text, settings.patterns ?? []);
  // Nothing is in scope: no search, and no time of the model.
  const isForAsker = index.table.audiences.some((audience) =>
    isInScope(widestReach(audience, query), query, named?.name),
  );
  // Small talk needs no lesson; what is for every run is shown all the same.
  const isIdle = isSmallTalk(text);
  if (index.size === 0 || !isForAsker || (isIdle && fragments.size === 0))
    return emptyRecall(named ?? NO_DOMAIN, embed.id);
  const { isUnhurried = false } = query;
  if (isUnhurried) await index.settled();
  // Without an embedded lesson there is nothing to compare with: a first lesson is found by its keywords, without a wait.
  const canCompare = index.stats().known > 0;
  const meaning = canCompare && !isIdle ? await state.meaningOf(meant, isUnhurried) : undefined;
  const isComplete = meaning !== undefined && index.stats().known === index.size;
  const spelling = isComplete ? undefined : await state.spellingOf(text);
  const domain = named ?? guessedDomain(index.middles, meaning);
  const range = { length: index.table.length, stamp: index.stamp };
  const allowed = isIdle ? { ...query, among: inBoth(fragments, query.among) } : query;
  const standings = await eligibilityOf(index, range, allowed, { domain, now });
  const scan = await scanLessons(index, { ...range, standings }, { text, meaning, spelling }, weights);
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
  // Small talk is compared with nothing.
  const isByLetters = meaning === undefined && !isIdle;
  if (meaning !== undefined) state.loadFailure = undefined;
  if (isByLetters) counts.byLetters++;
  else if (!isIdle) counts.bySentences++;
  const isLate = isByLetters && statsOf(state).failure === undefined;
  const engine = isByLetters ? fallback.id : embed.id;
  return { ...chosen, domain, engine, ...(isLate ? { isLate } : {}) };
}

async function updateLessons(state: RecallState, lessons: readonly Lesson[]): Promise<void> {
  const { embed, learnedIn } = state.settings;
  state.newest = lessons;
  // The vectors of known lessons are kept on disk: nothing else would load the model before the first task.
  if (lessons.length > 0 && !state.isWarm && embed.isReady?.() === false)
    embed.embed(WARM_UP).catch((error: unknown) => {
      state.loadFailure = error instanceof Error ? error.message : String(error);
    });
  state.isWarm ||= lessons.length > 0;
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
function compareIn({ meanings, spellings }: LessonIndex): (slot: number, other: number) => boolean {
  const vectors = new Map<number, Float32Array>();
  const vectorOf = (rows: Int8Vectors, slot: number): Float32Array => {
    const vector = vectors.get(slot) ?? rows.read(slot);
    vectors.set(slot, vector);
    return vector;
  };
  return (slot, other) => {
    // Lessons that have no embedding yet are compared by their letters, which are not worth keeping.
    const areEmbedded = meanings.has(slot) && meanings.has(other);
    const one = areEmbedded ? vectorOf(meanings, slot) : spellings.read(slot);
    const two = areEmbedded ? vectorOf(meanings, other) : spellings.read(other);
    let sum = 0;
    for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (two[at] ?? 0);
    return sum > ALIKE;
  };
}
