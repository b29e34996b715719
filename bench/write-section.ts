import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Replaces the text between the two markers of this name; a document without markers gets them at its end. */
export function writeSection(file: string, name: string, text: string): void {
  const open = `<!-- ${name} -->`;
  const close = `<!-- /${name} -->`;
  mkdirSync(path.dirname(file), { recursive: true });
  const document = existsSync(file) ? readFileSync(file, 'utf8') : '# Performance\n';
  const section = `${open}\n\n${text.trim()}\n\n${close}`;
  const from = document.indexOf(open);
  const to = document.indexOf(close);
  const isMarked = from >= 0 && to > from;
  const before = isMarked ? document.slice(0, from) : `${document.trimEnd()}\n\n`;
  const after = isMarked ? document.slice(to + close.length) : '\n';
  writeFileSync(file, before + section + after);
}
