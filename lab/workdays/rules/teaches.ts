/**
 * What a text must hold for a reader to be able to obey: of each group at least one term, in any case and with any quotes.
 * `#` in a term is any digit. Terms are whole words: `meta` is not in `metadata`.
 */
export type Essentials = readonly (readonly string[])[];

export function isTaughtBy(essentials: Essentials, text: string): boolean {
  const said = plain(text);
  const masked = said.replaceAll(/\d/g, '#');
  return essentials.every((terms) =>
    terms.some((term) => holds(term.includes('#') ? masked : said, plain(term))),
  );
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/["'`“”‘’*]/g, '')
    .replaceAll(/\s+/g, ' ');

function holds(text: string, term: string): boolean {
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1))
    if (!isInWord(text, at) && !isInWord(text, at + term.length)) return true;
  return false;
}

/** Whether letters or figures stand on both sides of a place. */
const isInWord = (text: string, at: number): boolean =>
  /[a-z0-9#]/.test(text.charAt(at - 1)) && /[a-z0-9#]/.test(text.charAt(at));
