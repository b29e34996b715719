import type { FailureCase, Judgement, ProposedChange } from '../../core/learn.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { mayScopesOverlap } from '../draft-lesson.ts';

/** Lessons that no learner wrote: people, files and imports. */
const BY_PEOPLE: ReadonlySet<string> = new Set(['person', 'import', 'file', 'starter']);

/** Why a learner may not take a lesson out of use; undefined when it may. `isTold`: a person's feedback says otherwise now. */
export function whyNotRetired(
  { id, state, frozen, pinned, text }: Lesson,
  isTold = false,
): string | undefined {
  if (frozen) return `${id} is frozen: only a person may change it`;
  if (pinned) return `${id} is pinned: only a person may retire it`;
  if (state === 'retired' || state === 'rejected') return `${id} is ${state} already`;
  // A person's own feedback outranks what was said in the chat and what was measured on a few turns.
  if ((text.note.source === 'told' && !isTold) || BY_PEOPLE.has(text.evidence.learner))
    return `${id} was told by a person: only a person may retire it`;
  return undefined;
}

/** A retirement cites turns of this cycle, and is of a lesson that applies to them. */
export function judgeRetirement(
  change: Extract<ProposedChange, { readonly op: 'retire' }>,
  turns: readonly string[],
  cases: readonly FailureCase[],
  library: Library,
): Judgement {
  const lesson = library.lesson(change.id);
  const cited = cases.filter(({ turn }) => turns.includes(turn));
  const isTold = cited.some(({ source }) => source === 'person' || source === 'verifier');
  const why = lesson === undefined ? `lesson ${change.id} does not exist` : whyNotRetired(lesson, isTold);
  if (lesson === undefined || why !== undefined) return { outcome: 'refused', why: [why ?? ''] };
  if (cited.length === 0) return { outcome: 'refused', why: ['it cites no turn of this cycle'] };
  if (!cited.some(({ scope }) => mayScopesOverlap(scope, lesson.text.scope)))
    return { outcome: 'refused', why: [`${lesson.id} does not apply where this happened`] };
  return { outcome: 'trial', why: [], change };
}
