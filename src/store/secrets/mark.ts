import { createHmac } from 'node:crypto';

/** The replacement of a secret. */
const MARK = /\[\[secret:[0-9a-f]{8}\]\]/;
const MARK_START = '[[secret:';
const MARK_LENGTH = MARK_START.length + 10;

/** Equal secrets get equal marks; without the salt a guess cannot be verified. */
export const markFor = (secret: string, salt: string): string =>
  `${MARK_START}${createHmac('sha256', salt).update(secret).digest('hex').slice(0, 8)}]]`;

export const holdsMark = (text: string): boolean => text.includes(MARK_START) && MARK.test(text);

export const withoutMarks = (text: string): string =>
  text.includes(MARK_START) ? text.replace(new RegExp(MARK, 'g'), '') : text;

/** The spans of the marks in a text, in order. */
export function findMarks(text: string): readonly { readonly start: number; readonly end: number }[] {
  const marks: { start: number; end: number }[] = [];
  for (let at = text.indexOf(MARK_START); at >= 0; at = text.indexOf(MARK_START, at + 1)) {
    if (MARK.test(text.slice(at, at + MARK_LENGTH))) marks.push({ start: at, end: at + MARK_LENGTH });
  }
  return marks;
}
