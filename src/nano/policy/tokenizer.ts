import { type Run, runsOf } from './runs.ts';
import { FIRST_NIBBLE, MARK, type Vocabulary } from './vocabulary.ts';

/** Text to tokens and back. `decode(encode(text))` is any text unchanged, except that lone surrogates become `U+FFFD`. */
export interface Tokenizer {
  readonly size: number;
  encode(text: string): readonly number[];
  /** Skips marks other than those for spelling; bytes that are not UTF-8 become `U+FFFD`. */
  decode(tokens: Iterable<number>): string;
}

type SpacedKind = 'word' | 'figure';
type Letters = 'small' | 'capital' | 'upper';

/** A space between words and figures is implied unless the join mark is there, so that the most common sign costs no token. */
const impliesSpace = (before: string | undefined, next: string | undefined): boolean =>
  isSpaced(before) && isSpaced(next) && !(before === 'figure' && next === 'figure');
const isSpaced = (is: string | undefined): is is SpacedKind => is === 'word' || is === 'figure';

export function createTokenizer(vocabulary: Vocabulary): Tokenizer {
  return {
    size: vocabulary.size,
    encode: createEncoder(vocabulary),
    decode: (tokens) => decode(tokens, vocabulary),
  };
}

function createEncoder({ starts, insides, signs, figures }: Vocabulary): Tokenizer['encode'] {
  const longest = Math.max(
    ...[...starts.keys(), ...insides.keys(), ...signs.keys()].map((one) => one.length),
  );

  /** The longest piece at a position and its length, which is 0 when there is none. */
  const pieceAt = (
    table: ReadonlyMap<string, number>,
    text: string,
    at: number,
  ): readonly [number, number] => {
    for (let length = Math.min(longest, text.length - at); length > 0; length--) {
      const token = table.get(text.slice(at, at + length));
      if (token !== undefined) return [token, length];
    }
    return [MARK.pad, 0];
  };
  const spell = (run: Run): readonly number[] => {
    const { text } = run;
    const tokens: number[] = [];
    if (run.is === 'word' && run.letters !== 'small') tokens.push(MARK[run.letters]);
    for (let at = 0; at < text.length; ) {
      const table = run.is === 'signs' ? signs : run.is === 'figure' ? figures : at === 0 ? starts : insides;
      const [token, length] = pieceAt(table, text, at);
      if (length > 0) tokens.push(token);
      const letter = length > 0 ? '' : String.fromCodePoint(text.codePointAt(at) ?? 0);
      tokens.push(...nibblesOf(letter));
      at += length + letter.length;
    }
    return tokens;
  };

  return (text) => {
    const runs = runsOf(text);
    return runs.flatMap((run, at) => {
      const [before, next] = [runs[at - 1]?.is, runs[at + 1]?.is];
      if (run.text === ' ' && impliesSpace(before, next)) return [];
      return impliesSpace(before, run.is) ? [MARK.join, ...spell(run)] : spell(run);
    });
  };
}

const nibblesOf = (letter: string): readonly number[] =>
  [...new TextEncoder().encode(letter)].flatMap((byte) => [
    FIRST_NIBBLE + (byte >> 4),
    FIRST_NIBBLE + (byte & 15),
  ]);

function decode(tokens: Iterable<number>, { pieceOf }: Vocabulary): string {
  let text = '';
  let before: SpacedKind | undefined;
  // The case of the next word, and of the current word.
  let letters: Letters = 'small';
  let current: Letters = 'small';
  let isJoined = false;
  let nibbles: number[] = [];
  const flush = () => {
    if (nibbles.length === 0) return;
    const bytes = Uint8Array.from({ length: Math.ceil(nibbles.length / 2) }, (_, at) =>
      // Half a byte at the end is invalid: 0xff never occurs in UTF-8.
      2 * at + 1 < nibbles.length ? ((nibbles[2 * at] ?? 0) << 4) | (nibbles[2 * at + 1] ?? 0) : 0xff,
    );
    text += new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    nibbles = [];
  };
  const append = (is: SpacedKind, written: string) => {
    text += impliesSpace(before, is) && !isJoined ? ` ${written}` : written;
    [before, isJoined] = [is, false];
  };
  for (const token of tokens) {
    const piece = pieceOf(token);
    if (piece?.is === 'nibble') {
      nibbles.push(piece.value);
      before = undefined;
      continue;
    }
    flush();
    if (piece === undefined || piece.is === 'mark') {
      if (token === MARK.join) isJoined = true;
      else if (token === MARK.capital || token === MARK.upper)
        letters = token === MARK.upper ? 'upper' : 'capital';
      else [before, letters, isJoined] = [undefined, 'small', false];
    } else if (piece.is === 'inside') text += current === 'upper' ? piece.text.toUpperCase() : piece.text;
    else if (piece.is === 'sign') {
      text += piece.text;
      [before, letters, isJoined] = [undefined, 'small', false];
    } else if (piece.is === 'figure') {
      append('figure', piece.text);
      letters = 'small';
    } else {
      append('word', withCase(piece.text, letters));
      [current, letters] = [letters, 'small'];
    }
  }
  flush();
  return text;
}

const withCase = (word: string, letters: Letters): string => {
  if (letters === 'small') return word;
  return letters === 'upper' ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);
};
