import { createHash } from 'node:crypto';
import type { ProposedChange } from '../../core/learn.ts';
import { isActive, type Lesson, type LessonKind, type LessonText } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { LESSON_LIKENESS } from '../../lessons/similar/compare.ts';
import { mayScopesOverlap } from '../draft-lesson.ts';
import { FORGOTTEN } from '../memory/write/note-text.ts';
import { foldedWords, foldText } from './normalize-text.ts';

/** The similarity of a text to each of some lessons. */
export type FindSimilar = (
  text: LessonText,
  among: readonly Lesson[],
) => Promise<readonly { readonly id: string; readonly cosine: number }[]>;

const LONGEST_REASON = 120;

/** A change that brings a text. */
export type TextChange = Exclude<ProposedChange, { readonly op: 'retire' }>;

/** Why the library does not need the lesson. `isKnown`: another lesson in use says the same. */
interface DuplicateFinding {
  readonly why: string;
  readonly isKnown: boolean;
}

/** A lesson that the library has, or had and retired or rejected. Undefined when the proposal is new. */
export async function findDuplicate(
  change: TextChange,
  library: Library,
  findSimilar: FindSimilar,
): Promise<DuplicateFinding | undefined> {
  const { text } = change;
  const isChanged = (id: string): boolean =>
    change.op === 'merge' ? change.ids.includes(id) : change.id === id;
  const print = contentFingerprint(text);
  const isIdentity = kindOf(change, library) === 'identity';
  // A lesson of another scope is no duplicate; nor is what an agent is of what its work needs.
  const others = library
    .lessons()
    .filter(
      (lesson) =>
        !isChanged(lesson.id) &&
        (lesson.kind === 'identity') === isIdentity &&
        mayScopesOverlap(lesson.text.scope, text.scope),
    );
  for (const lesson of others) {
    // Whoever goes back to what they said before a newer word means it.
    const isOpen = isActive(lesson) || lesson.supersededBy !== undefined || lesson.reason === FORGOTTEN;
    const why = isOpen ? undefined : whyRemoved(lesson, print, library);
    if (why !== undefined) return { why, isKnown: false };
  }
  const active = others.filter(isActive);
  const same = active.find((lesson) => lesson.text.name === text.name);
  if (same !== undefined)
    return { why: `${same.id} already has the name ${text.name}: revise that lesson`, isKnown: false };
  const copy = active.find((lesson) => contentFingerprint(lesson.text) === print);
  if (copy !== undefined)
    return { why: `${copy.id} already says the same: revise that lesson`, isKnown: true };
  // Lessons that quote share their frame and often their task: their learner has compared them quote by quote.
  const compared = active.filter((lesson) => !(isQuoting(lesson.text) && isQuoting(text)));
  const near = await nearest(text, compared, findSimilar);
  if (near === undefined) return undefined;
  return {
    why: `${near.id} says nearly the same (cosine ${near.cosine.toFixed(2)}): revise that lesson`,
    isKnown: true,
  };
}

const kindOf = (change: TextChange, library: Library): LessonKind | undefined =>
  change.op === 'add' ? change.kind : library.lesson(change.op === 'merge' ? change.into : change.id)?.kind;

/** The most similar lesson in use. None when the embedding fails: names and words have been compared by then. */
async function nearest(
  text: LessonText,
  active: readonly Lesson[],
  findSimilar: FindSimilar,
): Promise<{ readonly id: string; readonly cosine: number } | undefined> {
  if (active.length === 0) return undefined;
  const ids = new Set(active.map(({ id }) => id));
  try {
    const similar = await findSimilar(text, active);
    return similar
      .filter(({ id, cosine }) => ids.has(id) && cosine >= LESSON_LIKENESS.same)
      .sort((a, b) => b.cosine - a.cosine)[0];
  } catch {
    return undefined;
  }
}

function whyRemoved(lesson: Lesson, print: string, library: Library): string | undefined {
  const { id, state, reason } = lesson;
  const texts = [lesson.text, ...library.history(id).map((event) => event.text)];
  if (!texts.some((text) => contentFingerprint(text) === print)) return undefined;
  const because = reason === undefined ? '' : `: ${reason.slice(0, LONGEST_REASON)}`;
  return state === 'rejected'
    ? `a person rejected the same text (${id})${because}`
    : `the same text was retired (${id})${because}`;
}

const isQuoting = ({ evidence: { learner } }: LessonText): boolean => QUOTING_LEARNERS.has(learner);

/** Learners that write people's own words in the frame of this program, and nothing else. */
export const QUOTING_LEARNERS: ReadonlySet<string> = new Set(['distiller', 'identity', 'notes']);

/** A cache: texts are immutable, and every proposal is compared with the whole library. */
const known = new WeakMap<LessonText, string>();

/** Hash of a lesson's words: independent of its name, punctuation and line breaks. */
export function contentFingerprint(text: LessonText): string {
  const print =
    known.get(text) ??
    createHash('sha256')
      .update(foldedWords(foldText(text.content)).join(' '))
      .digest('hex');
  known.set(text, print);
  return print;
}
