import { topicStems } from '../words.ts';
import { marked } from './literals.ts';
import type { Statement } from './statements.ts';
import { isDenying, isForbidding } from './words-of-rules.ts';

/** Something that a prompt forbids. */
export interface Prohibition {
  readonly text: string;
  readonly stems: ReadonlySet<string>;
  readonly literals: readonly string[];
}

/** A longer sentence says the same in fewer words; beyond these it says more than what it forbids. */
const MOST_SHARED = 3;

/** What statements forbid: by themselves, or as members of a list that hangs from such words. */
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
 * Those that a text no longer forbids: no denying sentence of it is about the same, which is to share enough words and,
 * where something was forbidden by its exact name, one of the names.
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
