import { RE2JS } from 're2js';
import { errorMessage } from '../core/failure.ts';

export class PatternError extends Error {
  override readonly name = 'PatternError';
}

export interface Pattern {
  /** Whether the pattern matches anywhere in the text, in time linear in its length. */
  test(text: string): boolean;
  /** The first group of the last match, or the whole match where the pattern has no group; undefined without a match. */
  last(text: string): string | undefined;
  /** Where it matches, in order, without overlap: at most `most` places. */
  places(text: string, most: number): readonly PatternPlace[];
}

interface PatternPlace {
  readonly from: number;
  readonly to: number;
}

/** The longest text that is matched against a pattern. */
export const LONGEST_TEXT = 50_000;
const LONGEST_PATTERN = 1000;
/** RE2's time for a text is proportional to the number of instructions. */
const MOST_INSTRUCTIONS = 500;
const FLAGS: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
};
/** JavaScript's white space and line ends; RE2 knows only the ASCII ones. */
const SPACE =
  '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';
const TOKENS = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\k<|\\[\s\S]|[[\].]/g;

/**
 * Compiles a regular expression for RE2, which no text can make slow. The syntax is the part of JavaScript's (Unicode
 * mode) that RE2 has too. Throws a PatternError for anything else: an invalid pattern, back references, look-around,
 * other flags, or a pattern that is too large.
 */
export function compilePattern(source: string, flags = ''): Pattern {
  if (source.length > LONGEST_PATTERN)
    throw new PatternError(`it is longer than ${LONGEST_PATTERN} characters`);
  if (!/^(?:i?m?s?|[ims]{1,3})$/.test(flags) || new Set(flags).size < flags.length)
    throw new PatternError('its flags may be i, m and s');
  try {
    new RegExp(source, `${flags}u`);
    const bits = [...flags].reduce((sum, flag) => sum | (FLAGS[flag] ?? 0), 0);
    const pattern = RE2JS.compile(RE2JS.translateRegExp(toRe2(source, flags)), bits);
    if (pattern.programSize() > MOST_INSTRUCTIONS)
      throw new PatternError('it is too large: use fewer or shorter repetitions');
    return {
      test: (text) => pattern.test(text),
      last: (text) => {
        const matcher = pattern.matcher(text);
        let found: string | undefined;
        while (matcher.find()) found = matcher.group(matcher.groupCount() > 0 ? 1 : 0) ?? '';
        return found;
      },
      places: (text, most) => {
        const matcher = pattern.matcher(text);
        const places: PatternPlace[] = [];
        while (places.length < most && matcher.find())
          places.push({ from: matcher.start(), to: matcher.end() });
        return places;
      },
    };
  } catch (error) {
    if (error instanceof PatternError) throw error;
    throw new PatternError(errorMessage(error));
  }
}

/** Writes what JavaScript and RE2 read differently so that RE2 reads it as JavaScript does. */
function toRe2(source: string, flags: string): string {
  let isClass = false;
  return source.replace(TOKENS, (token) => {
    if (token === '[' || token === ']') isClass = token === '[';
    if (/^\\(?:k<|[1-9])/.test(token))
      throw new PatternError('it has a back reference, which has no linear-time match');
    if (token === '\\s') return isClass ? SPACE : `[${SPACE}]`;
    if (token === '\\S' && !isClass) return `[^${SPACE}]`;
    if (token === '.' && !isClass && !flags.includes('s')) return NO_LINE_END;
    if (!/^\\u./.test(token) || token.length < 12) return token;
    const [high = 0, low = 0] = [token.slice(2, 6), token.slice(8)].map((digits) =>
      Number.parseInt(digits, 16),
    );
    return `\\x{${(0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00)).toString(16)}}`;
  });
}
