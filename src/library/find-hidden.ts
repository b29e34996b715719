const PLAIN = /^[\t\n\u0020-\u007e]*$/;

/**
 * Characters that a person does not see, or sees in another place than a model does: control characters except line break
 * and tab, lone surrogates, line separators, bidi marks and all default-ignorable characters (zero-width spaces, tags,
 * fillers). A zero-width joiner between two pictographs and a variation selector after one are parts of emoji and allowed.
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

/** The first hidden character of a text, as `U+202E`; undefined when there is none. */
export function findHidden(text: string): string | undefined {
  if (PLAIN.test(text)) return undefined;
  const found = HIDDEN.exec(text)?.[0];
  if (found === undefined) return undefined;
  return `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
