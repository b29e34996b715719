export interface ChoiceScore {
  /** 0 to 1. */
  readonly score: number;
  /** Exactly the right options. To choose all of them already scores well on average, so this is told beside it. */
  readonly exact: boolean;
}

/**
 * Each option is right or wrong: chosen though it should not be, or left out though it should. The score is the share
 * that is right, and what was chosen without being an option takes away as much as one that is. No answer scores 0, since
 * silence would else be paid for every option that is not asked for.
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
