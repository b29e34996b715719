export interface ChoiceScore {
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
