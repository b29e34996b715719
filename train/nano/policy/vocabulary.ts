import { isObject, parseJson } from '../../../src/core/json.ts';

/*
 * Token ids: marks come first, then half bytes, then figures; those are the same in every vocabulary. Then come the pieces of
 * the particular vocabulary: beginnings of words, insides of words, and signs.
 */

/** Tokens without a text of their own. */
export const MARK = {
  pad: 0,
  begin: 1,
  skill: 2,
  task: 3,
  reply: 4,
  /** The reply is commands, a text, or nothing because the task is of an unknown kind. */
  act: 5,
  say: 6,
  foreign: 7,
  end: 8,
  /** The next word is capitalized, is in upper case, or has no space before it. */
  capital: 9,
  upper: 10,
  join: 11,
  /** Something that the user said before. */
  said: 12,
} as const;

/** Two nibbles are a byte: a text without a matching piece is encoded in bytes. */
export const FIRST_NIBBLE = 13;
const NIBBLES = 16;
export const FIRST_FIGURE = FIRST_NIBBLE + NIBBLES;

/** `00` to `99`, then `0` to `9`. */
const FIGURES: readonly string[] = [
  ...Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0')),
  ...Array.from({ length: 10 }, (_, number) => String(number)),
];

export interface Pieces {
  /** Beginnings of words, in lower case. */
  readonly starts: readonly string[];
  readonly insides: readonly string[];
  /** Anything else than words and figures, including spaces and line breaks. */
  readonly signs: readonly string[];
}

export type Piece =
  | { readonly is: 'start' | 'inside' | 'sign' | 'figure'; readonly text: string }
  | { readonly is: 'nibble'; readonly value: number }
  | { readonly is: 'mark' };

export interface Vocabulary {
  readonly size: number;
  readonly starts: ReadonlyMap<string, number>;
  readonly insides: ReadonlyMap<string, number>;
  readonly signs: ReadonlyMap<string, number>;
  readonly figures: ReadonlyMap<string, number>;
  /** Undefined for an id that is not in the vocabulary. */
  pieceOf(token: number): Piece | undefined;
}

const VERSION = 2;

/** Throws a RangeError unless every letter is among the starts and the insides, so that every word can be spelled. */
export function createVocabulary({ starts, insides, signs }: Pieces): Vocabulary {
  const all: Piece[] = [
    ...Array.from({ length: FIRST_NIBBLE }, (): Piece => ({ is: 'mark' })),
    ...Array.from({ length: NIBBLES }, (_, value): Piece => ({ is: 'nibble', value })),
  ];
  const add = (is: 'start' | 'inside' | 'sign' | 'figure', texts: readonly string[]) => {
    const first = all.length;
    for (const text of texts) all.push({ is, text });
    return new Map(texts.map((text, at) => [text, first + at]));
  };
  const figures = add('figure', FIGURES);
  const tables = { starts: add('start', starts), insides: add('inside', insides), signs: add('sign', signs) };
  for (const letter of 'abcdefghijklmnopqrstuvwxyz')
    if (!tables.starts.has(letter) || !tables.insides.has(letter))
      throw new RangeError(`the vocabulary lacks the letter ${letter}`);
  return { size: all.length, figures, ...tables, pieceOf: (token) => all[token] };
}

/** Undefined when the text is not a vocabulary. */
export function readVocabulary(json: string): Vocabulary | undefined {
  const data = parseJson(json);
  if (!isObject(data) || data.version !== VERSION) return undefined;
  const { starts, insides, signs } = data;
  if (!isTexts(starts) || !isTexts(insides) || !isTexts(signs)) return undefined;
  return createVocabulary({ starts, insides, signs });
}

const isTexts = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.every((text) => typeof text === 'string' && text !== '');
