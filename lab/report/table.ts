import type { DifferenceVerdict } from './difference.ts';
import { html, type Markup, type MarkupContent } from './markup.ts';

/** Where a report is read. */
export type Medium = 'terminal' | 'page';

/** A table that is written as text and as HTML. */
export interface ReportTable {
  readonly columns: readonly ColumnHead[];
  readonly rows: readonly TableRow[];
  readonly caption?: string;
}

export interface ColumnHead {
  readonly title: string;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
  readonly only?: Medium;
  /** The terminal cuts longer cells. */
  readonly maxWidth?: number;
}

/** A column with what it shows of a row. */
export interface Column<T> extends ColumnHead {
  readonly cell: (row: T) => string | TableCell;
}

type ColumnLook = Pick<ColumnHead, 'only' | 'maxWidth'>;

export const textColumn = <T>(title: string, cell: Column<T>['cell'], look: ColumnLook = {}): Column<T> => ({
  title,
  cell,
  ...look,
});

export const numberColumn = <T>(
  title: string,
  cell: Column<T>['cell'],
  look: ColumnLook = {},
): Column<T> => ({
  title,
  cell,
  isNumber: true,
  ...look,
});

export interface CreateTableOptions<T> {
  readonly caption?: string;
  readonly row?: (row: T) => Omit<TableRow, 'cells'>;
}

export const createTable = <T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { caption, row = () => ({}) }: CreateTableOptions<T> = {},
): ReportTable => ({
  columns,
  rows: rows.map((one) => ({ cells: columns.map(({ cell }) => cell(one)), ...row(one) })),
  ...(caption === undefined ? {} : { caption }),
});

export interface TableRow {
  readonly cells: readonly (string | TableCell)[];
  /** Sentences below the row. */
  readonly notes?: readonly string[];
  /** Begins a group of rows: the page draws a line above it. */
  readonly isGroupStart?: boolean;
  /** Colours the last cell. */
  readonly verdict?: DifferenceVerdict;
}

export interface TableCell {
  readonly text: string;
  /** What the page shows instead of the text. */
  readonly markup?: MarkupContent;
  readonly className?: string;
}

/** A condition's name in its colour. */
export const conditionCell = (condition: string): TableCell => ({ text: condition, className: condition });

/** A drawing for the page. */
export const drawing = (markup: Markup, className = ''): TableCell => ({ text: '', markup, className });

export interface TextOptions {
  readonly width: number;
  /** Escape codes for titles and verdicts. */
  readonly colour: boolean;
}

const ANSI: Readonly<Record<DifferenceVerdict, string>> = { better: '32', worse: '31', 'cannot say': '33' };
export const VERDICT_CLASSES: Readonly<Record<DifferenceVerdict, string>> = {
  better: 'better',
  worse: 'worse',
  'cannot say': 'cannot',
};

/** The lines of a table for a terminal; none when it has no rows. */
export function tableLines(
  { columns, rows }: ReportTable,
  { width, colour }: TextOptions,
): readonly string[] {
  if (rows.length === 0) return [];
  const shown = [...columns.entries()].filter(([, { only }]) => only !== 'page');
  const titles = shown.map(([, { title }]) => title);
  const cells = rows.map((row) =>
    shown.map(([at, { maxWidth }]) => {
      const text = textOf(row.cells[at] ?? '');
      return maxWidth === undefined ? text : cut(text, maxWidth);
    }),
  );
  const hasHeader = titles.some((title) => title !== '');
  const right = [...shown.keys()].filter((at) => shown[at]?.[1].isNumber === true);
  const lines = columnLines(hasHeader ? [titles, ...cells] : cells, { width, right });
  const body = hasHeader ? lines.slice(1) : lines;
  return [
    ...lines.slice(0, lines.length - body.length),
    ...body.flatMap((line, at) => [
      coloured(line, colour ? rows[at]?.verdict : undefined),
      ...(rows[at]?.notes ?? []).flatMap((note) => wrapped(note, width, '    · ', '      ')),
    ]),
  ];
}

/** The verdict is the last word of its line, unless the line was cut. */
const coloured = (line: string, verdict: DifferenceVerdict | undefined): string =>
  verdict !== undefined && line.endsWith(verdict)
    ? `${line.slice(0, -verdict.length)}\u001b[${ANSI[verdict]}m${verdict}\u001b[0m`
    : line;

const textOf = (cell: string | TableCell): string => (typeof cell === 'string' ? cell : cell.text);

/** The table as HTML; undefined when it has no rows. */
export function tableMarkup({ columns, rows, caption }: ReportTable): Markup | undefined {
  if (rows.length === 0) return undefined;
  const shown = [...columns.entries()].filter(([, { only }]) => only !== 'terminal');
  return html`<div class="scroll"><table class="tight">${caption === undefined ? undefined : html`<caption>${caption}</caption>`}<thead><tr>${shown.map(
    ([, { title, isNumber }]) =>
      isNumber ? html`<th scope="col" class="num">${title}</th>` : html`<th scope="col">${title}</th>`,
  )}</tr></thead><tbody>${rows.map((row) => rowMarkup(row, shown))}</tbody></table></div>`;
}

function rowMarkup(row: TableRow, shown: readonly (readonly [number, ColumnHead])[]): Markup {
  const { cells, notes = [], isGroupStart, verdict } = row;
  const classes = [isGroupStart ? 'group' : '', notes.length > 0 ? 'joined' : ''].filter(Boolean).join(' ');
  const content = shown.map(([at, { isNumber }], place) => {
    const cell = cells[at] ?? '';
    const { text, markup = text, className = '' } = typeof cell === 'string' ? { text: cell } : cell;
    const isVerdict = verdict !== undefined && place === shown.length - 1;
    const all = [
      isNumber ? 'num' : '',
      className,
      isVerdict ? `verdict ${VERDICT_CLASSES[verdict]}` : '',
    ].filter(Boolean);
    const named = all.join(' ');
    if (place === 0) return html`<th scope="row" class="${named}">${markup}</th>`;
    return all.length === 0 ? html`<td>${markup}</td>` : html`<td class="${named}">${markup}</td>`;
  });
  const below = notes.map((note) => html`<li>${note}</li>`);
  return html`<tr class="${classes}">${content}</tr>${
    below.length === 0
      ? undefined
      : html`<tr><td class="below" colspan="${shown.length}"><ul>${below}</ul></td></tr>`
  }
`;
}

/** Characters that move a cursor, hide text, or make a line look like another one. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Foreign text on one line of a terminal: models write the names of lessons. */
export const plainLine = (text: string): string => text.replace(UNPRINTABLE, '\u{fffd}');

export function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

interface ColumnLinesOptions {
  readonly right: readonly number[];
  readonly width: number;
}

/** Each column is as wide as its widest cell; lines are cut at the width. */
function columnLines(
  rows: readonly (readonly string[])[],
  { right, width }: ColumnLinesOptions,
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
    return cut(`  ${line.join('  ')}`.trimEnd(), width);
  });
}

/** A sentence on as many lines as it needs, the later ones further in. */
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
