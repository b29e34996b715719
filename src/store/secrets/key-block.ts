import { BASE64, runEnd } from './char-class.ts';
import { NONE, type Page, type Rule, type Span } from './page.ts';
import { wordShare } from './word-share.ts';

const LONGEST_LABEL = 64;
const LONGEST_BLOCK = 32_768;
/** A line of a key is at least this long; only the last one may be shorter. */
const LINE = 16;
/** Between two lines of a key: a break, an indent, a line number, quotes, the signs of a diff. */
const LONGEST_BETWEEN = 40;

/**
 * A private key between its BEGIN and END lines, also where line breaks are written `\n`. A block without its END is cut off,
 * not harmless: what follows the BEGIN and has the look of a key goes.
 */
export const findKeyBlock: Rule = (page, start, end) => {
  const { text } = page;
  const dashes = page.next('----', end);
  if (dashes - end > LONGEST_LABEL || !text.slice(end, dashes).includes('PRIVATE KEY')) return NONE;
  const bodyStart = runOfDashes(text, dashes);
  const ending = Math.min(page.next('-----END', bodyStart), page.next('---- END', bodyStart));
  const nextBegin = Math.min(page.next('-----BEGIN', bodyStart), page.next('---- BEGIN', bodyStart));
  const isClosed = ending < text.length && ending - bodyStart <= LONGEST_BLOCK && nextBegin > ending;
  const bodyEnd = isClosed ? ending : lastLineEnd(text, bodyStart, nextBegin);
  const lines = keyLines(text, bodyStart, bodyEnd);
  if (!lines.some((line) => line.end - line.start >= LINE)) return NONE;
  const secret = lines.map((line) => text.slice(line.start, line.end)).join('');
  if (text.slice(bodyStart, bodyEnd).includes('"')) {
    // The lines are strings of their own: each goes, and the list or the expression they stand in stays whole.
    return lines.filter((line) => line.end - line.start >= LINE / 2).map((line) => ({ ...line, secret }));
  }
  return [{ start, end: isClosed ? closingEnd(page, ending) : bodyEnd, secret }];
};

const runOfDashes = (text: string, from: number): number => {
  let at = from;
  while (text.charCodeAt(at) === 0x2d) at++;
  return at;
};

function closingEnd(page: Page, ending: number): number {
  const label = runOfDashes(page.text, ending);
  const dashes = page.next('----', label);
  return dashes - label > LONGEST_LABEL ? label : runOfDashes(page.text, dashes);
}

/** Runs of the key's own characters; what is short and stands alone is a line number or a header's word. */
function keyLines(text: string, from: number, to: number): Span[] {
  const lines: Span[] = [];
  let at = from;
  while (at < to) {
    if (text.charCodeAt(at) === 0x5c) {
      at = afterEscape(text, at);
      continue;
    }
    const end = runEnd(text, at, BASE64, to);
    if (end - at >= LINE / 2) lines.push({ start: at, end });
    at = Math.max(end, at + 1);
  }
  return lines;
}

function lastLineEnd(text: string, from: number, limit: number): number {
  let end = from;
  let at = from;
  while (at < limit && at - end <= LONGEST_BETWEEN) {
    if (text.charCodeAt(at) === 0x5c) {
      at = afterEscape(text, at);
      continue;
    }
    const stop = runEnd(text, at, BASE64, limit);
    const isLast = end > from && stop - at >= 4 && isRest(text.slice(at, stop));
    if (stop - at >= LINE || isLast) end = stop;
    if (isLast && stop - at < LINE) break;
    at = Math.max(stop, at + 1);
  }
  return end;
}

/** The short end of a key's last line, and neither a line number nor the next word. */
const isRest = (run: string): boolean => /\D/.test(run) && wordShare(run) < 0.6;

/** Behind `\\n`, however many times the text was escaped. */
function afterEscape(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 0x5c) at++;
  return at + 1;
}
