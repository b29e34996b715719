import { FIRST_NIBBLE, MARK, type Vocabulary } from './vocabulary.ts';

/** A part of a text that is encoded in one way. A word is in lower case, with its original case in `letters`. */
type SpellingRun =
  | { readonly is: 'word'; readonly text: string; readonly letters: 'small' | 'capital' | 'upper' }
  | { readonly is: 'figure'; readonly text: string }
  | { readonly is: 'signs'; readonly text: string };

const RUN = /[A-Za-z]+|[0-9]+|[^A-Za-z0-9]+/g;
/** Inside a word: `CAMEL`, `Case`, `case`. */
const SPELLING = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

/**
 * Splits a text into words, figures and signs. A single letter next to a figure (`t1201`, `26T14:05`) counts as a sign, since it
 * belongs to the format of the figure. Lossless: the runs in their original case, concatenated, are the text.
 */
function splitSpelling(text: string): readonly SpellingRun[] {
  const runs: SpellingRun[] = [];
  let signs = '';
  const flush = () => {
    if (signs !== '') runs.push({ is: 'signs', text: signs });
    signs = '';
  };
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const isLone = run.length === 1 && (isFigure(text[index - 1]) || isFigure(text[index + 1]));
    if (isLetter(run[0]) && !isLone) {
      flush();
      for (const [word] of run.matchAll(SPELLING)) runs.push({ is: 'word', ...spellingOf(word) });
    } else if (isFigure(run[0])) {
      flush();
      runs.push({ is: 'figure', text: run });
    } else signs += run;
  }
  flush();
  return runs;
}

function spellingOf(word: string): { text: string; letters: 'small' | 'capital' | 'upper' } {
  const text = word.toLowerCase();
  if (word === text) return { text, letters: 'small' };
  return { text, letters: word.length > 1 && word === word.toUpperCase() ? 'upper' : 'capital' };
}

const isFigure = (letter: string | undefined): boolean =>
  letter !== undefined && letter >= '0' && letter <= '9';
const isLetter = (letter: string | undefined): boolean => letter !== undefined && /^[A-Za-z]$/.test(letter);

/** Text to tokens and back. `decode(encode(text))` is any text unchanged, except that lone surrogates become `U+FFFD`. */
export interface NanoTokenizer {
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

export function createNanoTokenizer(vocabulary: Vocabulary): NanoTokenizer {
  return {
    size: vocabulary.size,
    encode: createEncoder(vocabulary),
    decode: (tokens) => decode(tokens, vocabulary),
  };
}

function createEncoder({ starts, insides, signs, figures }: Vocabulary): NanoTokenizer['encode'] {
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
  const spell = (run: SpellingRun): readonly number[] => {
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
    const runs = splitSpelling(text);
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
