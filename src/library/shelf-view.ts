import type { Lesson, LessonState, LessonText } from '../core/lesson.ts';

/** What the rules for changes ask a shelf. */
export interface ShelfView {
  lesson(id: string): Lesson | undefined;
  /** What a revision said. */
  text(id: string, revision: number): LessonText | undefined;
  wasEver(id: string, state: LessonState): boolean;
  /** The active lesson that stands in a place. */
  holder(place: string): string | undefined;
}
