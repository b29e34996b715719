import type { OwnSentence } from './own-sentences.ts';

/** What models change where they copy. */
const COPIED_AS: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '‛': "'",
  '′': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '‟': '"',
  '«': '"',
  '»': '"',
  '″': '"',
  '‐': '-',
  '‑': '-',
  '‒': '-',
  '–': '-',
  '—': '-',
  '―': '-',
  '−': '-',
  '…': '...',
};
const IGNORED = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/u;
const WORD = /[\p{Ll}\p{Lu}\p{Lt}\p{N}]/u;

/**
 * A quote that a model copied, in the letters of the person: its part of each sentence that it stands in. White space, quotation marks,
 * dashes and invisible characters may differ. Empty: the person did not type it.
 */
export function findQuote(quote: string, sentences: readonly Pick<OwnSentence, 'text'>[]): readonly string[] {
  const typed = foldCopy(sentences.map(({ text }) => text).join(' '));
  const copied = foldCopy(quote).text.trim();
  const bare = copied.replace(/^["']+|["']+$/g, '').trim();
  const range = findWords(typed, copied) ?? findWords(typed, bare);
  if (range === undefined) return [];
  let start = 0;
  return sentences.flatMap(({ text }) => {
    const [from, to] = [Math.max(0, range.from - start), range.to - start];
    start += text.length + 1;
    const part = to <= 0 ? '' : text.slice(from, to);
    return /[\p{L}\p{N}]/u.test(part) ? [part] : [];
  });
}

interface FoldedCopy {
  readonly text: string;
  /** For each character, where it stood before. */
  readonly places: readonly number[];
}

function foldCopy(source: string): FoldedCopy {
  const places: number[] = [];
  let text = '';
  for (let place = 0; place < source.length; place++) {
    const character = source.charAt(place);
    const folded = /\s/.test(character) ? ' ' : (COPIED_AS[character] ?? character);
    if ((folded === ' ' && text.endsWith(' ')) || (folded !== ' ' && IGNORED.test(character))) continue;
    text += folded;
    for (const _ of folded) places.push(place);
  }
  return { text, places };
}

/** Where whole words stand in a text: "no" is not in "node". */
function findWords(
  { text, places }: FoldedCopy,
  words: string,
): { readonly from: number; readonly to: number } | undefined {
  const isInsideWord = (at: number): boolean => WORD.test(text.charAt(at - 1)) && WORD.test(text.charAt(at));
  if (words === '') return undefined;
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
    const [from, last] = [places[at], places[at + words.length - 1]];
    if (from === undefined || last === undefined) return undefined;
    if (!isInsideWord(at) && !isInsideWord(at + words.length)) return { from, to: last + 1 };
  }
  return undefined;
}
