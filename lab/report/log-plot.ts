import { type Scale, scale } from './charts.ts';
import { html, type Markup } from './markup.ts';

/** Values against sizes, both on logarithmic axes. */
export interface LogPanel {
  readonly title: string;
  /** What the horizontal axis counts. */
  readonly along: string;
  readonly series: readonly LogSeries[];
}

export interface LogSeries {
  readonly name: string;
  /** In the order of their sizes; values of 0 and missing ones are left out. */
  readonly points: readonly { readonly size: number; readonly value: number }[];
}

const WIDTH = 290;
const HEIGHT = 200;
const EDGE = { left: 52, right: 78, top: 30, bottom: 38 } as const;
const LINE_HEIGHT = 13;
const COLOURS = ['#0969da', '#bc4c00', '#1a7f37', '#8250df', '#6e7781'] as const;
const STYLE =
  'svg { font: 11px sans-serif } text { fill: #57606a } .title { font-weight: bold; fill: #24292f } .grid { stroke: #d0d7de; stroke-width: 0.5 } .even { stroke: #8c959f; stroke-dasharray: 3 3; fill: none } @media (prefers-color-scheme: dark) { text { fill: #9da7b3 } .title { fill: #e6edf3 } .grid { stroke: #3d444d } }';

/** Small plots side by side, with a dashed line each for what grows in proportion. A file of its own, for light and dark pages. */
export function logPlots(panels: readonly LogPanel[], columns: number, about: string): Markup {
  const rows = Math.ceil(panels.length / columns);
  const [width, height] = [columns * WIDTH, rows * HEIGHT];
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${about}">
<style>${STYLE}</style>
${panels.map((panel, at) => html`<g transform="translate(${(at % columns) * WIDTH} ${Math.floor(at / columns) * HEIGHT})">${drawPanel(panel)}</g>\n`)}</svg>\n`;
}

function drawPanel({ title, along, series }: LogPanel): Markup {
  const shown = series.map(({ name, points }) => ({
    name,
    points: points.filter(({ size, value }) => size > 0 && value > 0 && Number.isFinite(value)),
  }));
  const all = shown.flatMap(({ points }) => points);
  const [lowX, highX] = decades(all.map(({ size }) => size));
  const [lowY, highY] = decades(all.map(({ value }) => value));
  const x = scale(lowX, highX, EDGE.left, WIDTH - EDGE.right);
  const y = scale(lowY, highY, HEIGHT - EDGE.bottom, EDGE.top);
  const ticks = (low: number, high: number): readonly number[] =>
    Array.from({ length: high - low + 1 }, (_, at) => low + at);
  return html`<text class="title" x="8" y="16">${title}</text>
${ticks(lowY, highY).map((tick) => html`<line class="grid" x1="${EDGE.left}" x2="${WIDTH - EDGE.right}" y1="${y(tick)}" y2="${y(tick)}"/><text x="${EDGE.left - 6}" y="${y(tick)}" dy="4" text-anchor="end">${short(10 ** tick)}</text>`)}
${ticks(lowX, highX).map((tick) => html`<line class="grid" x1="${x(tick)}" x2="${x(tick)}" y1="${EDGE.top}" y2="${HEIGHT - EDGE.bottom}"/><text x="${x(tick)}" y="${HEIGHT - EDGE.bottom + 14}" text-anchor="middle">${short(10 ** tick)}</text>`)}
<text x="${(EDGE.left + WIDTH - EDGE.right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${along}</text>
${evenGrowth(all, x, y, { highX, highY })}
${shown.map(({ points }, at) => drawSeries(points, colourOf(at), x, y))}
${drawNames(shown, x, y)}`;
}

const colourOf = (at: number): string => COLOURS[at % COLOURS.length] ?? '#000';

const drawSeries = (points: LogSeries['points'], colour: string, x: Scale, y: Scale): Markup =>
  html`<polyline fill="none" stroke="${colour}" stroke-width="1.8" points="${points.map(({ size, value }) => `${x(Math.log10(size))},${y(Math.log10(value))}`).join(' ')}"/>${points.map(({ size, value }) => html`<circle fill="${colour}" cx="${x(Math.log10(size))}" cy="${y(Math.log10(value))}" r="2.6"><title>${short(size)}: ${Number(value.toPrecision(3))}</title></circle>`)}`;

/** From the first point upwards: ten times the size, ten times the value. */
function evenGrowth(
  points: LogSeries['points'],
  x: Scale,
  y: Scale,
  { highX, highY }: { readonly highX: number; readonly highY: number },
): Markup | undefined {
  const [first] = points;
  if (first === undefined) return undefined;
  const [fromX, fromY] = [Math.log10(first.size), Math.log10(first.value)];
  const length = Math.min(highX - fromX, highY - fromY);
  return html`<line class="even" x1="${x(fromX)}" y1="${y(fromY)}" x2="${x(fromX + length)}" y2="${y(fromY + length)}"/>`;
}

/** Each at the end of its curve, moved down where two would overlap. */
function drawNames(series: readonly LogSeries[], x: Scale, y: Scale): readonly Markup[] {
  const ends = series
    .flatMap(({ name, points }, at) => {
      const end = points.at(-1);
      return end === undefined
        ? []
        : [{ name, at, x: Number(x(Math.log10(end.size))), y: Number(y(Math.log10(end.value))) }];
    })
    .sort((a, b) => a.y - b.y);
  let lowest = Number.NEGATIVE_INFINITY;
  return ends.map((end) => {
    lowest = Math.max(end.y, lowest + LINE_HEIGHT);
    return html`<text x="${end.x + 6}" y="${lowest}" dy="4" style="fill: ${colourOf(end.at)}">${end.name}</text>`;
  });
}

/** The whole decades around the values; at least one. */
function decades(values: readonly number[]): readonly [low: number, high: number] {
  if (values.length === 0) return [0, 1];
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = Math.ceil(Math.log10(Math.max(...values)) - 1e-9);
  return [low, Math.max(high, low + 1)];
}

/** `1`, `10k`, `1M`, `0.01` */
function short(value: number): string {
  const places: readonly (readonly [number, string])[] = [
    [1e6, 'M'],
    [1e3, 'k'],
  ];
  const [by, unit] = places.find(([from]) => value >= from) ?? [1, ''];
  return `${Number((value / by).toPrecision(3))}${unit}`;
}
