import type { LessonText } from '../core/lesson.ts';
import { hashShownText } from './shown/prompt-thread.ts';

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
