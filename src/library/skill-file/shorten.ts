const ELLIPSIS = '…';
/** How far back a blank is looked for, so that no word is cut. */
const REACH = 60;

/** A text of at most `length` characters: cut behind a word where there is one near, and never within a character. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const longest = text.slice(0, length - ELLIPSIS.length);
  const blank = longest.lastIndexOf(' ');
  const last = longest.charCodeAt(longest.length - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  const end = blank > Math.max(0, longest.length - REACH) ? blank : longest.length - (isHalf ? 1 : 0);
  return longest.slice(0, end) + ELLIPSIS;
}
