import { collapseSpaces, containsPhrase } from '../../text/contains-phrase.ts';
import { splitSentencesBeforeCapital } from '../../text/sentences.ts';

/**
 * What a shortened prompt must keep letter by letter, and what it may contain. Nothing here depends on what a sentence means:
 * prose may be shortened, whatever is exact may not, and a sentence that forbids is copied.
 */
export interface PromptRequirements {
  /** The offered tools that the prompt mentions. */
  readonly tools: readonly string[];
  /** Code, addresses, paths, tags and constants outside examples. */
  readonly literals: readonly string[];
  /** Sentences and list items that forbid something. */
  readonly prohibitions: readonly string[];
  /** The titles of its sections. */
  readonly headings: readonly string[];
  /** The shortened prompt may contain no exact term that is not in here. */
  readonly known: { readonly text: string; readonly terms: ReadonlySet<string> };
}

/** The tools of a request that its prompt mentions. */
export const mentionedTools = (prompt: string, offered: readonly string[]): readonly string[] =>
  [...new Set(offered)].filter((name) => name !== '' && containsPhrase(prompt, name)).sort();

export function readRequirements(prompt: string, offered: readonly string[]): PromptRequirements {
  const text = collapseSpaces(prompt);
  const isWhole = (words: string): boolean => words !== '' && containsPhrase(text, words);
  const blocks = readBlocks(prompt).filter(({ isExample }) => !isExample);
  const tools = mentionedTools(text, offered);
  const unique = (found: readonly string[]): readonly string[] => [...new Set(found)];
  return {
    tools,
    literals: unique(
      blocks.flatMap((block) => (block.isCode ? [block.text] : requiredTerms(block.text))),
    ).filter((literal) => isWhole(literal) && !tools.includes(literal)),
    prohibitions: unique(
      blocks.flatMap(({ text: said, lead, isCode, isItem }) => {
        if (isCode) return [];
        if (isItem && FORBIDS.test(lead)) return [lead, said];
        return splitSentencesBeforeCapital(said).filter((sentence) => FORBIDS.test(sentence));
      }),
    ).filter((sentence) => text.includes(sentence)),
    headings: unique(blocks.map(({ heading }) => heading)).filter(isWhole),
    known: { text, terms: exactTermsIn(prompt) },
  };
}

/** The exact terms of a text, examples included: a shortened prompt may not add any. */
export function exactTermsIn(prompt: string): ReadonlySet<string> {
  const found = readBlocks(prompt).flatMap(({ text, isCode, isItem }) => [
    ...(isCode ? [text] : []),
    ...exactTerms(text).map(({ literal }) => literal),
    ...NAMES.flatMap((pattern) => [...text.matchAll(pattern)].map(([name]) => name)),
    ...(isItem ? [LISTED.exec(text)?.[1] ?? ''] : []),
  ]);
  return new Set(found.filter((term) => term !== ''));
}

const FORBIDS =
  /\b(?:never|must not|mustn['’]t|do not|don['’]t|may not|not allowed|forbidden|prohibited|under no circumstances)\b/i;
const EXAMPLE = /\b(?:examples?|for instance|such as|samples?)\b|\be\.g\./i;

