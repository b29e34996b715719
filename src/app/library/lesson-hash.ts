import type { LessonText } from '../../core/lesson.ts';
import { hashTexts } from '../../library/shown/shown-text.ts';

/** Identifies the exact text of a lesson: an approval is for this text. */
export const lessonHash = ({ name, description, content }: LessonText): string =>
  hashTexts([JSON.stringify([name, description, content])]);
