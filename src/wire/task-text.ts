import { asString, parseJson } from '../core/json.ts';
import { readString, type Span } from './scan.ts';

/** Only the beginning and the end of a task are read: they state the request, a pasted log in between does not. */
const HALF_CHARS = 4000;
const GAP = '\n…\n';
/** The bytes that may be needed for HALF_CHARS: no escape is longer than six bytes. */
const HALF_BYTES = 6 * HALF_CHARS;
const LONGEST_ESCAPE = 6;

/** Text that a client's harness adds to a user message; the user's own text is in another part. */
const REMINDER = ['<system-reminder>', '</system-reminder>'] as const;

/** The user's own text of one message, given the spans of its texts; may be empty. */
export function taskText(bytes: Buffer, spans: readonly Span[]): string {
  const texts = spans.map((span) => readEnds(bytes, span).trim()).filter((text) => !isReminder(text));
  return shorten(texts.filter((text) => text !== '').join('\n'));
}

const isReminder = (text: string): boolean => text.startsWith(REMINDER[0]) && text.endsWith(REMINDER[1]);

function shorten(text: string): string {
  if (text.length <= 2 * HALF_CHARS) return text;
  const from = text.length - HALF_CHARS;
  const head = text.slice(0, isHalf(text, HALF_CHARS) ? HALF_CHARS - 1 : HALF_CHARS);
  return `${head}${GAP}${text.slice(isHalf(text, from) ? from + 1 : from)}`;
}

/** Whether `at` is the second half of a surrogate pair. */
const isHalf = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;

function readEnds(bytes: Buffer, span: Span): string {
  const [start, end] = [span[0] + 1, span[1] - 1];
  if (end - start <= 2 * HALF_BYTES) return readString(bytes, span) ?? '';
  const head = decode(bytes, start, start + HALF_BYTES, 'end');
  return `${head}${GAP}${decode(bytes, end - HALF_BYTES, end, 'start')}`;
}

/** Decodes a piece of a JSON string that was cut anywhere: drops a split escape, with up to five more bytes. */
function decode(bytes: Buffer, start: number, end: number, cut: 'start' | 'end'): string {
  for (let less = 0; less < LONGEST_ESCAPE; less++) {
    const from = cut === 'start' ? start + less : start;
    const raw = bytes.toString('utf8', from, cut === 'end' ? end - less : end);
    const text = asString(parseJson(`"${raw}"`));
    if (text !== undefined) return text;
  }
  return '';
}
