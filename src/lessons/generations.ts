import { type Lesson, PROMPT_KINDS } from '../core/lesson.ts';
import type { Generation, GenerationDiff, ShownRevision } from '../core/library.ts';
import type { ChangeSetDraft } from './apply-change.ts';
import type { LibraryView } from './change-permissions.ts';
import { isErasedText } from './erased-text.ts';

/** How one lesson changed in the set that prompts may contain: revisions before and after; undefined: not in the set. */
export interface PromptMove {
  readonly id: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** A generation as its difference to the previous one. */
export interface GenerationStep extends Generation {
  readonly moves: readonly PromptMove[];
}

/** The revision of a lesson that prompts may contain, expiry ignored; undefined when they may not contain it. */
export function shownRevision(lesson: Lesson | undefined): number | undefined {
  if (lesson === undefined || !PROMPT_KINDS.has(lesson.kind) || isErasedText(lesson.text)) return undefined;
  return lesson.state === 'trial' || lesson.state === 'live' ? lesson.revision : undefined;
}

/** The changes that a draft makes to the set that prompts may contain. If there are any, a new generation begins. */
export function changedPromptLessons(view: LibraryView, draft: ChangeSetDraft): readonly PromptMove[] {
  const moves: PromptMove[] = [];
  for (const lesson of draft.changed.values()) {
    const from = shownRevision(view.lesson(lesson.id));
    const to = shownRevision(lesson);
    if (from !== to) moves.push({ id: lesson.id, from, to });
  }
  return moves;
}

/** Undefined when one of the generations never existed. Ordered by lesson id. */
export function compareGenerations(
  steps: readonly GenerationStep[],
  from: number,
  to: number,
): GenerationDiff | undefined {
  if (!existed(steps, from) || !existed(steps, to)) return undefined;
  const between = netMoves(steps, Math.min(from, to), Math.max(from, to));
  const moves = from <= to ? between : between.map(({ id, from, to }) => ({ id, from: to, to: from }));
  const added: ShownRevision[] = [];
  const removed: ShownRevision[] = [];
  const revised: { id: string; from: number; to: number }[] = [];
  for (const { id, from, to } of moves) {
    if (from === undefined && to !== undefined) added.push({ id, revision: to });
    if (from !== undefined && to === undefined) removed.push({ id, revision: from });
    if (from !== undefined && to !== undefined) revised.push({ id, from, to });
  }
  return { added, removed, revised };
}

/** Number 0 is the empty library and has no step. Numbers increase, with gaps. */
function existed(steps: readonly GenerationStep[], generation: number): boolean {
  if (generation === 0) return true;
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.generation ?? 0) < generation) low = middle + 1;
    else high = middle;
  }
  return steps[low]?.generation === generation;
}

function netMoves(steps: readonly GenerationStep[], after: number, until: number): readonly PromptMove[] {
  const net = new Map<string, PromptMove>();
  for (const { generation, moves } of steps) {
    if (generation <= after || generation > until) continue;
    for (const move of moves) net.set(move.id, { ...move, from: (net.get(move.id) ?? move).from });
  }
  return [...net.values()].filter(({ from, to }) => from !== to).sort((a, b) => (a.id < b.id ? -1 : 1));
}
