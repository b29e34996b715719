import { lintSkillText } from '../learn/gate/lint-lesson.ts';

/** The gate's lint for words that came from a file, for commands: they may not import the gate. */
export const lintSkill = (words: string): readonly string[] => lintSkillText(words);
