import { createHash } from 'node:crypto';
import type { Proposal } from '../../core/learn.ts';
import type { Lesson, LessonText } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { doScopesMeet } from '../shared-scope.ts';
import { foldText } from './fold-text.ts';
import { tokensOf } from './tokens.ts';

/** How near a text is to each of some lessons. */
export type FindSimilar = (
  text: LessonText,
  among: readonly Lesson[],
) => Promise<readonly { readonly id: string; readonly cosine: number }[]>;

const SAME = 0.9;
const LONGEST_REASON = 120;

/** Why the library needs no such lesson. `isKnown`: another one in use says the same. */
export interface Duplicate {
  readonly why: string;
  readonly isKnown: boolean;
}

/** Whether the library has such a lesson, or had it and let it go. Undefined when it is new. */
export async function findDuplicate(
  { change }: Proposal,
  library: Library,
  findSimilar: FindSimilar,
): Promise<Duplicate | undefined> {
  const { text } = change;
  const mark = fingerprint(text);
  // What holds elsewhere is no reason against learning it here.
  const others = library
    .lessons()
    .filter((lesson) => lesson.id !== change.id && doScopesMeet(lesson.text.scope, text.scope));
  for (const lesson of others) {
    const why = isActive(lesson) ? undefined : whyGone(lesson, mark, library);
    if (why !== undefined) return { why, isKnown: false };
  }
  const active = others.filter(isActive);
  const same = active.find((lesson) => lesson.text.name === text.name);
  if (same !== undefined)
    return { why: `${same.id} has the name ${text.name} already: revise that one`, isKnown: false };
  const copy = active.find((lesson) => fingerprint(lesson.text) === mark);
  if (copy !== undefined) return { why: `${copy.id} says the same already: revise that one`, isKnown: true };
  const near = await nearest(text, active, findSimilar);
  if (near === undefined) return undefined;
  return {
    why: `${near.id} says nearly the same (${near.cosine.toFixed(2)}): revise that one`,
    isKnown: true,
  };
}

/** The best match among the lessons in use. Without a model of meanings there is none: names and words were compared. */
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
      .filter(({ id, cosine }) => ids.has(id) && cosine >= SAME)
      .sort((a, b) => b.cosine - a.cosine)[0];
  } catch {
    return undefined;
  }
}

function whyGone(lesson: Lesson, mark: string, library: Library): string | undefined {
  const { id, state, reason } = lesson;
  const texts = [lesson.text, ...library.history(id).map((event) => event.text)];
  if (!texts.some((text) => fingerprint(text) === mark)) return undefined;
  const because = reason === undefined ? '' : `: ${reason.slice(0, LONGEST_REASON)}`;
  return state === 'rejected'
    ? `a person turned the same text down (${id})${because}`
    : `the same text was retired (${id})${because}`;
}

const isActive = ({ state }: Lesson): boolean => state !== 'retired' && state !== 'rejected';

/** Texts never change, and a library is compared with again and again. */
const known = new WeakMap<LessonText, string>();

/** What a lesson says, whatever its name, its marks and its line breaks. */
export function fingerprint(text: LessonText): string {
  const mark =
    known.get(text) ??
    createHash('sha256')
      .update(tokensOf(foldText(text.content)).join(' '))
      .digest('hex');
  known.set(text, mark);
  return mark;
}
