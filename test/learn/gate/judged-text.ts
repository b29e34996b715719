import type { Judgement } from '../../../src/core/learn.ts';
import type { LessonText } from '../../../src/core/lesson.ts';

/** The text that a judgement publishes; undefined when it publishes none. */
export const judgedText = ({ change }: Judgement): LessonText | undefined =>
  change !== undefined && 'text' in change ? change.text : undefined;
