import { createRecent } from '../core/recent.ts';

const MOST = 64;
const known = createRecent<string, string>(MOST);

/** A text as a JSON string. What is put into prompts is the same for many turns: it is worked out once. */
export function quoteText(text: string): string {
  const before = known.get(text);
  if (before !== undefined) return before;
  const quoted = JSON.stringify(text);
  known.set(text, quoted);
  return quoted;
}
