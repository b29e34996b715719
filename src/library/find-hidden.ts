const PLAIN = /^[\t\n\u0020-\u007e]*$/;

/**
 * What a person who reads a lesson would not see, or would see elsewhere than a model does: controls but line break and
 * tab, half characters, line separators, bidi marks and everything that draws nothing (zero-width spaces, tags,
 * fillers). A joiner may stand between two pictures and a variation selector behind one: that is how emoji are spelt.
 */
const HIDDEN = new RegExp(
  [
    '[^\\P{Cc}\\t\\n]',
    '[\\p{Cs}\\p{Zl}\\p{Zp}\\ufff9-\\ufffb]',
    '[^\\P{Default_Ignorable_Code_Point}\\u200d\\ufe0e\\ufe0f]',
    '(?<![\\p{Extended_Pictographic}\\ufe0f\\u{1f3fb}-\\u{1f3ff}])\\u200d',
    '\\u200d(?!\\p{Extended_Pictographic})',
    '(?<!\\p{Emoji})[\\ufe0e\\ufe0f]',
  ].join('|'),
  'u',
);

/** The first hidden character of a text, as `U+202E`; undefined when all of it can be seen. */
export function findHidden(text: string): string | undefined {
  if (PLAIN.test(text)) return undefined;
  const found = HIDDEN.exec(text)?.[0];
  if (found === undefined) return undefined;
  return `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
