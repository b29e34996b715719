import type { JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { namesOf } from '../title.ts';

/** A lesson that was last changed by a file, not by a person. */
interface FileChange {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly what: 'waits' | 'edited' | 'deleted';
  readonly at: number;
  readonly reason?: string;
}

/** A deleted file is no longer news after this time. */
const NEWS_MS = 30 * 86_400_000;

/** Changes through the skills folder that no person has decided about since, newest first. */
export function listFileChanges(library: Library, now: number): readonly FileChange[] {
  const lessons = library.lessons();
  const known = changesIn.get(lessons) ?? lessons.flatMap((lesson) => fileChangeOf(lesson, library) ?? []);
  changesIn.set(lessons, known);
  return known
    .filter(({ what, at }) => what !== 'deleted' || now - at <= NEWS_MS)
    .sort((one, other) => other.at - one.at);
}

/** By the list of lessons, which is another one after each change: a status is asked for far more often, and reads every history. */
const changesIn = new WeakMap<readonly Lesson[], readonly FileChange[]>();

function fileChangeOf(lesson: Lesson, library: Library): FileChange | undefined {
  const { id, state, reason } = lesson;
  const events = library.history(id);
  const last = events.findLast(({ by }) => by.kind === 'file');
  const decided = events.findLast(({ by }) => by.kind === 'person');
  if (last === undefined || events.indexOf(last) < events.lastIndexOf(decided ?? last)) return undefined;
  if (state === 'rejected') return undefined;
  const what = state === 'proposed' ? 'waits' : state === 'retired' ? 'deleted' : 'edited';
  return { id, ...namesOf(lesson), what, at: last.at, ...(reason === undefined ? {} : { reason }) };
}

export const encodeFileChange = ({ at, ...change }: FileChange): JsonObject => ({
  ...change,
  at: new Date(at).toISOString(),
});