const CODE = /(?<!`)`(?!`)([^`]{1,400})`(?!`)|(?<!`)``(?!`)(.{1,400}?)``(?!`)/g;
const ELEMENT = /<(?:name|location|path|tool)>([^<]{1,400})<\//g;
/** Exact terms that are not marked as code: addresses, paths, reply tags, placeholders, constants, file names. */
const BARE: readonly RegExp[] = [
  /\b[a-z][a-z0-9+.-]{1,12}:\/\/[^\s<>"'`)\]]{1,500}/gi,
  /(?<![\w/.:~<-])(?:~|\.{1,2})?\/[\w.@-][\w.@/*{}$-]{0,200}/g,
  /\[\[[^[\]]{1,80}\]\]/g,
  /\{\{[^{}]{1,80}\}\}/g,
  /\b[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}\b/g,
  /(?<![\w@./-])[\w-]{2,63}(?:\.[\w-]{1,63}){0,6}\.[A-Za-z]{2,24}\b/g,
];
/** Exact terms as well, but too common in prose to be required: names with capitals inside, mails, numbers. */
const NAMES: readonly RegExp[] = [
  /\b[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,8}\b/g,
  /\b[a-z]{1,40}[A-Z][A-Za-z0-9]{0,60}\b/g,
  /(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g,
  /(?<![\w.,:-])\d(?:[\d.,:]{0,30}\d)(?![\w-])/g,
];
/** In a list, the name precedes the description. */
const LISTED = /^[`*]{0,3}([a-z][\w.-]{0,63})[`*]{0,3}: /;

const trimmed = (literal: string): string => literal.trim().replace(/(?<=[^.])[.,;:!?]{1,3}$/, '');

/** The exact terms of a text, with their positions. */
function exactTerms(text: string): readonly { readonly literal: string; readonly at: number }[] {
  const code = [...text.matchAll(CODE)].map((match) => ({
    literal: (match[1] ?? match[2] ?? '').trim(),
    at: match.index,
  }));
  let prose = text.replace(CODE, (span) => ' '.repeat(span.length));
  const bare = BARE.flatMap((pattern) => {
    const found = [...prose.matchAll(pattern)].map((match) => ({
      literal: trimmed(match[0]),
      at: match.index,
    }));
    prose = prose.replace(pattern, (term) => ' '.repeat(term.length));
    return found;
  });
  const elements = [...text.matchAll(ELEMENT)].map(([, inside = '']) => ({
    literal: trimmed(inside),
    at: 0,
  }));
  return [...code, ...bare, ...elements];
}

/** What follows "for example" in a sentence is not required. */
const requiredTerms = (text: string): readonly string[] =>
  splitSentencesBeforeCapital(text).flatMap((sentence) =>
    exactTerms(sentence).flatMap(({ literal, at }) => (EXAMPLE.test(sentence.slice(0, at)) ? [] : [literal])),
  );

/** A paragraph, a list item or a line of code, in one line, with its context. */
interface Block {
  readonly text: string;
  readonly heading: string;
  /** The line with a colon that introduces it. */
  readonly lead: string;
  readonly isItem: boolean;
  readonly isCode: boolean;
  readonly isExample: boolean;
}

const FENCE = /^\s*(`{3,}|~{3,})[^`]*$/;
const HEADING = /^\s{0,3}#{1,6}\s+(\S.*)$|^\s*\*\*([^*]{1,120})\*\*:?\s*$/;
const TAG = /^\s*<(\/?)([A-Za-z][\w-]{0,60})>\s*$/;
const ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)]|\(\d{1,3}\))\s+(\S.*)$/;

/** The blocks of a prompt, in order. A fence or an example tag that is not closed is plain text. */
function readBlocks(prompt: string): readonly Block[] {
  const lines = prompt.split(/\r\n|[\r\n]/);
  const closings = lastClosings(lines);
  const closed = (closing: string, at: number): boolean => (closings.get(closing) ?? -1) > at;
  const found: Block[] = [];
  let [heading, lead] = ['', ''];
  let fence: string | undefined;
  let example: string | undefined;
  let isOpen = false;
  const add = (text: string, isItem: boolean, isCode: boolean): void => {
    const isAnnounced = EXAMPLE.test(`${heading} ${lead}`) && !FORBIDS.test(lead);
    found.push({ text, heading, lead, isItem, isCode, isExample: example !== undefined || isAnnounced });
  };
  lines.forEach((line, at) => {
    const text = collapseSpaces(line);
    const marker = FENCE.exec(line)?.[1];
    const [, slash = '', name = ''] = TAG.exec(line) ?? [];
    const title = HEADING.exec(line);
    const item = ITEM.exec(line)?.[1];
    const last = found.at(-1);
    if (fence !== undefined) {
      if (text.startsWith(fence)) fence = undefined;
      else if (text !== '') add(text, false, true);
    } else if (marker !== undefined && closed(marker, at)) fence = marker;
    else if (example !== undefined && `</${example}>` === text) example = undefined;
    else if (EXAMPLE.test(name) && slash === '' && closed(`</${name}>`, at)) example ??= name;
    else if (title !== null) [heading, lead] = [collapseSpaces(title[1] ?? title[2] ?? ''), ''];
    else if (name === '' && item !== undefined) add(collapseSpaces(item), true, false);
    else if (
      name === '' &&
      isOpen &&
      last !== undefined &&
      text !== '' &&
      /^\s{2,}|^[\p{Ll}`"'([]/u.test(line)
    ) {
      // A wrapped line goes on.
      found[found.length - 1] = { ...last, text: `${last.text} ${text}` };
    } else if (name === '' && text !== '') {
      lead = '';
      add(text, false, false);
    }
    isOpen = fence === undefined && text !== '' && name === '' && title === null && marker === undefined;
    if (isOpen && found.at(-1)?.text.endsWith(':') === true) lead = found.at(-1)?.text ?? '';
  });
  return found;
}

const CLOSING = /^(?:`{3,40}|~{3,40}|<\/[A-Za-z][\w-]{0,60}>)$/;

/** The last line that closes each fence and tag. A longer fence closes a shorter one. */
function lastClosings(lines: readonly string[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  lines.forEach((line, at) => {
    const text = line.trim();
    if (!CLOSING.test(text)) return;
    for (let length = text.startsWith('<') ? text.length : 3; length <= text.length; length++)
      last.set(text.slice(0, length), at);
  });
  return last;
}
