import { memoByText } from '../base/text-memo.ts';
import { copiedPattern } from '../text/copied-text.ts';
import { splitPastedText } from '../text/pasted-text.ts';
import { separateTypedText } from '../text/typed-text.ts';
import { splitLaterClause } from './cues/said-for-later.ts';

/** A sentence that the person typed. */
export interface OwnSentence {
  /** Letter by letter as in the message. */
  readonly text: string;
  /** For comparison: lower case, without accents, quotations and code, with straight apostrophes and single spaces. */
  readonly folded: string;
  /** The number of blank lines before it: people begin another matter after one. */
  readonly block: number;
}

/** Lines pasted from a terminal, a log, a file or a table. */
const PASTED =
  /^(?:➜ |[$%#] \S|\S{0,40}\s?[\w.-]{1,40}@[\w.-]{1,60}[: ]\S{0,200}[$#%] |\{"|\[\{|\s{2,}at |\s{2,}File "|\s{3,}\S|\[\d\d\/\d\d\/\d\d |Traceback \(|node:|npm (?:error|ERR!)|\s{0,4}[\w.]{0,60}(?:Error|Exception): |\d{4}-\d\d-\d\d[T ]|'?\/[\w./ -]{1,300}'?$|[-+] ?\d{1,5} |#{1,6} \S|[-*•] (?:[⚠✅❌*"]|[^\n]{100})|\||\[?(?:INFO|WARN|ERROR|DEBUG|FAIL|PASS)\b|\(node:\d|=> |[⨯×✗✖•▲] |\d{1,4}\.\d{1,4} \S|\[\d\d:\d\d|\d{1,5} \||[\w@./-]{1,60}:[\w./-]{1,40}: |[\w./-]{1,200}:\d{1,6}\b|(?:import|export|const|let|var|function|class|def|return|public|private) [^\n]{0,200}[;{(=]|from \S{1,80} import |<\/?[a-z][\w-]{0,20}[ >]|[\w./-]{1,200}\(\d{1,6},\d{1,6}\): |[\w./-]{1,200}:\d{1,6}:\d{1,6})/;
/** A line after which somebody else's words may follow. */
const CARRIER = /[:：]\s*$/;
const LIST_ITEM = /^\s{0,8}(?:[-*+•–]|\d{1,2}[.)])\s+\S/;
const LONGEST_LATER_PARAGRAPH = 600;
const LONGEST_TAIL = 400;
const CAP = 20_000;
const FENCE = /^\s{0,3}(?:```|~~~)/;
/** A line of this length may have been wrapped: the next one continues its sentence. */
const WRAPPED_LENGTH = 60;
/** What follows this much text is not read: people say in fewer words what they want. */
const MOST_CHARACTERS = 2_400;
const LONGEST_SENTENCE = 500;
const SENTENCE_END = /(?<=[.!?…]["')\]”]{0,3})\s+|(?<=[。！？])\s*/u;
const ABBREVIATION =
  /(?:^|[\s(])(?:mr|ms|mrs|dr|prof|e\.g|i\.e|etc|vs|cf|approx|incl|z\.b|bzw|ca|nr|p\.ex|ej)\.$/i;

/**
 * The sentences of a message that its author typed, up to a length: without what a client inserted, quoted lines, code,
 * pasted output and what follows a mail's head. What cannot be told apart is left out.
 */
export const readOwnSentences = memoByText(findOwnSentences);

/** The same where they are quoted as the person's words: without the sentences of others that they quote, which leave "…". */
export const readOwnWords = (message: string): readonly string[] =>
  readOwnSentences(message)
    .map(({ text }) => {
      const { own, pasted } = splitPastedText(text, 'pasted');
      return pasted === '' ? text : own.replace(/ {2,}/g, ' … ').trim();
    })
    .filter((text) => /\p{L}/u.test(text));

function findOwnSentences(message: string): readonly OwnSentence[] {
  const { typed } = separateTypedText(message.slice(0, CAP));
  const sentences: OwnSentence[] = [];
  let length = 0;
  for (const { text: paragraph, block } of ownParagraphs(splitPastedText(typed, 'own').own)) {
    for (const text of splitSentences(paragraph)) {
      if (text.length > LONGEST_SENTENCE || !message.includes(text)) continue;
      const folded = foldWords(text);
      // Nothing but a quotation: somebody else's sentence.
      if (!/\p{L}/u.test(folded) && QUOTATION_MARK.test(text)) continue;
      sentences.push({ text, folded, block });
      length += text.length;
      if (length > MOST_CHARACTERS) return sentences;
    }
  }
  return sentences;
}

interface Paragraph {
  text: string;
  readonly block: number;
}

/**
 * The paragraphs before pasted lines without a fence, and a few words behind the last of them: where output ends in between cannot be told.
 * A colon at the end of a line hands over to somebody else's words, unless a list follows.
 */
function ownParagraphs(typed: string): readonly Paragraph[] {
  const lines = withoutFences(typed.split('\n'));
  const first = lines.findIndex(isMachineLine);
  if (first < 0) return paragraphsOf(lines, 0);
  let end = lines.findLastIndex(isMachineLine) + 1;
  // An indented line directly below output is output.
  while (/^\s+\S/.test(lines[end] ?? '')) end++;
  const tail = lines.slice(end);
  const head = paragraphsOf(lines.slice(0, first), 0);
  const isShort = tail.join('\n').trim().length <= LONGEST_TAIL;
  return isShort ? [...head, ...paragraphsOf(tail, (head.at(-1)?.block ?? 0) + 1)] : head;
}

function withoutFences(lines: readonly string[]): readonly string[] {
  let isCode = false;
  return lines.flatMap((line) => {
    const isFence = FENCE.test(line);
    if (isFence) isCode = !isCode;
    return isFence ? [''] : isCode ? [] : [line];
  });
}

function paragraphsOf(lines: readonly string[], from: number): readonly Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let block = from;
  let goesOn = false;
  for (const [nth, line] of lines.entries()) {
    if (paragraphs.length > 0 && line.length > LONGEST_LATER_PARAGRAPH) break;
    const last = paragraphs.at(-1);
    if (goesOn && last !== undefined && /^\p{Ll}/u.test(line)) last.text += `\n${line}`;
    else if (line.trim() !== '') paragraphs.push({ text: line, block });
    else if (last !== undefined) block++;
    goesOn = line.length >= WRAPPED_LENGTH && !/[.!?:]\s*$/.test(line);
    if (CARRIER.test(line) && !LIST_ITEM.test(lines.slice(nth + 1).find((next) => next.trim() !== '') ?? ''))
      break;
  }
  return paragraphs;
}

const MARKS = /[{}()[\]<>=|\\;_$#~^*+]/g;
const SHORTEST_DENSE = 24;
const MOST_MARKS = 0.12;

/** Output of a program, or code. */
function isMachineLine(line: string): boolean {
  if (PASTED.test(line) || /\berror TS\d{3,5}\b/.test(line) || /[{};]\s*$/.test(line)) return true;
  const plain = line
    .slice(0, 1000)
    .replace(/`[^`]{0,400}`|https?:\/\/\S{1,1000}|@[\w./-]{1,200}|[\w-]{0,60}[/_.][\w./-]{1,200}/g, '');
  if (plain.length < SHORTEST_DENSE) return false;
  return (plain.match(MARKS)?.length ?? 0) / plain.length > MOST_MARKS;
}

/** Words in quotation marks, of somebody else or for a text. An apostrophe inside a word closes nothing. */
const QUOTED =
  /"[^"\n]{8,400}"|“[^”\n]{8,400}”|«[^»\n]{8,400}»|„[^“”\n]{8,400}[“”]|‹[^›\n]{8,400}›|「[^」\n]{8,400}」|『[^』\n]{8,400}』|(?<=^|[\s:(,])'(?=\S)(?:[^'\n]|'(?=\p{L})){8,400}'(?=$|[\s.,;:!?)])/gu;

