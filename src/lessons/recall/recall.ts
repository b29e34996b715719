import type { Lesson } from '../../core/lesson.ts';
import type { Domain, EmbeddingModel, Recall, RecallQuery, RecallResult } from '../../core/recall.ts';
import type { Holdout } from '../effect/hold-out.ts';
import { type LessonLinks, linkLessonsBothWays } from '../links.ts';
import { isFragment, isRecalled } from '../overlay-lessons.ts';
import { isInScope } from '../scope.ts';
import { audienceOf, type LearnedIn, type ReadLearnedIn, widestReach } from '../visibility.ts';
import { UNKNOWN_USE, type Usefulness } from './activation.ts';
import { readQuery } from './clean-query.ts';
import { type DomainPattern, guessedDomain, namedDomain } from './domain.ts';
import { eligibilityOf, findCandidates, scanLessons } from './find-candidates.ts';
import type { Int8Vectors } from './int8-vectors.ts';
import { createLessonIndex, type IndexStats, type LessonIndex } from './lesson-index.ts';
import { createQueryEmbedding, type EmbeddingRateLimit } from './query-embedding.ts';
import { RELEVANCE, type RelevanceWeights } from './relevance.ts';
import { limitsWithin, type RecallLimits, selectLessons } from './select-lessons.ts';
import { chatPenalty, isSmallTalk } from './small-talk.ts';
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

