import { lintLesson } from '../learn/gate/lint-lesson.ts';

/** The gate's lint for words that came from a file: nobody has vouched for any of them. */
export const lintSkillText = (words: string): readonly string[] => lintLesson(words, []);
