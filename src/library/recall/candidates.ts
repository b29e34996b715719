import { setImmediate as nextTick } from 'node:timers/promises';
import type { Domain } from '../../core/recall.ts';
import { activationOf, type Usefulness } from './activation.ts';
import { type BestOf, createBestOf } from './best-of.ts';
import type { LessonIndex } from './lesson-index.ts';
import { backgroundOf, evidenceOf } from './relevance.ts';
import type { Scan } from './scan.ts';
import type { Candidate } from './select.ts';
import { isGuideline, STANDING } from './standings.ts';

export interface Circumstances {
  readonly domain: Domain;
  readonly now: number;
  /** Taken off all evidence. */
  readonly doubt: number;
  readonly usefulness: (lessonId: string) => Usefulness;
}

/** More than any budget holds, so that duplicates and lessons hidden by age leave no gap. */
const MOST = 64;
/** Lessons of others, kept only to say why they are not shown. */
const MOST_SHUT = 8;
const PAUSE_AFTER = 16_384;

/** The lessons with the most evidence, those that are due among them. */
export async function findCandidates(
  index: LessonIndex,
  found: Scan,
  standings: Uint8Array,
  { domain, now, doubt, usefulness }: Circumstances,
): Promise<readonly Candidate[]> {
  const background = backgroundOf(found, standings);
  const evidence = (slot: number): number => evidenceOf(found, slot, background) - doubt;
  const lists: readonly (BestOf | undefined)[] = [
    undefined,
    createBestOf(MOST),
    createBestOf(MOST),
    createBestOf(MOST_SHUT),
  ];
  for (let slot = 0; slot < standings.length; slot++) {
    if (slot > 0 && slot % PAUSE_AFTER === 0) await nextTick();
    const list = lists[standings[slot] ?? STANDING.absent];
    if (list === undefined) continue;
    const score = evidence(slot);
    if (score > list.bar) list.offer(slot, score);
  }

  const candidateAt = (slot: number): readonly Candidate[] => {
    const placed = index.at(slot);
    if (placed === undefined || placed.stamp > found.stamp) return [];
    const { lesson } = placed;
    const use = usefulness(lesson.id);
    return [
      {
        lesson,
        slot,
        evidence: evidence(slot),
        activation: activationOf(lesson, use, now),
        isKept: lesson.pinned || use.isProven,
        isGuideline: isGuideline(lesson, domain),
        isDue: standings[slot] === STANDING.due,
        isInScope: standings[slot] !== STANDING.shut,
      },
    ];
  };
  return lists.flatMap((list) => list?.items() ?? []).flatMap(candidateAt);
}
