import { isDeepStrictEqual } from 'node:util';
import { hasCommand } from '../core/check.ts';
import {
  type Author,
  type Change,
  isActive,
  type Lesson,
  type LessonState,
  type LessonText,
} from '../core/lesson.ts';
import { TEAM } from '../core/principal.ts';
import { ERASURE_AUTHOR, whyNotOfTier } from './identity-tier.ts';
import { isPersonsWord, keepsPersonsWords } from './told.ts';

/** The key that is unique among active lessons: name and scope. Neither contains a line break, and no pattern is empty. */
export const uniqueKeyOf = ({ name, scope }: Pick<LessonText, 'name' | 'scope'>): string =>
  `${name}\n${scope.agent ?? ''}\n${scope.project ?? ''}\n${scope.runKind ?? ''}\n${scope.domain ?? ''}\n${scope.member ?? ''}`;

/** The part of the library's state that the rules for changes read. */
export interface LibraryView {
  lesson(id: string): Lesson | undefined;
  /** The text of a revision. */
  text(id: string, revision: number): LessonText | undefined;
  wasEver(id: string, state: LessonState): boolean;
  /** The id of the active lesson with this name and scope. */
  holder(place: string): string | undefined;
}

/** Why an author may not change lessons to these states; undefined when they may. */
export function whyNotPermitted(
  by: Author,
  view: LibraryView,
  lessons: readonly Lesson[],
): string | undefined {
  for (const lesson of lessons) {
    const before = view.lesson(lesson.id);
    const why =
      whyNotOfTier(by, before, lesson) ??
      (by.kind === 'person' || (by.kind === 'instar' && MOVING_AUTHORS.has(by.name))
        ? undefined
        : whyNotOfMember(before, lesson)) ??
      (by.kind === 'file' ? whyNotByFile(before, lesson) : undefined) ??
      (by.kind === 'person' ? undefined : whyNotCommanded(before, lesson)) ??
      (before === undefined || by.kind === 'person' ? undefined : whyProtected(before, lesson, by.kind)) ??
      whyNameTaken(view, lesson, lessons);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** A learner may propose a check that runs a command, and never say that a person wrote it: then it would be run. */
const whyNotCommanded = (before: Lesson | undefined, { id, check }: Lesson): string | undefined =>
  check?.by === 'person' && hasCommand(check) && !isDeepStrictEqual(before?.check, check)
    ? `the check of ${id} runs a command: only a person sets it`
    : undefined;

/** Learners that write nothing but the words of a person: what they change, that person has said. */
const READERS: ReadonlySet<string> = new Set(['distiller', 'notes']);

/**
 * Why a learner or a measurement may not do this to a person's word; undefined when it may. Only that person's newer word ends or rewords
 * it: a learner that quotes adds what the person has said since, and a later rule of the same person replaces it. A model may add to its
 * text as long as the person's words stay in it. Asked when a change is published, and not of the record: what an earlier version did stands.
 */
export function whyKeptForPerson(
  by: Author,
  view: LibraryView,
  change: Change,
  lessons: readonly Lesson[],
): string | undefined {
  const isExempt = by.kind === 'instar' && (by.name === ERASURE_AUTHOR || by.name === OWNERS_AUTHOR);
  if (by.kind === 'person' || by.kind === 'file' || isExempt) return undefined;
  for (const after of lessons) {
    const before = view.lesson(after.id);
    if (before === undefined || !isActive(before) || !isPersonsWord(before)) continue;
    const isEnded = isLess(before, after) && !isTakenBack({ before, after, change, by }, view);
    const isReworded = isActive(after) && !isSaidSo(before, after, by);
    if (isEnded || isReworded)
      return `${after.id} is a person's word: only a person, or what the same person says later, may ${isEnded ? 'end' : 'change'} it`;
  }
  return undefined;
}

interface Ending {
  readonly before: Lesson;
  readonly after: Lesson;
  readonly change: Change;
  readonly by: Author;
}

/** Whether the same person has said otherwise since, or the words go on in the lesson that takes this one in. */
function isTakenBack({ before, after, change, by }: Ending, view: LibraryView): boolean {
  if (change.op === 'merge') return by.kind === 'learner' && keepsPersonsWords(change.text, before);
  if (change.op !== 'retire') return false;
  if (by.kind === 'learner' && READERS.has(by.name) && change.turns !== undefined) return true;
  const newer = after.supersededBy === undefined ? undefined : view.lesson(after.supersededBy);
  return (
    newer !== undefined &&
    isPersonsWord(newer) &&
    newer.text.scope.member === before.text.scope.member &&
    (newer.createdAt > before.createdAt ||
      newer.text.evidence.turns.some((turn) => !before.text.evidence.turns.includes(turn)))
  );
}

/** Whether the words of a person stay what they are, or what they have said since. */
function isSaidSo(before: Lesson, after: Lesson, by: Author): boolean {
  const { text } = after;
  if (!isPersonsWord(after) || (before.text.note.isAlways === true && text.note.isAlways !== true))
    return false;
  if (before.text.content === text.content || (by.kind === 'learner' && keepsPersonsWords(text, before)))
    return true;
  const earlier = new Set(before.text.evidence.turns);
  return (
    by.kind === 'learner' && READERS.has(by.name) && text.evidence.turns.some((turn) => !earlier.has(turn))
  );
}

/** The author of what moves from members to the team. */
export const TEAM_AUTHOR = 'team';
/** The author that says once whose the lessons of an earlier version are. */
export const OWNERS_AUTHOR = 'owners';
const MOVING_AUTHORS: ReadonlySet<string> = new Set([TEAM_AUTHOR, OWNERS_AUTHOR]);

/**
 * A learner, a measurement or a file never moves a lesson from one person to another, writes one for the team, or changes the words of
 * the team's. To retire a lesson of the team that harms needs no word.
 */
function whyNotOfMember(before: Lesson | undefined, after: Lesson): string | undefined {
  const { id, text } = after;
  if (before === undefined)
    return text.scope.member === TEAM ? `${id} would be the team's: a person moves it there` : undefined;
  if (before.text.scope.member !== text.scope.member)
    return `${id} is ${before.text.scope.member === TEAM ? 'the team’s' : 'a person’s'}: only a person may change whose it is`;
  return text.scope.member === TEAM && before.text.content !== text.content
    ? `${id} is the team's: only a person may change its words`
    : undefined;
}

/** Only a person may change what a person froze, pinned or rejected, by whatever kind of change. */
function whyProtected(before: Lesson, after: Lesson, kind: Author['kind']): string | undefined {
  const { id } = before;
  if (before.frozen) return `${id} is frozen: only a person may change it`;
  if (before.state === 'rejected' && after.state !== 'rejected')
    return `${id} was rejected: only a person may reactivate it`;
  if (!before.pinned) return undefined;
  if (!after.pinned) return `${id} is pinned: only a person may unpin it`;
  return kind === 'instar' && isLess(before, after)
    ? `${id} is pinned: a measurement may not retire it`
    : undefined;
}

/**
 * A file in the skills folder can be written by any program of the user. It may propose a skill or an identity, revise a skill in
 * use, and retire one; it never approves, pins, freezes or unfreezes, prolongs, or changes where a lesson in use applies.
 */
function whyNotByFile(before: Lesson | undefined, after: Lesson): string | undefined {
  const { id } = after;
  if (after.kind !== 'skill' && after.kind !== 'identity')
    return `${id} is a lesson of the kind ${after.kind}: a file may change skills and identities only`;
  if (before === undefined && after.check !== undefined) return `${id}: a file may not write its check`;
  if (before === undefined)
    return after.state === 'proposed' ? undefined : `${id} is new: a file may only propose it`;
  if (before.pinned || before.pinned !== after.pinned || before.frozen !== after.frozen)
    return `${id} is pinned or frozen, or would be: only a person may decide that`;
  if (after.check !== undefined && !isDeepStrictEqual(before.check, after.check))
    return `${id}: a file may not change its check`;
  if (after.state === 'proposed') return undefined;
  if (STANDING[after.state] > STANDING[before.state] || (after.state === 'live' && before.state !== 'live'))
    return `${id} is ${before.state}: only a person may approve it`;
  if (before.text.note.isAlways !== after.text.note.isAlways)
    return `${id}: only a person may decide whether it is for every task`;
  if (after.expiresAt !== before.expiresAt) return `${id}: only a person may change when it expires`;
  return isDeepStrictEqual(before.text.scope, after.text.scope)
    ? undefined
    : `${id}: only a person may change where it applies`;
}

const STANDING = { retired: 0, rejected: 0, proposed: 1, trial: 2, live: 2 } as const;

/** Whether a lesson is used less than before, or for a shorter time. */
const isLess = (before: Lesson, after: Lesson): boolean =>
  STANDING[after.state] < STANDING[before.state] ||
  (after.expiresAt ?? Number.POSITIVE_INFINITY) < (before.expiresAt ?? Number.POSITIVE_INFINITY);

/** A name must identify one lesson. A holder that the same change retires does not count. */
function whyNameTaken(view: LibraryView, lesson: Lesson, changed: readonly Lesson[]): string | undefined {
  if (!isActive(lesson)) return undefined;
  const holder = view.holder(uniqueKeyOf(lesson.text));
  if (holder === undefined || holder === lesson.id) return undefined;
  if (changed.some(({ id, state }) => id === holder && !isActive({ state }))) return undefined;
  return `${holder} has the name ${lesson.text.name} in the same scope: revise that one, or take another name`;
}
