import { createRecent } from '../core/recent.ts';

const MOST = 64;
const quotedTexts = createRecent<string, string>(MOST);

/** A text as a JSON string, cached: the same block is inserted into many turns. */
export function quoteText(text: string): string {
  const cached = quotedTexts.get(text);
  if (cached !== undefined) return cached;
  const quoted = JSON.stringify(text);
  quotedTexts.set(text, quoted);
  return quoted;
}
