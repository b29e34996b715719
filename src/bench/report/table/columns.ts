/** Characters that move a cursor, hide text, or make a line look like another one. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Text from elsewhere on one line of a terminal: names of lessons are written by models. */
export const plainLine = (text: string): string => text.replace(UNPRINTABLE, '\u{fffd}');

/** Cut to so many characters, with a mark where something is missing. */
export function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

export interface ColumnsOptions {
  /** Columns whose cells stand at the right: numbers. */
  readonly right?: readonly number[];
  readonly width: number;
  readonly indent?: string;
}

/** Rows of cells in columns, each as wide as its widest cell; what does not fit on the line is cut. */
export function columns(
  rows: readonly (readonly string[])[],
  { right = [], width, indent = '  ' }: ColumnsOptions,
): readonly string[] {
  const cells = rows.map((row) => row.map(plainLine));
  const widths: number[] = [];
  for (const row of cells) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, [...cell].length);
    });
  }
  return cells.map((row) => {
    const line = row.map((cell, column) => {
      const space = ' '.repeat((widths[column] ?? 0) - [...cell].length);
      return right.includes(column) ? space + cell : cell + space;
    });
    return cut((indent + line.join('  ')).trimEnd(), width);
  });
}

/** A sentence over as many lines as it takes, the later ones further in. */
export function wrapped(text: string, width: number, indent = '  ', further = '    '): readonly string[] {
  const lines: string[] = [];
  let line = indent;
  let isEmpty = true;
  for (const word of plainLine(text).split(' ')) {
    const longer = isEmpty ? line + word : `${line} ${word}`;
    if (!isEmpty && [...longer].length > width) {
      lines.push(line);
      line = further + word;
    } else line = longer;
    isEmpty = false;
  }
  return [...lines, line].map((each) => cut(each, width));
}
