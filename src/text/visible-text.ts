/** Characters that are not displayed or displace others: controls except line break and tab, format characters, lone surrogates. */
const HIDDEN = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours are what it is for
const COLOUR = /\u001b\[[0-9;]{0,20}[A-Za-z]/g;

/** The text as a reader sees it: without invisible characters and terminal colours, with `\n` as line end. */
export const visibleText = (text: string): string =>
  text.replace(/\r\n?/g, '\n').replace(COLOUR, '').replace(HIDDEN, '');

/** The visible text in one line, with single blanks. */
export const oneLine = (text: string): string => visibleText(text).split(/\s+/).filter(Boolean).join(' ');
