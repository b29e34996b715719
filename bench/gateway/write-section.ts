import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const OPEN = '<!-- bench:gateway -->';
const CLOSE = '<!-- /bench:gateway -->';

/** Replaces what stands between the two marks of a document; a document without them gets them at its end. */
export function writeSection(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const document = existsSync(file) ? readFileSync(file, 'utf8') : '# Performance\n';
  const section = `${OPEN}\n\n${text}\n${CLOSE}`;
  const from = document.indexOf(OPEN);
  const to = document.indexOf(CLOSE);
  const isMarked = from >= 0 && to > from;
  const before = isMarked ? document.slice(0, from) : `${document.trimEnd()}\n\n`;
  const after = isMarked ? document.slice(to + CLOSE.length) : '\n';
  writeFileSync(file, before + section + after);
}
