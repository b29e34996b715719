const GOOD = /^(?:👍|✅|❤️|🎉|💯)/u;
const BAD = /^(?:👎|❌|🚫)/u;
const SKIN_OR_SPACE = /^[\u{1F3FB}-\u{1F3FF}\uFE0F\s]+/u;

export interface Rating {
  readonly score: 1 | -1;
  /** What was said with it. */
  readonly note?: string;
}

/** A message that begins with a thumb, or `good` and `bad` of the command; undefined for any other: words are not judged here. */
export function readThumb(message: string): Rating | undefined {
  const text = message.trim();
  const mark = GOOD.exec(text) ?? BAD.exec(text);
  if (mark === null) return undefined;
  const note = text.slice(mark[0].length).replace(SKIN_OR_SPACE, '').trim();
  return { score: GOOD.test(text) ? 1 : -1, ...(note === '' ? {} : { note }) };
}

/** `good`, `bad the tests were not run`. */
export function readRating(words: string): Rating | undefined {
  const [, word = '', note = ''] = /^\s*(good|bad)\b[\s,:]*(.*)$/is.exec(words) ?? [];
  if (word === '') return readThumb(words);
  const said = note.trim();
  return { score: word.toLowerCase() === 'good' ? 1 : -1, ...(said === '' ? {} : { note: said }) };
}
