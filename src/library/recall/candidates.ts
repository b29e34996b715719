import type { Lesson } from '../../core/lesson.ts';
import type { Domain } from '../../core/recall.ts';
import { activationOf, type Usefulness } from './activation.ts';
import { type BestOf, createBestOf } from './best-of.ts';
import { inSlices } from './in-slices.ts';
import type { LessonIndex } from './lesson-index.ts';
import { backgroundOf, evidenceFor } from './relevance.ts';
import type { Scan } from './scan.ts';
import { STANDING } from './standings.ts';

/** A lesson that may be shown, with the evidence for it. */
export interface Candidate {
  readonly lesson: Lesson;
  readonly slot: number;
  /** From 0 on it is enough to be shown. */
  readonly evidence: number;
  readonly activation: number;
  /** Pinned or proven: age does not hide it. */
  readonly isKept: boolean;
  /** Belongs to the guidelines of the domain, which come first. */
  readonly isGuideline: boolean;
  /** Shown whether or not it matches the task: its domain was named, or people told it to this agent. */
  readonly isDue: boolean;
  readonly isInScope: boolean;
}

export interface Circumstances {
  readonly domain: Domain;
  readonly now: number;
  /** Subtracted from all evidence. */
  readonly doubt: number;
  readonly usefulness: (lessonId: string) => Usefulness;
}

/** More than any budget holds, so that enough remain after duplicates and old lessons are dropped. */
const MOST = 32;
/** Lessons of other scopes, kept only to explain why they are not shown. */
const MOST_SHUT = 8;

/** The lessons with the most evidence, including those that are always shown. */
export async function findCandidates(
  index: LessonIndex,
  found: Scan,
  standings: Uint8Array,
  { domain, now, doubt, usefulness }: Circumstances,
): Promise<readonly Candidate[]> {
  const evidenceOf = evidenceFor(found, backgroundOf(found, standings));
  const lists: readonly (BestOf | undefined)[] = [
    undefined,
    createBestOf(MOST),
    createBestOf(MOST),
    createBestOf(MOST_SHUT),
  ];
  const bars = lists.map((list) => list?.bar ?? Number.POSITIVE_INFINITY);
  await inSlices(standings.length, (from, to) => {
    for (let slot = from; slot < to; slot++) {
      const standing = standings[slot] ?? STANDING.absent;
      const evidence = evidenceOf(slot);
      if (evidence <= (bars[standing] ?? 0)) continue;
      const list = lists[standing];
      list?.offer(slot, evidence);
      bars[standing] = list?.bar ?? Number.POSITIVE_INFINITY;
    }
  });

  const guidelines = index.table.guidelines();
  const candidateAt = (slot: number): readonly Candidate[] => {
    const placed = index.at(slot);
    if (placed === undefined || placed.stamp > found.stamp) return [];
    const { lesson } = placed;
    const use = usefulness(lesson.id);
    return [
      {
        lesson,
        slot,
        evidence: evidenceOf(slot) - doubt,
        activation: activationOf(lesson, use, now),
        isKept: lesson.pinned || use.isProven,
        isGuideline: guidelines[slot] === 1 && lesson.text.scope.domain === domain.name,
        isDue: standings[slot] === STANDING.due,
        isInScope: standings[slot] !== STANDING.shut,
      },
    ];
  };
  return lists.flatMap((list) => list?.items() ?? []).flatMap(candidateAt);
}
