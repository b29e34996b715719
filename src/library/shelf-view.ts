import type { Lesson, LessonState, LessonText } from '../core/lesson.ts';

/** The part of the library's state that the rules for changes read. */
export interface ShelfView {
  lesson(id: string): Lesson | undefined;
  /** The text of a revision. */
  text(id: string, revision: number): LessonText | undefined;
  wasEver(id: string, state: LessonState): boolean;
  /** The id of the active lesson with this name and scope. */
  holder(place: string): string | undefined;
}
