import type { JsonObject } from '../core/json.ts';
import {
  isActive,
  type Lesson,
  LINK_INVERSES,
  type LinkType,
  type Note,
  type Relation,
} from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { isErasedText } from './codec.ts';
import { namesOf } from './title.ts';

interface LessonLink {
  readonly type: LinkType;
  /** The id of the other lesson. */
  readonly to: string;
}

/** The links of each lesson, by type. */
interface LessonLinks {
  of(id: string): readonly LessonLink[];
}

const MOST_RELATIONS = 32;
/** How earlier versions marked a contradiction that nothing could settle. */
const CONTRADICTS_TAG = 'contradicts:';

/**
 * The links between lessons, read from both ends. A text holds one end (`links`, `relations`), a retired lesson names its successor;
 * the other end is derived here and stored nowhere, so that no retirement, rollback or erasure leaves half a link. Ends that do not
 * exist or were erased have none; a contradiction ends when one of the two goes; `about` says nothing where another type tells more.
 */
export function linkLessonsBothWays(lessons: readonly Lesson[]): LessonLinks {
  const known = new Map(lessons.filter(({ text }) => !isErasedText(text)).map((one) => [one.id, one]));
  const found = new Map<string, Map<string, LessonLink>>();
  const put = (from: string, type: LinkType, to: string): void => {
    const links = found.get(from) ?? new Map<string, LessonLink>();
    found.set(from, links.set(`${type} ${to}`, { type, to }));
  };
  const link = (from: string, type: LinkType, to: string | undefined): void => {
    if (to === undefined || to === from || !known.has(to)) return;
    put(from, type, to);
    put(to, LINK_INVERSES[type], from);
  };
  for (const lesson of known.values())
    for (const { type, to } of heldBy(lesson, known)) link(lesson.id, type, to);
  for (const { id, text } of known.values())
    for (const to of text.note.links) if (!isLinked(found.get(id), to)) link(id, 'about', to);
  return { of: (id) => [...(found.get(id)?.values() ?? [])] };
}

const isLinked = (links: ReadonlyMap<string, LessonLink> | undefined, to: string): boolean =>
  links !== undefined && [...links.values()].some((one) => one.to === to && one.type !== 'about');

/** The links of other types than `about` that a lesson names. */
function heldBy(lesson: Lesson, known: ReadonlyMap<string, Lesson>): readonly LessonLink[] {
  const { text, supersededBy, mergedInto } = lesson;
  const { relations = [] } = text.note;
  const successor = supersededBy ?? mergedInto;
  const stands = (id: string): boolean => {
    const other = known.get(id);
    return isActive(lesson) && other !== undefined && isActive(other);
  };
  return [
    ...relations.filter((one) => one.type === 'summarises'),
    ...relations.filter((one) => one.type === 'revises'),
    ...contradictedBy(lesson)
      .filter(stands)
      .map((to) => ({ type: 'contradicts', to }) as const),
    ...(successor === undefined ? [] : [{ type: 'replaced-by', to: successor } as const]),
  ];
}

/** The lessons that one is marked to contradict. */
function contradictedBy({ text: { note } }: Lesson): readonly string[] {
  const tagged = note.tags.filter((tag) => tag.startsWith(CONTRADICTS_TAG));
  return [
    ...(note.relations ?? []).filter(({ type }) => type === 'contradicts').map(({ to }) => to),
    ...tagged.map((tag) => tag.slice(CONTRADICTS_TAG.length)),
  ];
}

/** The links of a library, computed again after each change. */
export function createLibraryLinks(library: Pick<Library, 'lessons' | 'onChange'>): LessonLinks {
  let links: LessonLinks | undefined;
  library.onChange(() => {
    links = undefined;
  });
  return {
    of: (id) => {
      links ??= linkLessonsBothWays(library.lessons());
      return links.of(id);
    },
  };
}

/** The links of a lesson, with the names and states of the other ends. */
export const describeLinks = (
  id: string,
  links: LessonLinks,
  library: Pick<Library, 'lesson'>,
): JsonObject[] =>
  links.of(id).flatMap(({ type, to }): readonly JsonObject[] => {
    const found = library.lesson(to);
    return found === undefined ? [] : [{ type, id: to, ...namesOf(found), state: found.state }];
  });

/** A note with one more relation; the same note when it has it, or has as many as one may have. */
export function withRelation(note: Note, relation: Relation): Note {
  const { relations = [] } = note;
  const isKnown = relations.some(({ type, to }) => type === relation.type && to === relation.to);
  return isKnown || relations.length >= MOST_RELATIONS
    ? note
    : { ...note, relations: [...relations, relation] };
}

/** The lessons that a proposal would change. Earlier versions kept them among `links`. */
export const revisedIds = ({
  links,
  relations = [],
}: Pick<Note, 'links' | 'relations'>): readonly string[] => [
  ...relations.filter(({ type }) => type === 'revises').map(({ to }) => to),
  ...links,
];

/** A note with the links of another one. */
export function withLinksOf({ relations: _, ...note }: Note, { links, relations }: Note): Note {
  return { ...note, links, ...(relations === undefined ? {} : { relations }) };
}
