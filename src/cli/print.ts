import { neutralise, neutraliseJson, neutraliseLine } from '../base/printable.ts';
import type { Json } from '../core/json.ts';
import { cutToWidth, textWidth, wrapText } from '../text/text-width.ts';

type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

/** Plain or styled text. Control characters are escaped before printing. */
export type Part = string | { readonly text: string; readonly style: Style };

/** A cell of a table; a value that is absent is empty. */
export type Cell = Part | Json | undefined;

export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** The width of the terminal. */
  readonly columns?: number;
}

/** With `--json` only `document` prints; without it everything else does, so that a command says both and asks nothing. */
export interface Printer {
  readonly json: boolean;
  /** A line of the result, on standard output. */
  line(...parts: readonly Part[]): undefined;
  /** A row of cells for each of a list, in columns, on standard output. On a terminal the longest cells are cut with `…`; the first column never is. */
  table<T>(head: readonly string[], list: readonly T[], cells: (one: T) => readonly Cell[]): void;
  /** Labels with a text each, on standard output; a repeated label is printed once. On a terminal long texts continue on the next line, under the text. */
  fields(rows: readonly (readonly [label: Part, text: Part])[]): void;
  /** A line on standard error. */
  note(...parts: readonly Part[]): undefined;
  /** The command that comes next, as a note. */
  next(text: string): void;
  /** The whole result as JSON, on standard output. */
  document(value: unknown): void;
  /** Several lines of text, such as help, on standard output. */
  text(text: string): void;
}

const CODES: Record<Style, string> = {
  bold: '1',
  dim: '2',
  green: '32',
  yellow: '33',
  red: '31',
  cyan: '36',
};

export function createPrinter(options: {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: NodeJS.ProcessEnv;
  readonly json: boolean;
}): Printer {
  const { stdout, stderr, env, json } = options;
  const writeLine = (stream: OutputStream, parts: readonly Part[]): void => {
    const colour = !env.NO_COLOR && (stream.isTTY === true || isSet(env.FORCE_COLOR));
    stream.write(`${parts.map((part) => render(part, colour)).join('')}\n`);
  };
  const say =
    (stream: OutputStream) =>
    (...parts: readonly Part[]): undefined => {
      if (!json) writeLine(stream, parts);
    };
  const [line, note] = [say(stdout), say(stderr)];
  return {
    json,
    line,
    note,
    table: (head, list, cells) => {
      const rows = list.map((one) => cells(one).map(partOf));
      const all = head.length > 0 ? [head.map(dim), ...rows] : rows;
      for (const row of align(all, lineWidth(stdout, env))) line(...row);
    },
    fields: (rows) => {
      for (const row of hang(rows, lineWidth(stdout, env))) line(...row);
    },
    next: (text) => note({ text: '→ ', style: 'cyan' }, text),
    document: (value) => {
      if (json) stdout.write(`${neutraliseJson(JSON.stringify(value, null, 2))}\n`);
    },
    text: (text) => {
      if (!json) stdout.write(`${neutralise(text).trimEnd()}\n`);
    },
  };
}

const isPart = (cell: Cell): cell is Part =>
  typeof cell === 'string' ||
  (typeof cell === 'object' && cell !== null && 'text' in cell && 'style' in cell);

const partOf = (cell: Cell): Part => (isPart(cell) ? cell : cell === undefined ? '' : String(cell));

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '' && value !== '0';

const textOf = (part: Part): string => (typeof part === 'string' ? part : part.text);

function render(part: Part, colour: boolean): string {
  const text = neutralise(textOf(part));
  return colour && typeof part !== 'string' ? `\u001b[${CODES[part.style]}m${text}\u001b[0m` : text;
}

/** The width that lines should fit. Undefined when a program reads them: it gets every word. `COLUMNS` decides where it is set. */
export function lineWidth(stream: OutputStream, env: NodeJS.ProcessEnv): number | undefined {
  const asked = Number(env.COLUMNS);
  if (Number.isInteger(asked) && asked > 0) return Math.max(asked, MIN_WIDTH);
  return stream.isTTY === true ? Math.max(stream.columns ?? 80, MIN_WIDTH) : undefined;
}

const MIN_WIDTH = 40;
const GAP = 2;
/** A column is not made narrower than this to make room for others. */
const MIN_COLUMN = 6;

const oneLine = (part: Part): Part =>
  typeof part === 'string' ? neutraliseLine(part) : { ...part, text: neutraliseLine(part.text) };

const withText = (part: Part, text: string): Part => (typeof part === 'string' ? text : { ...part, text });

/** Pads each column to its widest cell, except the last one, after cutting cells so that the rows fit `width`. */
function align(rows: readonly (readonly Part[])[], width: number | undefined): readonly (readonly Part[])[] {
  const cells = rows.map((row) => row.map(oneLine));
  const widths: number[] = [];
  for (const row of cells)
    row.forEach((part, column) => {
      widths[column] = Math.max(widths[column] ?? 0, textWidth(textOf(part)));
    });
  if (width !== undefined) narrow(widths, width);
  return cells.map((row) =>
    row.flatMap((part, column): readonly Part[] => {
      const text = cutToWidth(textOf(part), widths[column] ?? 0);
      const space = (widths[column] ?? 0) - textWidth(text) + GAP;
      return column === row.length - 1 ? [withText(part, text)] : [withText(part, text), ' '.repeat(space)];
    }),
  );
}

/** Takes from the widest column, again and again, until all columns together fit. The first one holds ids and is spared. */
function narrow(widths: number[], width: number): void {
  const total = (): number => widths.reduce((sum, one) => sum + one, 0) + GAP * (widths.length - 1);
  while (total() > width) {
    const widest = widths.indexOf(Math.max(...widths.slice(1)), 1);
    if (widest < 1 || (widths[widest] ?? 0) <= MIN_COLUMN) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

/** Labels in one column, texts in the other, broken between words where they would pass `width`. */
function hang(
  rows: readonly (readonly [label: Part, text: Part])[],
  width: number | undefined,
): readonly (readonly Part[])[] {
  const indent = Math.max(0, ...rows.map(([label]) => textWidth(textOf(label)))) + GAP;
  let before: string | undefined;
  return rows.flatMap(([named, part]) => {
    const label = textOf(named);
    const repeated = label === before;
    before = label;
    const text = textOf(oneLine(part));
    const lines = width === undefined ? [text] : wrapText(text, Math.max(width - indent, MIN_COLUMN));
    return lines.map((line, index): readonly Part[] => {
      const shown = index === 0 && !repeated ? label : '';
      return [
        typeof named === 'string' ? dim(shown) : withText(named, shown),
        ' '.repeat(indent - textWidth(shown)),
        withText(part, line),
      ];
    });
  });
}

/** A table label. */
export const dim = (text: string): Part => ({ text, style: 'dim' });

/** A label and a text on standard error; a text that is longer than `width` continues under itself. */
export function noteField({ note }: Printer, label: string, text: string, width: number | undefined): void {
  const lines = width === undefined ? [text] : wrapText(text, Math.max(width - textWidth(label), MIN_COLUMN));
  lines.forEach((line, index) => {
    note(dim(index === 0 ? label : ' '.repeat(textWidth(label))), line);
  });
}
