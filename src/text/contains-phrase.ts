/** All white space as single blanks: line breaks in a prompt carry no meaning. */
export const collapseSpaces = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Whether a text contains a phrase verbatim and as whole words: `read` is not in `already`, `read-only` or `read.md`. */
export function containsPhrase(text: string, phrase: string): boolean {
  if (phrase === '') return true;
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    const end = at + phrase.length;
    const isOpen = /^\w/.test(phrase) && /[\w-]$/.test(text.slice(Math.max(0, at - 1), at));
    const goesOn = /\w$/.test(phrase) && /^(?:[\w-]|\.\w)/.test(text.slice(end, end + 2));
    if (!isOpen && !goesOn) return true;
  }
  return false;
}
