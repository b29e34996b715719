import { createRandom, type Random } from '../../src/base/random.ts';
import { drawFacts, pickOne, type ReadingFamily, valuesFor } from './family.ts';
import type { ReadingForm } from './form.ts';
import { fillGaps } from './gaps.ts';
import { isRuleMet, writeFile } from './grade-file.ts';

const CONSONANTS = 'bdfgklmnprstvz';
const VOWELS = 'aeiou';
/** Whether a form takes values of a shape. */
const decided = new Map<ReadingForm, Map<string, boolean>>();

/**
 * A value that no table has, in the shape of one for training: other letters for its words, other digits for its numbers. With the six
 * values of a table a policy learns the pairs; with these it has to read. Undefined where values mean more than their letters
 * (dates, orders, ways of writing), and where the form's own tests do not tell a file with this value from one with another.
 */
export function makeValue(form: ReadingForm, family: ReadingFamily, random: Random): string | undefined {
  const { means, isMet } = form.rule;
  if (means !== undefined || isMet !== undefined) return undefined;
  const shape = pickOne(random, valuesFor(form.values, 'train'));
  const value = shape.replaceAll(/\p{L}+|\d+/gu, (part) => otherPart(part, random));
  if (form.values.includes(value)) return undefined;
  const shapes = decided.get(form) ?? new Map<string, boolean>();
  decided.set(form, shapes);
  const isTaken = shapes.get(shape) ?? isToldApart(form, family, value);
  shapes.set(shape, isTaken);
  return isTaken ? value : undefined;
}

function isToldApart(form: ReadingForm, family: ReadingFamily, value: string): boolean {
  // The same file whatever was drawn before.
  const facts = drawFacts(family, 'train', createRandom(`made/${form.id}`));
  const fileWith = (one: string): string | undefined =>
    writeFile({ family, facts, rules: [{ form, value: one }] });
  const others = [fillGaps(family.plain, facts), ...valuesFor(form.values, 'train').map(fileWith)];
  const isMetBy = (file = ''): boolean => isRuleMet({ form, value }, file, { family, facts });
  return fileWith(value) !== undefined && !others.some(isMetBy);
}

/** A word of the same length and case, or a number of as many digits. */
function otherPart(part: string, random: Random): string {
  if (/\d/.test(part))
    return [...part].map((_, at) => String(at === 0 ? 1 + random.below(9) : random.below(10))).join('');
  const letters = [...part].map((letter, at) => {
    const other = pickOne(random, [...(at % 2 === 0 ? CONSONANTS : VOWELS)]);
    return letter === letter.toLowerCase() ? other : other.toUpperCase();
  });
  return letters.join('');
}
