/** A run of text that is shown as it is, or a character that would not be seen. */
export type TextPiece = string | { readonly code: string; readonly name: string };

/**
 * Controls, format and bidi characters, separators, unassigned and private code points, lone surrogates. Terminal colours
 * are one piece. A line break and a tab are shown by the layout.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  /\u001b\[[0-9;]{0,20}[A-Za-z]|[^\P{C}\n\t]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u2800\u3164]/gu;
/** A picture of several code points: its joiner and its selector show something. */
const JOINED =
  /\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)*/gu;

const NAMES: Readonly<Record<number, string>> = {
  0: 'null',
  8: 'backspace',
  13: 'carriage return',
  27: 'escape',
  160: 'no-break space',
  173: 'soft hyphen',
  1564: 'Arabic letter mark',
  8203: 'zero-width space',
  8204: 'zero-width non-joiner',
  8205: 'zero-width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8232: 'line separator',
  8233: 'paragraph separator',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'end of direction',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8288: 'word joiner',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8296: 'first strong isolate',
  8297: 'end of isolate',
  65279: 'byte order mark',
};

/** The pieces of a text in order. Windows line ends are line breaks. */
export function splitHidden(text: string): readonly TextPiece[] {
  const plain = text.replaceAll('\r\n', '\n');
  const pieces: TextPiece[] = [];
  const joined = [...plain.matchAll(JOINED)].map((match) => [match.index, match.index + match[0].length]);
  let at = 0;
  let next = 0;
  for (const match of plain.matchAll(HIDDEN)) {
    while ((joined[next]?.[1] ?? Number.POSITIVE_INFINITY) <= match.index) next++;
    if (match.index > (joined[next]?.[0] ?? Number.POSITIVE_INFINITY)) continue;
    if (match.index > at) pieces.push(plain.slice(at, match.index));
    pieces.push(describe(match[0]));
    at = match.index + match[0].length;
  }
  if (at < plain.length) pieces.push(plain.slice(at));
  return pieces;
}

function describe(hidden: string): TextPiece {
  const code = hidden.codePointAt(0) ?? 0;
  if (code === 27 && hidden.length > 1) return { code: `ESC${hidden.slice(1)}`, name: 'terminal colour' };
  const shown = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return { code: shown, name: NAMES[code] ?? 'a character that is not displayed' };
}
