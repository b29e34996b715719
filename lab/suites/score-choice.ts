/** An answer is a handful of letters; anything longer is a formula. */
const LONGEST_BOX = 300;
const OPENING = /\\(?:bbox|boxed)\s{0,3}\{/g;

/**
 * The options chosen with `\bbox{A,C}` or `\boxed{a c}`, each once, in the order they were written. The last non-empty box
 * counts: models think aloud and repeat the question before it. A word that is not an option stays in the answer, in capitals,
 * so that it counts as wrong. Undefined when there is no box to read.
 */
export function readChoice(
  text: string,
  options: Readonly<Record<string, string>>,
): readonly string[] | undefined {
  let last: readonly string[] | undefined;
  for (const opening of text.matchAll(OPENING)) {
    const inside = readBox(text, opening.index + opening[0].length);
    const chosen = inside === undefined ? [] : readLetters(inside, Object.keys(options));
    if (chosen.length > 0) last = chosen;
  }
  return last;
}

/** Up to the brace that closes the box, across nested ones such as `\text{A}`. */
function readBox(text: string, start: number): string | undefined {
  let depth = 1;
  for (let at = start; at < Math.min(text.length, start + LONGEST_BOX); at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return text.slice(start, at);
  }
  return undefined;
}

function readLetters(inside: string, options: readonly string[]): readonly string[] {
  const words = inside
    .replace(/\\[A-Za-z]+/g, ' ')
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== '' && word.toLowerCase() !== 'and');
  return [...new Set(words.flatMap((word) => optionsOf(word, options)))];
}

/** `AC` without a comma means both; `ace` may be a word. */
function optionsOf(word: string, options: readonly string[]): readonly string[] {
  const named = options.find((option) => option.toUpperCase() === word.toUpperCase());
  if (named !== undefined) return [named];
  const letters = [...word];
  return letters.every((letter) => options.includes(letter)) ? letters : [word.toUpperCase()];
}

interface ChoiceScore {
  /** 0 to 1. */
  readonly score: number;
  /** Exactly the right options. Choosing every option already scores well on average, so this is reported beside the score. */
  readonly exact: boolean;
}

/**
 * Each option is a decision: to choose it or not. The score is the share of right decisions; a choice that is not an option
 * costs as much as a wrong one. No answer scores 0: otherwise silence would be credited for every option that is wrong.
 */
export function scoreChoice(
  chosen: readonly string[] | undefined,
  answer: readonly string[],
  options: Readonly<Record<string, string>>,
): ChoiceScore {
  if (chosen === undefined) return { score: 0, exact: false };
  const [given, right] = [new Set(chosen), new Set(answer)];
  const tooMany = [...given].filter((option) => !right.has(option)).length;
  const leftOut = [...right].filter((option) => !given.has(option)).length;
  const wrong = tooMany + leftOut;
  const all = Math.max(1, Object.keys(options).length);
  return { score: Math.max(0, 1 - wrong / all), exact: wrong === 0 };
}
