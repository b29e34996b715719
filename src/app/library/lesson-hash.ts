import type { LessonText } from '../../core/lesson.ts';
import { textHash } from '../recording/text-hash.ts';

/** Stands for the exact words of a lesson: whoever approves it approves these. */
export const lessonHash = ({ name, description, content }: LessonText): string =>
  textHash(JSON.stringify([name, description, content]));
