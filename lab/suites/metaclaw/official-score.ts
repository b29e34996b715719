/** A box as the published harness finds it: up to the first closing brace. */
const FIRST_BOX = /\\(?:bbox|boxed)\{([^}]{0,300})\}/;

/**
 * The score of a choice by the published harness: the first box counts, each letter in it is a choice, and each letter too many or left
 * out costs one option. It can fall below 0 when letters are chosen that are no options; the paper's formula stops at 0. Without a box it
 * is 0.
 */
export function officialChoiceScore(reply: string, answer: readonly string[], options: number): number {
  const letters = FIRST_BOX.exec(reply)?.[1]?.match(/[A-Za-z]/g);
  if (letters === undefined || letters === null || options === 0) return 0;
  const [given, right] = [new Set(letters.map((one) => one.toUpperCase())), new Set(answer)];
  const wrong =
    [...given].filter((one) => !right.has(one)).length + [...right].filter((one) => !given.has(one)).length;
  return 1 - wrong / options;
}
