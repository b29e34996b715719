import { type Lesson, PROMPT_KINDS } from '../core/lesson.ts';
import type { Generation, GenerationDiff, ShownRevision } from '../core/library.ts';
import type { Draft } from './draft.ts';
import type { ShelfView } from './shelf-view.ts';

/** How one lesson entered, left or changed what prompts may contain; a side that is absent was not shown. */
export interface ShownMove {
  readonly id: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** A generation and how it differs from the one before: what it shows in full is the sum of these. */
export interface GenerationStep extends Generation {
  readonly moves: readonly ShownMove[];
}

/** The revision of a lesson that prompts may contain, whatever the time is; undefined when they may not. */
export function shownRevision(lesson: Lesson | undefined): number | undefined {
  if (lesson === undefined || !PROMPT_KINDS.has(lesson.kind)) return undefined;
  return lesson.state === 'trial' || lesson.state === 'live' ? lesson.revision : undefined;
}

/** What a draft would change in what prompts may contain. A new generation is due when this is not empty. */
export function shownMoves(shelf: ShelfView, draft: Draft): readonly ShownMove[] {
  const moves: ShownMove[] = [];
  for (const lesson of draft.changed.values()) {
    const from = shownRevision(shelf.lesson(lesson.id));
    const to = shownRevision(lesson);
    if (from !== to) moves.push({ id: lesson.id, from, to });
  }
  return moves;
}

/** Undefined when one of them never was. In the order of ids. */
export function diffGenerations(
  steps: readonly GenerationStep[],
  from: number,
  to: number,
): GenerationDiff | undefined {
  if (!hasBeen(steps, from) || !hasBeen(steps, to)) return undefined;
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

/** Number 0 is the empty library and needs no step. Numbers grow, and some may be missing. */
function hasBeen(steps: readonly GenerationStep[], generation: number): boolean {
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

function netMoves(steps: readonly GenerationStep[], after: number, until: number): readonly ShownMove[] {
  const net = new Map<string, ShownMove>();
  for (const { generation, moves } of steps) {
    if (generation <= after || generation > until) continue;
    for (const move of moves) net.set(move.id, { ...move, from: (net.get(move.id) ?? move).from });
  }
  return [...net.values()].filter(({ from, to }) => from !== to).sort((a, b) => (a.id < b.id ? -1 : 1));
}
