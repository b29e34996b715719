import type { Lesson } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { isOwnedBy, isVisibleTo, TEAM } from '../core/principal.ts';
import { memberOf } from './scope.ts';

/** Whether a lesson is the team's. */
export const isOfTeam = ({ text }: Pick<Lesson, 'text'>): boolean => text.scope.member === TEAM;

/**
 * The part of a library that a principal may see: the own lessons, those of the key that serves it, and everybody's. What reads through it
 * cannot name, count or quote a lesson of another. `member` undefined: the home's own person. A home of one person has one part,
 * which is all of it.
 */
export const libraryForMember = (library: Library, member: string | undefined): Library =>
  partOf(library, member, (lesson) => isVisibleTo(memberOf(lesson), member));

/** The part that what is learned in a principal's sessions may change: an end user's words change nothing of the key's. */
export const libraryOwnedBy = (library: Library, member: string | undefined): Library =>
  partOf(library, member, ({ text }) => isOwnedBy(text.scope.member, member));

function partOf(library: Library, member: string | undefined, isIn: (lesson: Lesson) => boolean): Library {
  if (member === undefined && library.lessons().every(({ text }) => text.scope.member === undefined))
    return library;
  const visible = (lesson: Lesson | undefined): Lesson | undefined =>
    lesson !== undefined && isIn(lesson) ? withoutOthers(lesson) : undefined;
  const filter = createKeptFilter(visible);
  const isKnown = (id: string): boolean => visible(library.lesson(id)) !== undefined;
  return {
    get generation() {
      return library.generation;
    },
    lesson: (id) => visible(library.lesson(id)),
    find: (idOrName) => {
      const byId = visible(library.lesson(idOrName));
      if (byId !== undefined) return byId;
      const named = filter(library.lessons()).filter(
        ({ text, state }) => text.name === idOrName && state !== 'retired' && state !== 'rejected',
      );
      return named.length === 1 ? named[0] : undefined;
    },
    lessons: () => filter(library.lessons()),
    shown: (now) => filter(library.shown(now)),
    history: (id) => (isKnown(id) ? library.history(id).map(withoutOthers) : []),
    generations: () =>
      library.generations().map((one) => ({ ...one, reason: '', by: { kind: 'instar', name: 'instar' } })),
    diff: (from, to) => {
      const diff = library.diff(from, to);
      return (
        diff && {
          added: diff.added.filter(({ id }) => isKnown(id)),
          removed: diff.removed.filter(({ id }) => isKnown(id)),
          revised: diff.revised.filter(({ id }) => isKnown(id)),
        }
      );
    },
    publish: (set) => library.publish(set),
    rollback: (generation, by) => {
      const set = library.rollback(generation, by);
      return set && { ...set, changes: set.changes.filter((change) => 'id' in change && isKnown(change.id)) };
    },
    onChange: (listener) => library.onChange(listener),
  };
}

/** A lesson of the team without its evidence: what it rests on are conversations of others. Its words are those that they let go. */
function withoutOthers<One extends Pick<Lesson, 'text'>>(one: One): One {
  if (!isOfTeam(one)) return one;
  const { team: _, ...evidence } = one.text.evidence;
  return { ...one, text: { ...one.text, evidence: { ...evidence, turns: [], quotes: [] } } };
}

/** Filters a list once: a library answers with the same list until it changes. */
function createKeptFilter(
  visible: (lesson: Lesson) => Lesson | undefined,
): (lessons: readonly Lesson[]) => readonly Lesson[] {
  const kept = new WeakMap<readonly Lesson[], readonly Lesson[]>();
  return (lessons) => {
    const known = kept.get(lessons);
    if (known !== undefined) return known;
    const filtered = lessons.flatMap((lesson) => visible(lesson) ?? []);
    kept.set(lessons, filtered);
    return filtered;
  };
}
