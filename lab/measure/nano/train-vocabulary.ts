import { splitSpelling } from '../../../train/nano/policy/tokenizer.ts';
import { FIRST_PIECE, type Pieces } from '../../../train/nano/policy/vocabulary.ts';

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
/** Single characters in the suite's texts; others are spelt in bytes. */
const SIGNS = [...' \n.,:;!?\'"`()[]{}<>|/\\_-+*#=&%@~$^tTZ'];
/** Longer pieces would be whole phrases, which would be memorised. */
const LONGEST_SIGN = 6;

/** Rarer words say little about which pieces are frequent. */
const MOST_SPELLINGS = 5_000;

interface Spelling {
  readonly count: number;
  readonly isWord: boolean;
  pieces: string[];
}

/** Marks the inside of a word while pieces are counted. */
const INSIDE = '\u0001';

/**
 * Byte-pair encoding over words and over runs of other characters, until the vocabulary is full: the most frequent pair becomes a piece.
 * Names must have been replaced in the texts, so that no name of any split gets its own piece.
 */
export function trainVocabulary(texts: Iterable<string>, size: number): Pieces {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const run of splitSpelling(text)) {
      if (run.is === 'figure') continue;
      const key = (run.is === 'word' ? 'w' : 's') + run.text;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  const usual = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, MOST_SPELLINGS);
  const spellings = usual.map(([key, count]): Spelling => {
    const isWord = key.startsWith('w');
    const letters = [...key.slice(1)];
    return {
      count,
      isWord,
      pieces: letters.map((letter, at) => (isWord && at > 0 ? INSIDE + letter : letter)),
    };
  });
  const words = new Set([...LETTERS, ...LETTERS.map((letter) => INSIDE + letter)]);
  const signs = new Set(SIGNS);
  while (FIRST_PIECE + words.size + signs.size < size) {
    const best = bestPair(spellings);
    if (best === undefined) break;
    (best.isWord ? words : signs).add(best.piece);
    for (const spelling of spellings)
      if (spelling.isWord === best.isWord) spelling.pieces = merged(spelling.pieces, best.pair, best.piece);
  }
  const sorted = [...words].sort();
  return {
    starts: sorted.filter((piece) => !piece.startsWith(INSIDE)),
    insides: sorted.filter((piece) => piece.startsWith(INSIDE)).map((piece) => piece.slice(1)),
    signs: [...signs].sort(),
  };
}

const joined = (first: string, second: string): string => first + second.replace(INSIDE, '');

function bestPair(spellings: readonly Spelling[]) {
  const pairs = new Map<string, { count: number; pair: readonly [string, string]; isWord: boolean }>();
  for (const { pieces, count, isWord } of spellings)
    for (let at = 1; at < pieces.length; at++) {
      const pair = [pieces[at - 1] ?? '', pieces[at] ?? ''] as const;
      if (!isWord && joined(...pair).length > LONGEST_SIGN) continue;
      if (!isWord && pair.some((piece) => !/^[\x20-\x7e\n]+$/.test(piece))) continue;
      const key = `${isWord}\u0000${pair.join('\u0000')}`;
      const known = pairs.get(key);
      if (known === undefined) pairs.set(key, { count, pair, isWord });
      else known.count += count;
    }
  const best = [...pairs.values()].reduce<
    { count: number; pair: readonly [string, string]; isWord: boolean } | undefined
  >((most, one) => (most === undefined || one.count > most.count ? one : most), undefined);
  return best && { ...best, piece: joined(...best.pair) };
}

function merged(
  pieces: readonly string[],
  [first, second]: readonly [string, string],
  piece: string,
): string[] {
  const out: string[] = [];
  for (let at = 0; at < pieces.length; at++) {
    if (pieces[at] === first && pieces[at + 1] === second) {
      out.push(piece);
      at++;
    } else out.push(pieces[at] ?? '');
  }
  return out;
}
