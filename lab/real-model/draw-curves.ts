/** A line of a chart. Lines of one group have one colour. */
export interface Curve {
  readonly name: string;
  readonly group: string;
  /** The second of each pair is 0 to 1. */
  readonly points: readonly (readonly [at: number, value: number])[];
}

interface ChartWords {
  readonly across: string;
  readonly up: string;
  /** The end of the horizontal axis. */
  readonly most: number;
}

const WIDTH = 860;
const HEIGHT = 360;
const LEFT = 56;
const TOP = 16;
const RIGHT = 330;
const BOTTOM = 44;
const COLOURS = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#8c564b', '#7f7f7f'];
const TICKS = [0, 0.25, 0.5, 0.75, 1];

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Curves of shares as a picture that stands by itself: white ground, names at the side, one dash pattern for each line of a group. */
export function drawCurves(curves: readonly Curve[], { across, up, most }: ChartWords): string {
  const x = (at: number): number => LEFT + (at / most) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  const groups = [...new Set(curves.map(({ group }) => group))];
  const colourOf = (group: string): string => COLOURS[groups.indexOf(group) % COLOURS.length] ?? '#000';
  const dashOf = (curve: Curve): string => {
    const nth = curves.filter(({ group }) => group === curve.group).indexOf(curve);
    return ['', '6 3', '2 3'][nth % 3] ?? '';
  };
  const text = (at: readonly [number, number], words: string, more = ''): string =>
    `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" ${more}>${escapeText(words)}</text>`;
  const line = (curve: Curve): string => {
    const places = curve.points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    return `<polyline points="${places}" fill="none" stroke="${colourOf(curve.group)}" stroke-width="1.8" stroke-dasharray="${dashOf(curve)}"/>`;
  };
  const named = (curve: Curve, nth: number): readonly string[] => {
    const at = TOP + 12 + 20 * nth;
    const from = WIDTH - RIGHT + 12;
    return [
      `<line x1="${from}" x2="${from + 26}" y1="${at - 4}" y2="${at - 4}" stroke="${colourOf(curve.group)}" stroke-width="1.8" stroke-dasharray="${dashOf(curve)}"/>`,
      text([from + 32, at], curve.name),
    ];
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img" aria-label="${escapeText(up)} by ${escapeText(across)}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    ...TICKS.flatMap((tick) => [
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}" stroke="#ddd"/>`,
      text([LEFT - 8, y(tick) + 4], tick.toFixed(2), 'text-anchor="end"'),
    ]),
    ...[1, 5, 10, 15, 20]
      .filter((tick) => tick <= most)
      .map((tick) => text([x(tick), HEIGHT - BOTTOM + 18], String(tick), 'text-anchor="middle"')),
    text([(LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8], across, 'text-anchor="middle"'),
    `<text transform="translate(14 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">${escapeText(up)}</text>`,
    ...curves.map(line),
    ...curves.flatMap(named),
    '</svg>',
    '',
  ].join('\n');
}
