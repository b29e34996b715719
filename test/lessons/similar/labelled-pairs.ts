import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Two instructions, and whether following one means breaking the other. */
export interface LabelledPair {
  readonly a: string;
  readonly b: string;
  readonly isContradiction: boolean;
}

type StoredPair = LabelledPair & { readonly split: 'dev' | 'test' };

const stored = readFileSync(path.join(import.meta.dirname, 'labelled-pairs.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as StoredPair);

/** The rules were written with these pairs. */
export const DEV_PAIRS: readonly LabelledPair[] = stored.filter(({ split }) => split === 'dev');

/** Pairs that were written after the rules, which were not changed for them. */
export const TEST_PAIRS: readonly LabelledPair[] = stored.filter(({ split }) => split === 'test');
