import { neutralise, neutraliseJson, neutraliseLine } from '../base/printable.ts';

type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

/** Plain or styled text. Control characters are escaped before printing. */
export type Part = string | { readonly text: string; readonly style: Style };

export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

export interface Printer {
  /** Whether `--json` was given: one JSON document replaces the text output. */
  readonly json: boolean;
  /** A line of the result, on standard output. */
  line(...parts: readonly Part[]): void;
  /** Rows in columns, on standard output. */
  table(rows: readonly (readonly Part[])[]): void;
  /** A line on standard error; omitted with `--json`. */
  note(...parts: readonly Part[]): void;
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
    const colour = stream.isTTY === true && !env.NO_COLOR;
    stream.write(`${parts.map((part) => render(part, colour)).join('')}\n`);
  };
  return {
    json,
    line: (...parts) => writeLine(stdout, parts),
    table: (rows) => {
      for (const row of align(rows)) writeLine(stdout, row);
    },
    note: (...parts) => {
      if (!json) writeLine(stderr, parts);
    },
    document: (value) => void stdout.write(`${neutraliseJson(JSON.stringify(value, null, 2))}\n`),
    text: (text) => void stdout.write(`${neutralise(text).trimEnd()}\n`),
  };
}

const textOf = (part: Part): string => (typeof part === 'string' ? part : part.text);

function render(part: Part, colour: boolean): string {
  const text = neutralise(textOf(part));
  return colour && typeof part !== 'string' ? `\u001b[${CODES[part.style]}m${text}\u001b[0m` : text;
}

/** Pads each column to its widest cell, except the last one. */
function align(rows: readonly (readonly Part[])[]): readonly (readonly Part[])[] {
  const cells = rows.map((row) =>
    row.map(
      (part): Part =>
        typeof part === 'string' ? neutraliseLine(part) : { ...part, text: neutraliseLine(part.text) },
    ),
  );
  const widths: number[] = [];
  for (const row of cells) {
    row.forEach((part, column) => {
      widths[column] = Math.max(widths[column] ?? 0, [...textOf(part)].length);
    });
  }
  return cells.map((row) =>
    row.flatMap((part, column): readonly Part[] =>
      column === row.length - 1
        ? [part]
        : [part, ' '.repeat((widths[column] ?? 0) - [...textOf(part)].length + 2)],
    ),
  );
}

/** A table label. */
export const dim = (text: string): Part => ({ text, style: 'dim' });

/** `1 turn`, `3 turns`. */
export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : many}`;
