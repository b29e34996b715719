/** What draws nothing or draws elsewhere: controls but line break and tab, format characters, half characters. */
const HIDDEN = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours are what it is for
const COLOUR = /\u001b\[[0-9;]{0,20}[A-Za-z]/g;

/** The text as a reader sees it: what cannot be seen is gone, line ends are one kind. */
export const visibleText = (text: string): string =>
  text.replace(/\r\n?/g, '\n').replace(COLOUR, '').replace(HIDDEN, '');

/** The same, as one line. */
export const oneLine = (text: string): string => visibleText(text).split(/\s+/).filter(Boolean).join(' ');

/** At most `most` characters; where words had to go, it says so. */
export function cutEnd(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  const space = cut.lastIndexOf(' ');
  return `${whole(space > most / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

/** At most about `most` characters, from the beginning and the end: errors stand in the last lines. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil(most * 0.4);
  const tail = most - head;
  return `${whole(text.slice(0, head))}\n[… ${text.length - most} characters left out …]\n${whole(text.slice(-tail))}`;
}

/** A cut may have gone through a character. */
const whole = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
