/*
 * Who states something after an answer and gets the same answer again with a few changes has changed that answer by what they said:
 * whatever the words are, and in any language. What they said is then about how such an answer is to be.
 */

/** In tokens. A shorter answer is like many others. */
const SHORTEST = 5;
/** The share of the first answer that stands in the second. A like answer to another request keeps its form and not its values. */
const KEPT = 0.7;
/** The second answer is no longer than this many times the first, and a little more: else it holds the first among other things. */
const LONGEST = 2;
const MORE = 30;
const MOST_TOKENS = 4000;

/** Whether the second answer is the first with changes. Fences, spaces and the words around a file do not count. */
export function isRevisedAnswer(first: string, second: string): boolean {
  const [before, after] = [tokensOf(first), tokensOf(second)];
  if (before.length < SHORTEST || after.length > LONGEST * before.length + MORE) return false;
  if (before.join(' ') === after.join(' ')) return false;
  const left = new Map<string, number>();
  for (const token of after) left.set(token, (left.get(token) ?? 0) + 1);
  let kept = 0;
  for (const token of before) {
    const count = left.get(token) ?? 0;
    if (count === 0) continue;
    left.set(token, count - 1);
    kept++;
  }
  return kept / before.length >= KEPT;
}

/** Of the fenced parts where there are any, else of all of it. Marks count by themselves: code is made of them. */
function tokensOf(text: string): readonly string[] {
  const fenced = [...text.matchAll(/^ {0,3}```[^\n]*\n(.*?)^ {0,3}```/gms)].map(([, inside]) => inside ?? '');
  const shown = fenced.length === 0 ? text.replace(/^ {0,3}```.*$/gm, ' ') : fenced.join('\n');
  return (shown.match(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []).slice(0, MOST_TOKENS);
}
