import { isExampleWord, type Statement } from './statements.ts';
import { isRule } from './words-of-rules.ts';

const CODE = /(?<!`)`(?!`)([^`]{1,400})`(?!`)|(?<!`)``(?!`)(.{1,400}?)``(?!`)/g;
const ELEMENT = /<(?:name|location|path|tool)>([^<]{1,400})<\//g;
const URL = /\b[a-z][a-z0-9+.-]{1,12}:\/\/[^\s<>"'`)\]]{1,500}/gi;
/** Exact terms that are not marked as code: paths, file names, reply tags, placeholders, constants. */
const BARE: readonly RegExp[] = [
  /(?<![\w/.:~<-])(?:~|\.{1,2})?\/[\w.@-][\w.@/*{}$-]{0,200}/g,
  /\[\[[^[\]]{1,80}\]\]/g,
  /\{\{[^{}]{1,80}\}\}/g,
  /\b[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}\b/g,
  /(?<![\w@./-])[\w-]{2,63}(?:\.[\w-]{1,63}){0,6}\.[A-Za-z]{2,24}\b/g,
];
/** Exact terms as well, but too common in prose to be required. */
const NAMES: readonly RegExp[] = [
  /\b[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,8}\b/g,
  /\b[a-z]{1,40}[A-Z][A-Za-z0-9]{0,60}\b/g,
  /(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g,
  /(?<![\w.,:-])\d(?:[\d.,:]{0,30}\d)(?![\w-])/g,
];

const trimmed = (literal: string): string => literal.trim().replace(/(?<=[^.])[.,;:!?]{1,3}$/, '');

/** The terms that the rules among statements require verbatim. Examples require nothing. */
export function demandedLiterals(statements: readonly Statement[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { text, lead, isItem, isCode, isExample } of statements) {
    if (isExample) continue;
    if (isCode) {
      if (isRule(lead)) found.add(text);
      continue;
    }
    for (const [, inside = ''] of text.matchAll(ELEMENT)) found.add(trimmed(inside));
    if (!isItem && !isRule(text) && !isRule(lead)) continue;
    for (const { literal, at } of marked(text)) {
      if (!isExampleWord(text.slice(0, at))) found.add(literal);
    }
  }
  found.delete('');
  return found;
}

/** All exact terms of statements: a shortened prompt may not add any. */
export function allLiterals(statements: readonly Statement[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { text, isCode } of statements) {
    if (isCode) found.add(text);
    for (const { literal } of marked(text)) found.add(literal);
    for (const pattern of NAMES) for (const [name] of text.matchAll(pattern)) found.add(name);
  }
  found.delete('');
  return found;
}

/** The exact terms of a sentence, with their positions. */
export function marked(text: string): readonly { readonly literal: string; readonly at: number }[] {
  const code = [...text.matchAll(CODE)].map((match) => ({
    literal: (match[1] ?? match[2] ?? '').trim(),
    at: match.index,
  }));
  const prose = text.replace(CODE, (span) => ' '.repeat(span.length));
  const links = [...prose.matchAll(URL)];
  const rest = prose.replace(URL, (link) => ' '.repeat(link.length));
  const bare = [...links, ...BARE.flatMap((pattern) => [...rest.matchAll(pattern)])];
  return [...code, ...bare.map((match) => ({ literal: trimmed(match[0]), at: match.index }))];
}
