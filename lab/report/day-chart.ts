/** Shares by day, from 0 to 1; undefined where there is none. */
export interface ChartPanel {
  readonly name: string;
  readonly shares: readonly (number | undefined)[];
}

/** Days that are marked below the chart. */
export interface ChartMarks {
  readonly sign: string;
  readonly days: readonly number[];
  readonly meaning: string;
}

export interface DayChart {
  readonly panels: readonly ChartPanel[];
  readonly marks: readonly ChartMarks[];
  /** Lines of a panel; each has eight levels. */
  readonly rows: number;
}

const LEVELS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PER_ROW = LEVELS.length - 1;
const MISSING = '·';
/** Characters of a day; the last one is a gap. */
const DAY_WIDTH = 4;
const SCALE_WIDTH = '100 % ┤'.length;

/**
 * Bars by day, one panel below the other, all on the scale from 0 to 100 %, so that any two can be compared. A share above 0
 * always has a visible bar.
 */
export function dayChart({ panels, marks, rows }: DayChart): readonly string[] {
  const days = Math.max(0, ...panels.map(({ shares }) => shares.length));
  if (days === 0) return [];
  const names = Math.max(...panels.map(({ name }) => name.length));
  const under = (text: string): string => `${' '.repeat(names + SCALE_WIDTH + 1)}${text}`.trimEnd();
  const at = (sign: (day: number) => string): string =>
    Array.from({ length: days }, (_, day) => sign(day).padEnd(DAY_WIDTH)).join('');
  return [
    ...panels.flatMap((panel) => panelLines(panel, { rows, days, names })),
    under(at((day) => String(day + 1))),
    ...marks
      .filter((mark) => mark.days.length > 0)
      .map(({ sign, days: on, meaning }) =>
        under(`${at((day) => (on.includes(day) ? sign : ''))}${sign} ${meaning}`),
      ),
  ];
}

function panelLines(
  { name, shares }: ChartPanel,
  { rows, days, names }: { readonly rows: number; readonly days: number; readonly names: number },
): readonly string[] {
  const bars = Array.from({ length: days }, (_, day) => heightOf(shares[day], rows));
  return Array.from({ length: rows }, (_, line) => {
    const above = rows - 1 - line;
    const cells = bars.map((height) =>
      (height === undefined
        ? above === 0
          ? MISSING
          : ' '
        : (LEVELS[Math.max(0, Math.min(PER_ROW, height - above * PER_ROW))] ?? ' ')
      )
        .repeat(DAY_WIDTH - 1)
        .padEnd(DAY_WIDTH),
    );
    const scale = line === 0 ? '100 % ┤' : above === 0 ? '  0 % ┤' : '      │';
    return `${(line === 0 ? name : '').padEnd(names)} ${scale}${cells.join('')}`.trimEnd();
  });
}

/** In eighths of a line. */
function heightOf(share: number | undefined, rows: number): number | undefined {
  if (share === undefined) return undefined;
  const most = rows * PER_ROW;
  const height = Math.round(Math.max(0, Math.min(1, share)) * most);
  return share > 0 ? Math.max(1, height) : height;
}
