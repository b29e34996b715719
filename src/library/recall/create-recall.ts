import type { Embed } from '../../core/embed.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Domain, Recall, Recalled, RecallQuery } from '../../core/recall.ts';
import { UNKNOWN_USE, type Usefulness } from './activation.ts';
import { findCandidates } from './candidates.ts';
import { cleanQuery, joinEnds } from './clean-query.ts';
import { type DomainPattern, guessedDomain, namedDomain } from './domain.ts';
import { doubtOf } from './doubt-of.ts';
import { createLessonIndex, type IndexStats, type LessonIndex } from './lesson-index.ts';
import { createQueryVectors, type Demand } from './query-vectors.ts';
import { scan } from './scan.ts';
import { isInScope } from './scope.ts';
import { type Limits, select } from './select.ts';
import { isSmallTalk } from './small-talk.ts';
import { standingsOf } from './standings.ts';
import type { VectorShelf } from './vector-file.ts';

export interface RecallSettings {
  readonly embed: Embed;
  /** Answers immediately; used while the model is slow or missing. */
  readonly fallback: Embed;
  readonly limits: Limits;
  readonly patterns?: readonly DomainPattern[];
  readonly usefulness?: (lessonId: string) => Usefulness;
  /** Whether a lesson is held out from a session to measure its effect; deterministic. */
  readonly heldOut?: (session: string, lessonId: string) => boolean;
  /** Keeps the model's vectors between two starts. */
  readonly vectorCache?: VectorShelf;
  /** The rate limit for the model; absent: none. */
  readonly demand?: Demand;
  /** How long a query waits for the model. */
  readonly patienceMs?: number;
}

export interface RecallIndex {
  readonly recall: Recall;
  /** Sets the lessons that may be shown. Keyword search covers them when it resolves; embeddings follow in the background. */
  update(lessons: readonly Lesson[]): Promise<void>;
  /** Resolves when all embeddings are computed, or when the model has failed. */
  settled(): Promise<void>;
  stats(): IndexStats;
}

const PATIENCE_MS = 120;
/** The cosine above which two lessons are near-duplicates. */
const ALIKE = 0.92;
/** The parts of a long message that are embedded. More costs time and did not improve recall on the pairs of the benchmark. */
const MEANT_HEAD = 240;
const MEANT_TAIL = 80;
const NO_DOMAIN: Domain = { name: 'general', reason: 'default' };

/** Recall of lessons for a task, by embeddings and by keywords. */
export function createRecall(settings: RecallSettings): RecallIndex {
  const { embed, fallback, limits, patterns = [] } = settings;
  const index = createLessonIndex(embed, fallback, settings.vectorCache);
  const meaningOf = createQueryVectors(embed, settings.patienceMs ?? PATIENCE_MS, settings.demand);
  const spellingOf = createQueryVectors(fallback, settings.patienceMs ?? PATIENCE_MS);
  const usefulness = settings.usefulness ?? (() => UNKNOWN_USE);
  const nothing = (domain: Domain, engine: string): Recalled => ({
    lessons: [],
    heldOut: [],
    considered: [],
    domain,
    engine,
  });

  const find = async (query: RecallQuery, now: number): Promise<Recalled> => {
    const text = cleanQuery(query.text);
    const named = namedDomain(query, text, patterns);
    // Nothing is in scope: no search, and no time of the model.
    const isForAsker = index.table.scopes.some((scope) => isInScope(scope, query, named?.name));
    if (index.size === 0 || !isForAsker || isSmallTalk(text)) return nothing(named ?? NO_DOMAIN, embed.id);
    const { isUnhurried = false } = query;
    if (isUnhurried) await index.settled();
    // Without an embedded lesson there is nothing to compare with: a first lesson is found by its keywords, without a wait.
    const canCompare = index.stats().known > 0;
    const meaning = canCompare
      ? await meaningOf(joinEnds(text, MEANT_HEAD, MEANT_TAIL), isUnhurried)
      : undefined;
    const isComplete = meaning !== undefined && index.stats().known === index.size;
    const spelling = isComplete ? undefined : await spellingOf(text);
    const domain = named ?? guessedDomain(index.middles, meaning);
    const found = await scan(index, text, meaning, spelling);
    const standings = await standingsOf(
      index,
      { length: found.words.length, stamp: found.stamp },
      query,
      domain,
      now,
    );
    const candidates = await findCandidates(index, found, standings, {
      domain,
      now,
      doubt: doubtOf(text),
      usefulness,
    });
    const chosen = select(candidates, limits, {
      isHeldOut: (lessonId) => settings.heldOut?.(query.session, lessonId) ?? false,
      areAlike: (slot, other) => areAlike(index, slot, other),
    });
    return { ...chosen, domain, engine: meaning === undefined ? fallback.id : embed.id };
  };

  return {
    recall: async (query, now) => {
      try {
        return await find(query, now);
      } catch {
        // A failed recall must not fail the request; the error of the model is in `stats`.
        return nothing(NO_DOMAIN, fallback.id);
      }
    },
    update: index.update,
    settled: index.settled,
    stats: index.stats,
  };
}

function areAlike({ meanings, spellings }: LessonIndex, slot: number, other: number): boolean {
  const rows = meanings.has(slot) && meanings.has(other) ? meanings : spellings;
  const vector = rows.read(other);
  return rows.read(slot).reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0) > ALIKE;
}
