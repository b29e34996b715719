/**
 * Control and format characters, separators and lone surrogates: what can move a cursor, hide text, or make a
 * line look like another one. Emoji joiners are among them; a visible escape is the better mistake.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const toEscape = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** Text from elsewhere, safe to show on a terminal: line breaks and tabs stay, the rest becomes a visible escape. */
export const neutralise = (text: string): string =>
  text.replace(UNPRINTABLE, (character) =>
    character === '\n' || character === '\t' ? character : toEscape(character),
  );

/** The same for a place that holds one line: a log record, a table cell. */
export const neutraliseLine = (text: string): string => text.replace(UNPRINTABLE, toEscape);

const LONGEST_NAME = 256;

/** A name that a caller chose, such as a model's: one short line that can be shown anywhere. */
export const printableName = (name: string): string => neutraliseLine(name.slice(0, LONGEST_NAME));

/** JSON text whose strings show nothing unprintable, and whose value is unchanged. */
export const neutraliseJson = (json: string): string =>
  json.replace(UNPRINTABLE, (character) => {
    if (character === '\n') return character;
    let out = '';
    for (let i = 0; i < character.length; i++) {
      out += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
    }
    return out;
  });
