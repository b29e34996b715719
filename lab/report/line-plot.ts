import { type Scale, scale } from './charts.ts';
import { html, type Markup } from './markup.ts';

export interface LinePlot {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** What the horizontal axis counts, and how many of them there are. Positions count from 0. */
  readonly period: 'day' | 'run';
  readonly length: number;
  /** The value at the upper edge; the lower edge is 0. */
  readonly top: number;
  readonly tick: (value: number) => string;
  readonly series: readonly PlotSeries[];
  readonly marks: readonly PlotMark[];
  readonly size: 'wide' | 'small';
}

export interface PlotSeries {
  readonly condition: string;
  /** The curve with its band. A missing position interrupts it. */
  readonly curve: readonly {
    readonly at: number;
    readonly value: number;
    readonly low: number;
    readonly high: number;
  }[];
  readonly dots: readonly { readonly at: number; readonly value: number; readonly title: string }[];
}

/** A vertical line. `rule`: something begins to count. `weights`: new weights begin to serve. */
export interface PlotMark {
  readonly kind: 'rule' | 'weights';
  readonly at: number;
  readonly label: string;
  readonly title: string;
}

const SIZES = {
  wide: { width: 960, height: 320, left: 46, right: 84, top: 30, bottom: 36, ticks: 31, dot: '3.2' },
  small: { width: 480, height: 230, left: 46, right: 72, top: 12, bottom: 34, ticks: 16, dot: '2.6' },
} as const;
/** The least distance between the names at the ends of curves. */
const LINE_HEIGHT = 15;

/** Values by day or run: a dot for each value, a curve for their mean, a band for its interval or range. */
export function linePlot(plot: LinePlot): Markup {
  const { id, title, description, period, length, top, tick, series, marks } = plot;
  const { width, height, left, right, ticks, dot, ...edge } = SIZES[plot.size];
  const x = scale(0, Math.max(1, length - 1), left + 10, width - right);
  const y = scale(0, top, height - edge.bottom, edge.top);
  const every = Math.max(1, Math.ceil(length / ticks));
  const labels = Array.from({ length }, (_, at) => at).filter((at) => at % every === 0);
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-title ${id}-about">
<title id="${id}-title">${title}</title><desc id="${id}-about">${description}</desc>
${[0, 0.25, 0.5, 0.75, 1].map((part) => {
  const at = y(part * top);
  return html`<line class="grid" x1="${left}" x2="${width - right + 8}" y1="${at}" y2="${at}"/><text x="${left - 8}" y="${at}" dy="4" text-anchor="end">${tick(part * top)}</text>`;
})}
${labels.map((at) => html`<text x="${x(at)}" y="${height - 15}" text-anchor="middle">${at + 1}</text>`)}
<text x="${width - right + 16}" y="${height - 15}">${period}</text>
${marks.map((mark) => markLine(mark, x, y(0), y(top)))}
${series.flatMap((one) => stretches(one).map((stretch) => band(one.condition, stretch, x, y)))}
${series.flatMap((one) => stretches(one).map((stretch) => html`<polyline class="curve ${one.condition}" points="${stretch.map(({ at, value }) => `${x(at)},${y(value)}`).join(' ')}"/>`))}
${series.flatMap(({ condition, dots }) => dots.map(({ at, value, title: told }) => html`<circle class="dot ${condition}" cx="${x(at)}" cy="${y(value)}" r="${dot}"><title>${told}</title></circle>`))}
${names(series, x, y)}
</svg>`;
}

/** A rule's label stands above its line. The label of new weights runs along it, where two of them cannot overlap. */
function markLine({ kind, at, label, title }: PlotMark, x: Scale, bottom: string, top: string): Markup {
  if (kind === 'rule')
    return html`<g><title>${title}</title><line class="begins" x1="${x(at)}" x2="${x(at)}" y1="${bottom}" y2="${top}"/><text x="${x(at)}" y="${Number(top) - 10}" text-anchor="middle">${label}</text></g>`;
  // Between the last day of the old weights and the first day of the new ones.
  const place = x(at - 0.5);
  const text = Number(top) + 4;
  return html`<g class="full"><title>${title}</title><line class="weights" x1="${place}" x2="${place}" y1="${bottom}" y2="${top}"/><text class="small" x="${place}" y="${text}" dy="-4" text-anchor="end" transform="rotate(-90 ${place} ${text})">${label}</text></g>`;
}

type Stretch = PlotSeries['curve'];

function stretches({ curve }: PlotSeries): readonly Stretch[] {
  const out: Stretch[number][][] = [];
  for (const point of curve) {
    const last = out.at(-1);
    if (last !== undefined && last.at(-1)?.at === point.at - 1) last.push(point);
    else out.push([point]);
  }
  return out;
}

function band(condition: string, stretch: Stretch, x: Scale, y: Scale): Markup | undefined {
  if (stretch.every(({ low, high }) => low === high)) return undefined;
  const upper = stretch.map(({ at, high }) => `${x(at)},${y(high)}`);
  const lower = stretch.map(({ at, low }) => `${x(at)},${y(low)}`).reverse();
  return html`<polygon class="band ${condition}" points="${[...upper, ...lower].join(' ')}"/>`;
}

/** Each at the end of its curve, moved down where two would overlap. */
function names(series: readonly PlotSeries[], x: Scale, y: Scale): readonly Markup[] {
  const ends = series
    .flatMap(({ condition, curve }) => {
      const end = curve.at(-1);
      return end === undefined ? [] : [{ condition, x: Number(x(end.at)), y: Number(y(end.value)) }];
    })
    .sort((a, b) => a.y - b.y);
  let lowest = Number.NEGATIVE_INFINITY;
  return ends.map((end) => {
    lowest = Math.max(end.y, lowest + LINE_HEIGHT);
    return html`<text class="name ${end.condition}" x="${end.x + 12}" y="${lowest}" dy="4">${end.condition}</text>`;
  });
}
