import { setImmediate as nextTick } from 'node:timers/promises';
import type { Lesson, LessonKind } from '../../core/lesson.ts';
import type { Domain, RecallQuery } from '../../core/recall.ts';
import { activationOf, type Usefulness } from './activation.ts';
import { type BestOf, createBestOf } from './best-of.ts';
import type { LessonIndex, Placed } from './lesson-index.ts';
import { evidenceOf, relevanceOf } from './relevance.ts';
import type { Scan } from './scan.ts';
import { isInScope } from './scope.ts';
import type { Candidate } from './select.ts';

/** Who asks, for what, when. */
export interface Asked {
  readonly query: RecallQuery;
  readonly domain: Domain;
  readonly now: number;
}

/** More than any budget holds, so that duplicates and lessons hidden by age leave no gap. */
const MOST = 64;
/** Lessons of others, kept only to say why they are not shown. */
const MOST_STRANGERS = 8;
const PAUSE_AFTER = 32_768;
/** How to work, as opposed to what once happened. */
const GUIDELINES: ReadonlySet<LessonKind> = new Set(['skill', 'fragment', 'identity']);

/** The lessons with the most evidence, those of a named domain among them. */
export async function findCandidates(
  index: LessonIndex,
  found: Scan,
  { query, domain, now }: Asked,
  usefulness: (lessonId: string) => Usefulness,
): Promise<readonly Candidate[]> {
  const isNamed = domain.reason === 'header' || domain.reason === 'pattern';
  const inScope = index.scopes.map((scope) => isInScope(scope, query, isNamed ? domain.name : undefined));
  const best = createBestOf(MOST);
  const due = createBestOf(MOST);
  const strangers = createBestOf(MOST_STRANGERS);

  const listFor = (placed: Placed): BestOf => {
    if (!inScope[placed.scope] || isExpired(placed.lesson, now)) return strangers;
    return isNamed && isGuideline(placed.lesson, domain) ? due : best;
  };
  const look = (slot: number): void => {
    const placed = index.at(slot);
    if (placed === undefined || placed.stamp > found.stamp) return;
    const list = listFor(placed);
    const evidence = evidenceOf(found, slot);
    if (evidence <= list.bar) return;
    if (query.among === undefined || query.among.has(placed.lesson.id)) list.offer(slot, evidence);
  };
  for (let slot = 0; slot < found.words.length; slot++) {
    if (slot > 0 && slot % PAUSE_AFTER === 0) await nextTick();
    look(slot);
  }

  const candidateOf =
    (list: BestOf) =>
    (slot: number): readonly Candidate[] => {
      const placed = index.at(slot);
      if (placed === undefined || placed.stamp > found.stamp) return [];
      const { lesson } = placed;
      const use = usefulness(lesson.id);
      return [
        {
          lesson,
          slot,
          relevance: relevanceOf(evidenceOf(found, slot)),
          activation: activationOf(lesson, use, now),
          isKept: lesson.pinned || use.isProven,
          isGuideline: isGuideline(lesson, domain),
          isDue: list === due,
          isInScope: list !== strangers,
        },
      ];
    };
  return [due, best, strangers].flatMap((list) => list.items().flatMap(candidateOf(list)));
}

const isGuideline = ({ kind, text }: Lesson, domain: Domain): boolean =>
  text.scope.domain === domain.name && GUIDELINES.has(kind);

const isExpired = ({ expiresAt }: Lesson, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now;
