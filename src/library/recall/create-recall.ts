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
  /** Answers at once: stands in while the model is late or when there is none. */
  readonly fallback: Embed;
  readonly limits: Limits;
  readonly patterns?: readonly DomainPattern[];
  readonly usefulness?: (lessonId: string) => Usefulness;
  /** Whether a session goes without a lesson so that its effect can be measured: the same for the same two. */
  readonly heldOut?: (session: string, lessonId: string) => boolean;
  /** Where the model's vectors are kept from one start to the next. */
  readonly shelf?: VectorShelf;
  /** How much may be asked of the model; absent: all. */
  readonly demand?: Demand;
  /** How long a query waits for the model. */
  readonly patienceMs?: number;
}

export interface RecallIndex {
  readonly recall: Recall;
  /** What may be shown from now on. Words count when it resolves; meanings follow in the background. */
  update(lessons: readonly Lesson[]): Promise<void>;
  /** When all meanings are there, or the model has failed. */
  settled(): Promise<void>;
  stats(): IndexStats;
}

const PATIENCE_MS = 120;
/** The cosine above which two lessons say the same. */
const ALIKE = 0.92;
/** Of a long message. More would take the model longer, and on our pairs finds nothing more. */
const MEANT_HEAD = 240;
const MEANT_TAIL = 80;
const NO_DOMAIN: Domain = { name: 'general', reason: 'default' };

/** Lessons for a task: those that fit it in meaning, and those that have the names it uses. */
export function createRecall(settings: RecallSettings): RecallIndex {
  const { embed, fallback, limits, patterns = [] } = settings;
  const index = createLessonIndex(embed, fallback, settings.shelf);
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
    // What is meant for others alone is not worth a look, let alone the model's time.
    const isForAsker = index.table.scopes.some((scope) => isInScope(scope, query, named?.name));
    if (index.size === 0 || !isForAsker || isSmallTalk(text)) return nothing(named ?? NO_DOMAIN, embed.id);
    const { isUnhurried = false } = query;
    if (isUnhurried) await index.settled();
    // With nothing to compare it with, a meaning is not worth the wait: a first lesson is found by its words at once.
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
        // A task without its lessons is still a task; what is wrong with the model shows in `stats`.
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
