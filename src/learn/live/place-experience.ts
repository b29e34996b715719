import type { CoveredByLesson, Proposal } from '../../core/learn.ts';
import type { Lesson, LessonText } from '../../core/lesson.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import { MOST_LINKS, reviseLesson, uniqueLessonName } from '../draft-lesson.ts';
import { whyNotRetired } from '../gate/judge-retirement.ts';

const STANDING = { live: 0, trial: 1, proposed: 2, retired: 3, rejected: 3 } as const;

export interface PlacedExperience {
  readonly text: LessonText;
  readonly quotes: Proposal['quotes'];
  /** Lessons that say the same. */
  readonly same: readonly Lesson[];
  /** Lessons that what happened shows to be wrong now. */
  readonly wrong: readonly Lesson[];
}

/**
 * What is to be done in the library for an experience: it becomes a new lesson, a better version of the one that says the same,
 * or takes the place of several. Lessons that it shows to be wrong are retired in its favour, with a link.
 */
export function* placeExperience(
  { text, quotes, same, wrong }: PlacedExperience,
  lessons: readonly Lesson[],
  newId: (prefix: string) => string,
): Generator<Proposal | CoveredByLesson> {
  const { turns } = text.evidence;
  const open = same
    .filter(({ state, frozen, kind }) => isActive(state) && !frozen && kind === 'experience')
    .filter((lesson) => !isPersonsWord(lesson))
    .filter(({ text: { scope } }) => isSameScope(scope, text.scope))
    .toSorted((a, b) => STANDING[a.state] - STANDING[b.state] || a.createdAt - b.createdAt);
  const [into, ...others] = open;
  const saysIt = same.find(
    (lesson) =>
      isActive(lesson.state) &&
      (lesson.text.content === text.content ||
        (isPersonsWord(lesson) && isSameScope(lesson.text.scope, text.scope))),
  );
  if (saysIt !== undefined) return yield { known: saysIt.id, turns };
  const absorbed = others.filter((lesson) => whyNotRetired(lesson) === undefined);
  const gone = wrong
    .filter(({ id }) => !open.some((lesson) => lesson.id === id))
    .filter((lesson) => whyNotRetired(lesson) === undefined);
  const taken = new Set(lessons.filter(({ state }) => isActive(state)).map((lesson) => lesson.text.name));
  const links = gone.map(({ id }) => id);
  const id = into?.id ?? newId('lesson');
  if (into === undefined) {
    const name = uniqueLessonName(text.name, taken);
    const added = {
      ...text,
      name,
      note: { ...text.note, links: [...text.note.links, ...links].slice(0, MOST_LINKS) },
    };
    yield { change: { op: 'add', id, kind: 'experience', state: 'proposed', text: added }, quotes };
  } else {
    const revised = reviseLesson([into.text], text, [...absorbed.map((lesson) => lesson.id), ...links]);
    const { revision: from } = into;
    const change: Proposal['change'] =
      absorbed.length === 0
        ? { op: 'revise', id, from, text: revised }
        : { op: 'merge', ids: [id, ...absorbed.map((lesson) => lesson.id)], into: id, from, text: revised };
    yield { change, quotes };
  }
  for (const lesson of gone)
    yield {
      change: {
        op: 'retire',
        id: lesson.id,
        reason: 'what it advises failed, and something else worked',
        supersededBy: id,
      },
      quotes: [],
      turns,
    };
}

const isActive = (state: Lesson['state']): boolean => state !== 'retired' && state !== 'rejected';

const isSameScope = (a: LessonText['scope'], b: LessonText['scope']): boolean =>
  a.agent === b.agent &&
  a.project === b.project &&
  a.runKind === b.runKind &&
  a.domain === b.domain &&
  a.member === b.member;
