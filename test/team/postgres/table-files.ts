import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Tables and indexes, without the write-ahead log. */
export function filesWith(dataDir: string, words: string): readonly string[] {
  const base = join(dataDir, 'base');
  return readdirSync(base, { recursive: true, encoding: 'utf8' })
    .map((name) => join(base, name))
    .filter((file) => existsSync(file) && statSync(file).isFile() && readFileSync(file).includes(words));
}