/** Recall of lessons for a task, by embeddings and by keywords. */
export function createRecall(settings: RecallSettings): LessonRecall {
  const { embed, fallback, limits } = settings;
  /** Of private lessons, by id and revision. */
  const places = new Map<string, readonly LearnedIn[] | undefined>();
  const index = createLessonIndex(
    embed,
    fallback,
    (lesson) => audienceOf(lesson, places.get(revisionKey(lesson))),
    settings.vectorCache,
  );
  let newest: readonly Lesson[] = [];
  let isWarm = false;
  /** Why the model could not be loaded. */
  let loadFailure: string | undefined;
  const counts = { bySentences: 0, byLetters: 0 };
  let links: LessonLinks = linkLessonsBothWays([]);
  let fragments: ReadonlySet<string> = new Set();
  const findPlaces = async (lessons: readonly Lesson[]): Promise<void> => {
    // A private lesson whose origin cannot be read is shown to nobody.
    for (const lesson of lessons)
      places.set(
        revisionKey(lesson),
        await settings.learnedIn?.(lesson).catch((): readonly LearnedIn[] => []),
      );
  };
  const meaningOf = createQueryEmbedding(embed, settings.patienceMs ?? PATIENCE_MS, settings.demand);
  const spellingOf = createQueryEmbedding(fallback, settings.patienceMs ?? PATIENCE_MS);
  /** A prepared task is read once. */
  let newestRead: { readonly of: string; readonly query: ReturnType<typeof readQuery> } | undefined;
  const read = (text: string): ReturnType<typeof readQuery> => {
    if (newestRead?.of !== text) newestRead = { of: text, query: readQuery(text) };
    return newestRead.query;
  };
  const usefulness = settings.usefulness ?? (() => UNKNOWN_USE);
  const nothing = (domain: Domain, engine: string): RecallResult => ({
    lessons: [],
    index: [],
    heldOut: [],
    considered: [],
    domain,
    engine,
  });

  const find = async (query: RecallQuery, now: number): Promise<RecallResult> => {
    const weights = settings.weights ?? RELEVANCE;
    const { text, meant } = read(query.text);
    const named = namedDomain(query, text, settings.patterns ?? []);
    // Nothing is in scope: no search, and no time of the model.
    const isForAsker = index.table.audiences.some((audience) =>
      isInScope(widestReach(audience, query), query, named?.name),
    );
    // Small talk needs no lesson; what is for every run is shown all the same.
    const isIdle = isSmallTalk(text);
    if (index.size === 0 || !isForAsker || (isIdle && fragments.size === 0))
      return nothing(named ?? NO_DOMAIN, embed.id);
    const { isUnhurried = false } = query;
    if (isUnhurried) await index.settled();
    // Without an embedded lesson there is nothing to compare with: a first lesson is found by its keywords, without a wait.
    const canCompare = index.stats().known > 0;
    const meaning = canCompare && !isIdle ? await meaningOf(meant, isUnhurried) : undefined;
    const isComplete = meaning !== undefined && index.stats().known === index.size;
    const spelling = isComplete ? undefined : await spellingOf(text);
    const domain = named ?? guessedDomain(index.middles, meaning);
    const { stamp, table } = index;
    const { length } = table;
    const standings = await eligibilityOf(
      index,
      { length, stamp },
      isIdle ? { ...query, among: inBoth(fragments, query.among) } : query,
      domain,
      now,
    );
    const found = await scanLessons(index, { length, stamp, standings }, text, meaning, spelling, weights);
    const candidates = await findCandidates(index, found, standings, {
      domain,
      now,
      doubt: chatPenalty(text),
      usefulness,
      weights,
      links,
    });
    const chosen = selectLessons(candidates, limitsWithin(limits, query.most), {
      lotOf: (lessonId) => settings.holdout?.lotOf(query, lessonId) ?? 'shown',
      areAlike: compareIn(index),
      weights,
    });
    // Small talk is compared with nothing.
    const isByLetters = meaning === undefined && !isIdle;
    if (meaning !== undefined) loadFailure = undefined;
    if (isByLetters) counts.byLetters++;
    else if (!isIdle) counts.bySentences++;
    const isLate = isByLetters && stats().failure === undefined;
    return {
      ...chosen,
      domain,
      engine: isByLetters ? fallback.id : embed.id,
      ...(isLate ? { isLate } : {}),
    };
  };

  const stats: LessonRecall['stats'] = () => ({
    ...(loadFailure === undefined ? {} : { failure: loadFailure }),
    ...index.stats(),
    isModelReady: embed.isReady?.() ?? true,
    recalls: { ...counts },
  });

  return {
    recall: async (query, now) => {
      try {
        return await find(query, now);
      } catch {
        // A failed recall must not fail the request; the error of the model is in `stats`.
        counts.byLetters++;
        return nothing(NO_DOMAIN, fallback.id);
      }
    },
    prepare: (query) => {
      const { text, meant } = read(query.text);
      if (index.stats().known > 0 && !isSmallTalk(text)) void meaningOf(meant);
    },
    update: async (all) => {
      const lessons = all.filter(isRecalled);
      newest = lessons;
      // The vectors of known lessons are kept on disk: nothing else would load the model before the first task.
      if (lessons.length > 0 && !isWarm && embed.isReady?.() === false)
        embed.embed(WARM_UP).catch((error: unknown) => {
          loadFailure = error instanceof Error ? error.message : String(error);
        });
      isWarm ||= lessons.length > 0;
      links = linkLessonsBothWays(lessons);
      fragments = new Set(
        lessons.filter((one) => isFragment(one) || one.kind === 'identity').map(({ id }) => id),
      );
      const unknown = lessons.filter(
        (lesson) => lesson.text.note.visibility === 'private' && !places.has(revisionKey(lesson)),
      );
      if (unknown.length > 0) await findPlaces(unknown);
      // A later call may have come meanwhile.
      return index.update(newest);
    },
    settled: index.settled,
    stats,
  };
}

const inBoth = (ids: ReadonlySet<string>, among: ReadonlySet<string> = ids): ReadonlySet<string> =>
  new Set([...ids].filter((id) => among.has(id)));

const revisionKey = ({ id, revision }: Lesson): string => `${id} ${revision}`;

/** Whether two slots are near-duplicates. Each vector is read once for a recall: every candidate is compared with all taken. */
function compareIn({ meanings, spellings }: LessonIndex): (slot: number, other: number) => boolean {
  const known = new Map<number, Float32Array>();
  const vectorOf = (rows: Int8Vectors, slot: number): Float32Array => {
    const vector = known.get(slot) ?? rows.read(slot);
    known.set(slot, vector);
    return vector;
  };
  return (slot, other) => {
    // Lessons that have no embedding yet are compared by their letters, which are not worth keeping.
    const isKnown = meanings.has(slot) && meanings.has(other);
    const one = isKnown ? vectorOf(meanings, slot) : spellings.read(slot);
    const two = isKnown ? vectorOf(meanings, other) : spellings.read(other);
    let sum = 0;
    for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (two[at] ?? 0);
    return sum > ALIKE;
  };
}
