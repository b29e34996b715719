import { topicStems } from '../words.ts';
import { marked } from './literals.ts';
import type { Statement } from './statements.ts';
import { isDenying, isForbidding } from './words-of-rules.ts';

/** A sentence of a prompt that forbids something. */
export interface Prohibition {
  readonly text: string;
  readonly stems: ReadonlySet<string>;
  readonly literals: readonly string[];
}

/** Common stems that suffice for a long sentence: the rest of it is not about what is forbidden. */
const MOST_SHARED = 3;

/** Prohibitions among statements: sentences that forbid, and items of a list whose lead forbids. */
export function prohibitionsIn(statements: readonly Statement[]): readonly Prohibition[] {
  return statements
    .filter(({ isCode, isExample }) => !isCode && !isExample)
    .filter(({ text, lead, isItem }) => isForbidding(text) || (isItem && isForbidding(lead)))
    .map(({ text }) => ({
      text,
      stems: topicStems(text),
      literals: marked(text).map(({ literal }) => literal),
    }))
    .filter(({ stems }) => stems.size > 0);
}

/**
 * Prohibitions that a shortened text lost. One is kept when a negative sentence shares enough stems with it and, if it has
 * exact terms, one of those.
 */
export function lostProhibitions(
  prohibitions: readonly Prohibition[],
  shortened: readonly Statement[],
): readonly Prohibition[] {
  const denials = shortened
    .map(({ text, lead }) => `${lead} ${text}`)
    .filter(isDenying)
    .map((text) => ({ text, stems: topicStems(text) }));
  return prohibitions.filter(({ stems, literals }) => {
    const enough = Math.min(MOST_SHARED, Math.ceil(stems.size / 3));
    return !denials.some(
      (denial) =>
        countShared(stems, denial.stems) >= enough &&
        (literals.length === 0 || literals.some((literal) => denial.text.includes(literal))),
    );
  });
}

function countShared(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const stem of one) if (other.has(stem)) shared++;
  return shared;
}
