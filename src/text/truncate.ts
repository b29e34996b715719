import { Buffer } from 'node:buffer';

/** At most `most` characters, an ellipsis included. For quotations in messages: the cut may go through a word. */
export const clip = (text: string, most: number): string =>
  text.length > most ? `${wholeCharacters(text.slice(0, most - 1))}…` : text;

/** At most `most` characters, cut at a blank when one stands among the last `reach` of them, with an ellipsis. */
export function truncateEnd(text: string, most: number, reach = most / 2): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  const space = cut.lastIndexOf(' ');
  const end = space > Math.max(0, most - reach) ? space : cut.length;
  return `${wholeCharacters(cut.slice(0, end)).trimEnd()}…`;
}

interface MiddleCut {
  /** The share of the kept characters that is taken from the beginning; less than half by default, since errors are printed last. */
  readonly headShare?: number;
  /** The line between the two parts. */
  readonly gap?: (left: number, length: number) => string;
}

/** About `most` characters from the beginning and the end, with a line between them that says how much is missing. */
export function truncateMiddle(
  text: string,
  most: number,
  { headShare = 0.4, gap = (left) => `[… ${left} characters left out …]` }: MiddleCut = {},
): string {
  if (text.length <= most) return text;
  const split = Math.ceil(most * headShare);
  const head = wholeCharacters(text.slice(0, split));
  const tail = wholeCharacters(text.slice(text.length - (most - split)));
  return `${head}\n${gap(text.length - head.length - tail.length, text.length)}\n${tail}`;
}

/** The same by UTF-8 bytes, for limits that a tokenizer sets; the result never exceeds `most` bytes. */
export function truncateMiddleBytes(text: string, most: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= most) return text;
  const gap = `\n[… ${bytes.length} bytes, cut …]\n`;
  const room = Math.max(0, most - Buffer.byteLength(gap, 'utf8'));
  const head = Math.floor(room * 0.4);
  const tail = room - head;
  const first = bytes
    .subarray(0, head)
    .toString('utf8')
    .replace(/\ufffd$/, '');
  const last = bytes
    .subarray(bytes.length - tail)
    .toString('utf8')
    .replace(/^\ufffd{1,3}/, '');
  return room === 0 ? '' : first + gap + last;
}

/** Without the half of a surrogate pair that a cut left at either end. */
const wholeCharacters = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
