import { isObject } from '../../../src/core/json.ts';

/**
 * The text that a prompt gained on its way upstream: what the received body has and the sent one has not. Blocks may come as
 * new messages, as new parts, or behind the text of a part.
 */
export function gainedText(sent: unknown, received: unknown): string {
  const left = new Map<string, number>();
  for (const text of leavesOf(sent)) left.set(text, (left.get(text) ?? 0) + 1);
  const take = (text: string): boolean => {
    const count = left.get(text) ?? 0;
    if (count > 0) left.set(text, count - 1);
    return count > 0;
  };
  const grown = leavesOf(received).filter((text) => !take(text));
  return grown
    .map((text) => {
      // The longest text of the client that stands in it is the one that was added to.
      const own = [...left]
        .filter(([known, count]) => count > 0 && known !== '' && text.includes(known))
        .sort(([a], [b]) => b.length - a.length)[0]?.[0];
      if (own === undefined) return text;
      take(own);
      return text.replace(own, () => '\n');
    })
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n\n');
}

/** Field names whose values are the format's, not the conversation's. */
const FORM = new Set(['model', 'type', 'role', 'id', 'call_id', 'tool_call_id', 'tool_use_id', 'name']);

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => (FORM.has(name) ? [] : leavesOf(member)));
}

/** Lower case, plain quotes, single spaces: two texts that a reader would call the same words. */
const normalizeWords = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/[\u201c\u201d\u201e]/g, '"')
    .replace(/[\s\u00a0]+/g, ' ')
    .trim();

export const hasPhrase = (text: string, phrase: string): boolean =>
  normalizeWords(text).includes(normalizeWords(phrase));
