import { readFileSync } from 'node:fs';

export interface PairLesson {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly content: string;
}

/** A task and its relevant lessons, if any. */
export interface Pair {
  readonly query: string;
  readonly right: readonly string[];
  readonly split?: 'dev' | 'test';
}

export interface Pairs {
  readonly lessons: readonly PairLesson[];
  readonly pairs: readonly Pair[];
}

/** Reads a file of pairs: the lessons in the first line, then one task per line. With `split`, only the tasks of that part. */
export function readPairs(file: string, split?: 'dev' | 'test'): Pairs {
  const [first = '{}', ...rest] = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const { lessons } = JSON.parse(first) as { readonly lessons: readonly PairLesson[] };
  const pairs = rest.map((line) => JSON.parse(line) as Pair);
  return { lessons, pairs: split === undefined ? pairs : pairs.filter((pair) => pair.split === split) };
}
