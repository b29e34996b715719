import type { Lesson, LessonPlace, LessonText } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { RecallQuery } from '../core/recall.ts';
import type { MovedLesson } from './library.ts';
import type { LessonRecall } from './recall/recall.ts';
import { placeLessons } from './render-block.ts';
import { hashShownText } from './shown/prompt-thread.ts';

/** A task with the lessons that it was shown. */
export interface ShownTask {
  readonly query: Omit<RecallQuery, 'session' | 'isUnhurried' | 'among'>;
  /** Ids. */
  readonly shown: readonly string[];
}

/**
 * For each task, whether a change of the library leaves its block as it is, byte by byte. False when the library as it is now
 * would not show what the task was shown: then nothing is known about what the change does to it.
 */
export type CompareBlocks = (
  tasks: readonly ShownTask[],
  moved: readonly MovedLesson[],
) => Promise<readonly boolean[]>;

interface CompareBlocksOptions {
  readonly library: Pick<Library, 'shown'>;
  /** An index of its own: its lessons are exchanged for those after the change. Nothing is held out. */
  readonly recall: LessonRecall;
  /** The id of the sentence model. Lessons found without it may be others than production finds. */
  readonly engine: string;
  readonly now: () => number;
  readonly place?: () => LessonPlace;
}

export function createCompareBlocks(options: CompareBlocksOptions): CompareBlocks {
  const { library, recall, engine, now, place = () => 'system' } = options;
  let last: Promise<unknown> = Promise.resolve();
  const blocksWith = async (lessons: readonly Lesson[], tasks: readonly ShownTask[], at: number) => {
    await recall.update(lessons.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    const blocks: (Block | undefined)[] = [];
    for (const { query } of tasks) {
      const found = await recall.recall({ ...query, session: '', place: place(), isUnhurried: true }, at);
      const ids = [...found.lessons, ...found.index].map(({ id }) => id);
      const { text } = placeLessons(place(), found.lessons, found.index);
      blocks.push(found.engine === engine ? { text, ids } : undefined);
    }
    return blocks;
  };
  const compare: CompareBlocks = async (tasks, moved) => {
    if (tasks.length === 0) return [];
    const at = now();
    const before = library.shown(at);
    const changed = new Set(moved.map(({ id }) => id));
    const added = moved.flatMap(({ lesson, isShown }) => (lesson !== undefined && isShown ? [lesson] : []));
    const old = await blocksWith(before, tasks, at);
    const next = await blocksWith([...before.filter(({ id }) => !changed.has(id)), ...added], tasks, at);
    return tasks.map(({ shown }, index) => {
      const [is, would] = [old[index], next[index]];
      return is !== undefined && would !== undefined && is.text === would.text && isSameSet(is.ids, shown);
    });
  };
  return (tasks, moved) => {
    // One at a time: the index is exchanged in between.
    const done = last.then(() => compare(tasks, moved));
    last = done.catch(() => undefined);
    return done;
  };
}

interface Block {
  readonly text: string;
  readonly ids: readonly string[];
}

const isSameSet = (one: readonly string[], other: readonly string[]): boolean => {
  const ids = new Set(one);
  return ids.size === new Set(other).size && other.every((id) => ids.has(id));
};

/** Identifies the exact text of a lesson: an approval and a measurement are for this text. */
export const lessonHash = ({
  name,
  description,
  content,
  overlay,
  note: { tier },
  scope,
}: LessonText): string =>
  hashShownText([
    JSON.stringify([
      name,
      description,
      content,
      ...(overlay === undefined ? [] : [overlay.payload]),
      ...(tier === undefined ? [] : [tier, scope.agent ?? '']),
    ]),
  ]);
