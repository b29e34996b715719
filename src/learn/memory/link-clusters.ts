import type { Change, Lesson } from '../../core/lesson.ts';
import { contradictedBy, withRelation } from '../../lessons/links.ts';
import type { NearLessonPair } from '../../lessons/similar/compare.ts';
import { topicStems } from '../../text/topic-words.ts';
import { type LessonFacts, mayRevise } from './kept-lessons.ts';

const MOST_MEMBERS = 8;
const MOST_LINKS = 16;
const MOST_TAGS = 16;
const TAG = 'about:';

/** Clusters, and the links of contradictions that stay undecided: one revision for each lesson. */
export function linkLessons(
  pairs: readonly NearLessonPair[],
  undecided: readonly Pick<NearLessonPair, 'a' | 'b'>[],
  gone: ReadonlySet<string>,
  facts: LessonFacts,
): readonly Change[] {
  const revised = new Map<string, Revision>();
  for (const change of linkClusters(pairs, gone, facts)) revised.set(change.id, change);
  const mark = (lesson: Lesson, other: Lesson): void => {
    const { id, revision: from } = lesson;
    const text = revised.get(id)?.text ?? lesson.text;
    const note = withRelation(text.note, { type: 'contradicts', to: other.id });
    if (note !== text.note) revised.set(id, { op: 'revise', id, from, text: { ...text, note } });
  };
  for (const { a, b } of undecided) {
    // One end is enough: the other one is read from it.
    const isMarked = [contradictedBy(a), contradictedBy(b)].flat().some((id) => id === a.id || id === b.id);
    const holder = [a, b].find((one) => mayRevise(one, facts));
    if (isMarked || holder === undefined || gone.has(a.id) || gone.has(b.id)) continue;
    mark(holder, holder === a ? b : a);
  }
  return [...revised.values()];
}

type Revision = Extract<Change, { readonly op: 'revise' }>;

/**
 * Links lessons about one topic, in both directions, and gives them a shared tag. A cluster is a lesson with its own neighbours: the
 * ends of a chain of neighbours may be far apart. What is being measured is not revised, and so has no links.
 */
function linkClusters(
  pairs: readonly NearLessonPair[],
  gone: ReadonlySet<string>,
  facts: LessonFacts,
): readonly Revision[] {
  const near = new Map<string, Lesson[]>();
  const lessons = new Map<string, Lesson>();
  const isOpen = (lesson: Lesson): boolean => !gone.has(lesson.id) && mayRevise(lesson, facts);
  for (const { a, b } of pairs) {
    if (!isOpen(a) || !isOpen(b)) continue;
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      lessons.set(one.id, one);
      near.set(one.id, [...(near.get(one.id) ?? []), other]);
    }
  }
  const leaders = [...lessons.values()].sort(
    (a, b) => (near.get(b.id)?.length ?? 0) - (near.get(a.id)?.length ?? 0) || (a.id < b.id ? -1 : 1),
  );
  const taken = new Set<string>();
  const changes: Revision[] = [];
  for (const leader of leaders) {
    if (taken.has(leader.id)) continue;
    const members = (near.get(leader.id) ?? []).filter(({ id }) => !taken.has(id)).slice(0, MOST_MEMBERS);
    if (members.length === 0) continue;
    for (const { id } of [leader, ...members]) taken.add(id);
    const tag = tagOf(leader, members);
    changes.push(...linked(leader, members, tag));
    for (const member of members) changes.push(...linked(member, [leader], tag));
  }
  return changes;
}

/** The tag that some of them have, or the word that most of them share. */
function tagOf(leader: Lesson, members: readonly Lesson[]): string | undefined {
  const all = [leader, ...members];
  const known = all.flatMap(({ text }) => text.note.tags).find((tag) => tag.startsWith(TAG));
  if (known !== undefined) return known;
  const wordsOf = all.map(({ text }) => topicStems(`${text.description} ${text.content}`));
  const count = (word: string): number => wordsOf.filter((words) => words.has(word)).length;
  const [best] = [...(wordsOf[0] ?? [])]
    .filter((word) => word.length > 2 && word.length <= 40 && count(word) > 1)
    .sort((a, b) => count(b) - count(a) || b.length - a.length || (a < b ? -1 : 1));
  return best === undefined ? undefined : `${TAG}${best}`;
}

function linked(lesson: Lesson, others: readonly Lesson[], tag: string | undefined): readonly Revision[] {
  const { note } = lesson.text;
  const hasTopic = note.tags.some((one) => one.startsWith(TAG));
  const tags =
    tag === undefined || hasTopic || note.tags.length >= MOST_TAGS ? note.tags : [...note.tags, tag];
  const missing = others.map(({ id }) => id).filter((id) => !note.links.includes(id));
  const links = [...note.links, ...missing].slice(0, Math.max(MOST_LINKS, note.links.length));
  if (links.length === note.links.length && tags === note.tags) return [];
  const { id, revision: from } = lesson;
  return [{ op: 'revise', id, from, text: { ...lesson.text, note: { ...note, links, tags } } }];
}
