/** Colours of a terminal with a dark background, by the code that selects them. */
const COLOURS: Readonly<Record<string, string>> = {
  '31': '#ff7b72',
  '32': '#7ee787',
  '33': '#e3b341',
  '36': '#79c0ff',
};
const TEXT = '#e6edf3';
const DIM = '#8b949e';
const CHARACTER_WIDTH = 8.43;
const LINE_HEIGHT = 20;
const MARGIN = 20;
const TITLE_BAR = 34;
const ESCAPE = String.fromCharCode(27);

interface Span {
  readonly text: string;
  readonly fill: string;
  readonly isBold: boolean;
}

/** A picture (SVG) of what a terminal showed: lines with ANSI colours, `columns` wide. */
export function drawTerminal(lines: readonly string[], columns: number, title: string): string {
  const rows = terminalRows(lines, columns);
  return terminalFrame({ rows: rows.length, columns, title, content: rows });
}

/** The lines as elements of a picture, one for each row that a terminal needs; `from` rows further down. */
export const terminalRows = (lines: readonly string[], columns: number, from = 0): readonly string[] =>
  lines
    .flatMap((line) => wrapSpans(readSpans(line), columns))
    .map((row, index) => {
      const y = TITLE_BAR + MARGIN + (from + index + 0.75) * LINE_HEIGHT;
      const spans = row.map(
        ({ text: part, fill, isBold }) =>
          `<tspan fill="${fill}"${isBold ? ' font-weight="bold"' : ''}>${escapeXml(part)}</tspan>`,
      );
      return `<text x="${MARGIN}" y="${y}" xml:space="preserve">${spans.join('')}</text>`;
    });

interface FrameOptions {
  /** How many rows the window has. */
  readonly rows: number;
  readonly columns: number;
  readonly title: string;
  readonly content: readonly string[];
  /** A style sheet. */
  readonly style?: string;
}

/** A window of a terminal around the elements of its rows. */
export function terminalFrame({ rows, columns, title, content, style }: FrameOptions): string {
  const width = Math.ceil(columns * CHARACTER_WIDTH + 2 * MARGIN);
  const height = rows * LINE_HEIGHT + TITLE_BAR + 2 * MARGIN;
  const dots = ['#ff5f56', '#ffbd2e', '#27c93f'].map(
    (fill, index) => `<circle cx="${MARGIN + index * 20}" cy="17" r="6" fill="${fill}"/>`,
  );
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">`,
    ...(style === undefined ? [] : [`<style>${style}</style>`]),
    `<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>`,
    ...dots,
    `<text x="${width / 2}" y="22" text-anchor="middle" fill="${DIM}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="13">${escapeXml(title)}</text>`,
    '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14">',
    ...content,
    '</g>',
    '</svg>',
  ].join('\n')}\n`;
}

/** Splits a line at its colour codes. */
function readSpans(line: string): readonly Span[] {
  const spans: Span[] = [];
  let fill = TEXT;
  let isBold = false;
  line.split(new RegExp(`(${ESCAPE}\\[[0-9;]*m)`)).forEach((part) => {
    if (part.startsWith(ESCAPE)) {
      const code = part.slice(2, -1);
      isBold = code === '1' || (isBold && code !== '0');
      fill = code === '2' ? DIM : (COLOURS[code] ?? (code === '0' ? TEXT : fill));
    } else if (part !== '') spans.push({ text: part, fill, isBold });
  });
  return spans;
}

/** A terminal continues a long line on the next one, wherever that is. */
function wrapSpans(spans: readonly Span[], columns: number): readonly (readonly Span[])[] {
  const rows: Span[][] = [[]];
  let used = 0;
  for (const span of spans)
    for (const character of span.text) {
      if (used === columns) {
        rows.push([]);
        used = 0;
      }
      used++;
      const row = rows.at(-1) ?? [];
      const last = row.at(-1);
      const isSame = last !== undefined && last.fill === span.fill && last.isBold === span.isBold;
      if (isSame) row[row.length - 1] = { ...last, text: last.text + character };
      else row.push({ ...span, text: character });
    }
  return rows;
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
