/** What the checks of rules read in a small file. Lines are those with text, without spaces at their end. */
export const fileLines = (file: string): readonly string[] =>
  file
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
export const firstLineOf = (file: string): string => fileLines(file)[0] ?? '';
export const lastLineOf = (file: string): string => fileLines(file).at(-1) ?? '';
/** A text as a part of a regular expression that matches it alone. */
export const escapePattern = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
