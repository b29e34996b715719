import { BASE64, runEnd } from './char-class.ts';
import { NO_SPANS, type ScanContext, type SecretRule, type SecretSpan } from './scan-context.ts';
import { wordLikeness } from './word-likeness.ts';

const LONGEST_LABEL = 64;
const LONGEST_BLOCK = 32_768;
/** The minimum length of a line of a key; only the last one may be shorter. */
const LINE = 16;
/** Between two lines of a key: a line break, an indent, a line number, quotes, diff markers. */
const LONGEST_BETWEEN = 40;

/**
 * A private key between its BEGIN and END lines, also with line breaks escaped as `\n`. A block without its END is truncated,
 * not harmless: everything after the BEGIN that looks like a key is part of the secret.
 */
export const findPrivateKeyBlock: SecretRule = (page, start, end) => {
  const { text } = page;
  const dashes = page.next('----', end);
  if (dashes - end > LONGEST_LABEL || !text.slice(end, dashes).includes('PRIVATE KEY')) return NO_SPANS;
  const bodyStart = runOfDashes(text, dashes);
  const ending = Math.min(page.next('-----END', bodyStart), page.next('---- END', bodyStart));
  const nextBegin = Math.min(page.next('-----BEGIN', bodyStart), page.next('---- BEGIN', bodyStart));
  const isClosed = ending < text.length && ending - bodyStart <= LONGEST_BLOCK && nextBegin > ending;
  const bodyEnd = isClosed ? ending : lastLineEnd(text, bodyStart, nextBegin);
  const lines = keyLines(text, bodyStart, bodyEnd);
  if (!lines.some((line) => line.end - line.start >= LINE)) return NO_SPANS;
  const secret = lines.map((line) => text.slice(line.start, line.end)).join('');
  if (text.slice(bodyStart, bodyEnd).includes('"')) {
    // Each line is a string of its own: each is replaced, and the enclosing list or expression stays valid.
    return lines.filter((line) => line.end - line.start >= LINE / 2).map((line) => ({ ...line, secret }));
  }
  return [{ start, end: isClosed ? closingEnd(page, ending) : bodyEnd, secret }];
};

const runOfDashes = (text: string, from: number): number => {
  let at = from;
  while (text.charCodeAt(at) === 0x2d) at++;
  return at;
};

function closingEnd(page: ScanContext, ending: number): number {
  const label = runOfDashes(page.text, ending);
  const dashes = page.next('----', label);
  return dashes - label > LONGEST_LABEL ? label : runOfDashes(page.text, dashes);
}

/** Runs of base64 characters; a short isolated one is a line number or a word of a header. */
function keyLines(text: string, from: number, to: number): SecretSpan[] {
  const lines: SecretSpan[] = [];
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

/** The short last line of a key, as opposed to a line number or a word. */
const isRest = (run: string): boolean => /\D/.test(run) && wordLikeness(run) < 0.6;

/** The position after `\\n`, at any depth of escaping. */
function afterEscape(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 0x5c) at++;
  return at + 1;
}