const QUOTATION_MARK = /["“«„‹「『]/;

function splitSentences(paragraph: string): readonly string[] {
  const sentences: string[] = [];
  const add = (sentence: string): number => sentences.push(...splitLaterClause(sentence));
  const quoted = [...paragraph.matchAll(QUOTED)].map(({ index, 0: { length } }) => [index, index + length]);
  let from = 0;
  const ends = new RegExp(SENTENCE_END, 'gu');
  for (let end = ends.exec(paragraph); end !== null; end = ends.exec(paragraph)) {
    if (end[0] === '') ends.lastIndex++;
    if (ABBREVIATION.test(paragraph.slice(Math.max(from, end.index - 12), end.index))) continue;
    const { index } = end;
    if (quoted.some(([start = 0, stop = 0]) => index > start && index < stop)) continue;
    add(paragraph.slice(from, end.index));
    from = end.index + end[0].length;
  }
  add(paragraph.slice(from));
  return sentences.map((sentence) => sentence.trim()).filter((sentence) => sentence !== '');
}

/** A quote that a model copied, in the letters of the person: its part of each sentence that it stands in. Empty: they did not type it. */
export function findOwnWords(
  quote: string,
  sentences: readonly Pick<OwnSentence, 'text'>[],
): readonly string[] {
  const typed = sentences.map(({ text }) => text).join(' ');
  const bare = quote.trim().replace(/^["'“„«]+|["'”“»]+$/g, '');
  const copy = copiedPattern(quote)?.exec(typed) ?? copiedPattern(bare)?.exec(typed);
  if (copy === undefined || copy === null) return [];
  let start = 0;
  return sentences.flatMap(({ text }) => {
    const [from, to] = [Math.max(0, copy.index - start), copy.index + copy[0].length - start];
    start += text.length + 1;
    const part = to <= 0 ? '' : text.slice(from, to);
    return /[\p{L}\p{N}]/u.test(part) ? [part] : [];
  });
}

/** Negations without their apostrophe. */
const BARE_NOT = /\b(does|did|is|was|are|were|have|has|had|do|would|could|should|ca|wo)nt\b/g;

/** A sentence as the phrases expect it. */
export function foldWords(text: string): string {
  return foldAccents(text)
    .replaceAll('’', "'")
    .replace(/`[^`\n]{0,400}`|https?:\/\/\S{1,2000}/g, ' ')
    .replace(QUOTED, ' ')
    .replace(/^@[\w-]{2,40}[,:]? /, '')
    .replace(BARE_NOT, "$1n't")
    .replace(/\b(that|you|it|there|what)(s|re) (?=(?:not|still|wrong|broken|the|no|a)\b)/g, "$1'$2 ")
    .replace(/\s+/g, ' ')
    .trim();
}

/** In lower case; ü → u, й → и, ı → i. Scripts without such marks are as they were. */
export const foldAccents = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ı', 'i')
    .replaceAll('ß', 'ss');
