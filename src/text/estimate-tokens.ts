/** English with some code has slightly more characters a token: estimates are rather too high. */
export const CHARACTERS_PER_TOKEN = 3.6;

/** Scripts in which a character takes a token or more. */
const DENSE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Extended_Pictographic}]/gu;

/** The tokens of a text for a model whose tokenizer is not available; rather too many than too few. */
export function estimateTokens(text: string): number {
  const dense = text.match(DENSE)?.length ?? 0;
  return Math.ceil(dense + (text.length - dense) / CHARACTERS_PER_TOKEN);
}
