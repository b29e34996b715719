import type { Proposal } from '../../src/core/learn.ts';
import type { LessonText } from '../../src/core/lesson.ts';

/** The text that a proposal brings; fails for a retirement, which has none. */
export function proposedText({ change }: Proposal): LessonText {
  if (!('text' in change)) throw new Error(`a ${change.op} has no text`);
  return change.text;
}
