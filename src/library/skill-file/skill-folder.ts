import { createHash } from 'node:crypto';
import type { Lesson } from '../../core/lesson.ts';

const TAIL = 8;

/** The folder of a lesson whose name is taken: lessons of different scopes may share a name. */
const secondFolder = ({ id, text }: Lesson): string =>
  `${text.name}--${createHash('sha256').update(id).digest('hex').slice(0, TAIL)}`;

/** A folder for each lesson: its name, with a suffix for all but the first lesson of a name. The widest scope comes first. */
export function assignFolders(lessons: readonly Lesson[]): ReadonlyMap<string, Lesson> {
  const folders = new Map<string, Lesson>();
  const ordered = [...lessons].sort(
    (one, other) => width(one) - width(other) || (one.id < other.id ? -1 : 1),
  );
  for (const lesson of ordered) {
    const { name } = lesson.text;
    folders.set(folders.has(name) ? secondFolder(lesson) : name, lesson);
  }
  return folders;
}

const width = ({ text }: Lesson): number => Object.keys(text.scope).length;
