import type { Interval } from '../../src/stats/interval.ts';
import { type Figure, figureText } from './figure.ts';
import { count } from './format-numbers.ts';
import { html, type Markup } from './markup.ts';

/** Maps values to coordinates, rounded to a tenth so that pages stay small and identical everywhere. */
export type Scale = (value: number) => string;

export function scale(from: number, to: number, start: number, end: number): Scale {
  const perValue = to === from ? 0 : (end - start) / (to - from);
  return (value) => String(Math.round((start + (value - from) * perValue) * 10) / 10);
}

const BAR = { width: 120, height: 14 } as const;

/** A share as a bar from 0 to 100 % with its interval. */
export function shareBar(figure: Figure, isFaint = false): Markup {
  const { value, interval, n } = figure;
  if (value === undefined) return html`<span class="soft">–</span>`;
  const { width, height } = BAR;
  const x = scale(0, 1, 0, width);
  const title = `${figureText({ unit: 'share' }, figure)} of ${count(n)}`;
  return html`<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"><title>${title}</title><rect class="track" width="${width}" height="${height}" rx="2"/><rect class="bar${isFaint ? ' faint' : ''}" width="${x(value)}" height="${height}" rx="2"/>${
    interval === undefined ? undefined : html`<path class="end" d="${errorBar(interval, x, 7, 3)}"/>`
  }</svg>`;
}

/** For a card, as wide as the card: a mark for the value, a line for the interval. */
export function valueLine({ value, interval }: Figure, highest: number): Markup | undefined {
  if (value === undefined) return undefined;
  const x = scale(0, 1, 0, 300);
  const [at, low, high] = [value, interval?.low ?? 0, interval?.high ?? 0].map((one) => one / highest);
  if (at === undefined || low === undefined || high === undefined) return undefined;
  return html`<svg viewBox="0 0 300 10" preserveAspectRatio="none" aria-hidden="true"><rect class="track" y="4" width="300" height="2"/>${
    interval === undefined
      ? undefined
      : html`<rect class="bar" x="${x(low)}" y="3" width="${x(Math.max(0.004, high - low))}" height="4"/>`
  }<rect class="bar" x="${x(Math.max(0, at - 0.004))}" width="2.4" height="10"/></svg>`;
}

const WHISKER = { width: 240, height: 20 } as const;

export interface Whisker {
  readonly mean: number | undefined;
  readonly interval: Interval | undefined;
  /** The largest change that fits on the scale. */
  readonly reach: number;
  /** Whether less is better: better is drawn on the right. */
  readonly isReversed: boolean;
  readonly title: string;
}

/** A difference with its interval around 0. */
export function whisker({ mean, interval, reach, isReversed, title }: Whisker): Markup {
  const { width, height } = WHISKER;
  const x = isReversed ? scale(reach, -reach, 0, width) : scale(-reach, reach, 0, width);
  return html`<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"><title>${title}</title><line class="grid" x1="0" x2="${width}" y1="10" y2="10"/><line class="zero" x1="${x(0)}" x2="${x(0)}" y1="0" y2="${height}"/>${
    interval === undefined ? undefined : html`<path class="whisker" d="${errorBar(interval, x, 10, 5)}"/>`
  }${mean === undefined ? undefined : html`<circle cx="${x(mean)}" cy="10" r="4" fill="currentColor"/>`}</svg>`;
}

const errorBar = ({ low, high }: Interval, x: Scale, y: number, half: number): string =>
  `M${x(low)} ${y}H${x(high)}M${x(low)} ${y - half}v${2 * half}M${x(high)} ${y - half}v${2 * half}`;
