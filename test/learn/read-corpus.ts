import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The rows of a JSONL file in this folder. */
export const readCorpus = <T>(file: string): readonly T[] =>
  readFileSync(path.join(import.meta.dirname, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
