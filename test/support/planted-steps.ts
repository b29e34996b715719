import { plantedPrompts } from '../../src/evidence/judge/judge-question.ts';
import { PLANTED_TURNS } from '../../src/evidence/judge/planted-turns.ts';

/** The line that only the prompt about this step contains. */
const markOf = (prompt: string): string => /<<<\w+/.exec(prompt)?.[0] ?? 'no mark';
const SCORES = new Map(
  plantedPrompts(PLANTED_TURNS.map(({ evidence }) => evidence)).map((prompt, index) => [
    markOf(prompt),
    PLANTED_TURNS[index]?.isSuccess === true ? 1 : -1,
  ]),
);

/** The right grade of a planted step, found in the judge's prompt; undefined for other prompts. */
export const plantedScore = (prompt: string): number | undefined => SCORES.get(markOf(prompt));
