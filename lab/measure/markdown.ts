import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { wilsonInterval } from '../../src/stats/interval.ts';
import { textWidth } from '../../src/text/text-width.ts';

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

/** Markdown that can also be read on a terminal. */
export const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

export const milliseconds = (ms: number): string =>
  ms < 10 ? ms.toFixed(2) : ms < 100 ? ms.toFixed(1) : String(Math.round(ms));

/** The value below which that share of them lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** `2.4 % [1.8, 3.1]`. */
export function shareWithInterval(count: number, of: number): string {
  const { low, high } = wilsonInterval(count, of);
  const percent = (value: number): string => (100 * value).toFixed(1);
  return `${percent(count / Math.max(1, of))} % [${percent(low)}, ${percent(high)}]`;
}

/** The tables of a text with their columns in line, for a terminal. */
export function alignTables(text: string): string {
  return text.replace(/(?:^\|.*\|$\n?)+/gm, (table) => {
    const rows = table
      .trimEnd()
      .split('\n')
      .map((line) =>
        line
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .map((cell) => cell.trim()),
      );
    const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => textWidth(row[at] ?? ''))));
    const lines = rows.map((row) =>
      row
        .map((cell, at) => {
          const width = widths[at] ?? 0;
          return cell === '---' ? '-'.repeat(width) : cell + ' '.repeat(width - textWidth(cell));
        })
        .join('  ')
        .trimEnd(),
    );
    return `${lines.join('\n')}${table.endsWith('\n') ? '\n' : ''}`;
  });
}
