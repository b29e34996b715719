/** White space in a prompt is the writer's line breaks: it is the same in all its forms. */
export const collapse = (text: string): string => text.replace(/\s+/g, ' ').trim();

/**
 * Whether a text has the words letter by letter and as a whole: `read` is not in `already`, in `read-only` or
 * in `read.md`.
 */
export function holds(text: string, words: string): boolean {
  if (words === '') return true;
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
    const end = at + words.length;
    const isOpen = /^\w/.test(words) && /[\w-]$/.test(text.slice(Math.max(0, at - 1), at));
    const goesOn = /\w$/.test(words) && /^(?:[\w-]|\.\w)/.test(text.slice(end, end + 2));
    if (!isOpen && !goesOn) return true;
  }
  return false;
}
