import type { Figure } from '../figure.ts';
import { count, percent, percentRange } from '../numbers.ts';
import { html, type Markup } from './markup.ts';
import { scale } from './scale.ts';

const WIDTH = 120;
const HEIGHT = 14;

/** A share as a bar on the full scale with its interval; what it says in numbers stands beside it. */
export function shareBar({ value, interval, n }: Figure, faint = false): Markup {
  if (value === undefined) return html`<span class="soft">–</span>`;
  const x = scale(0, 1, 0, WIDTH);
  const told = `${percent(value)} (${percentRange(interval)}) of ${count(n)}`;
  return html`<svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"><title>${told}</title><rect class="track" width="${WIDTH}" height="${HEIGHT}" rx="2"/><rect class="bar${faint ? ' faint' : ''}" width="${x(value)}" height="${HEIGHT}" rx="2"/>${
    interval === undefined
      ? undefined
      : html`<path class="end" d="M${x(interval.low)} 7H${x(interval.high)}M${x(interval.low)} 4v6M${x(interval.high)} 4v6"/>`
  }</svg>`;
}

/** The same for a card: as wide as it is, a mark for the share and a line for the interval. */
export function shareLine({ value, interval }: Figure): Markup | undefined {
  if (value === undefined) return undefined;
  const x = scale(0, 1, 0, 300);
  return html`<svg viewBox="0 0 300 10" preserveAspectRatio="none" aria-hidden="true"><rect class="track" y="4" width="300" height="2"/>${
    interval === undefined
      ? undefined
      : html`<rect class="bar" x="${x(interval.low)}" y="3" width="${x(Math.max(0.004, interval.high - interval.low))}" height="4"/>`
  }<rect class="bar" x="${x(Math.max(0, value - 0.004))}" width="2.4" height="10"/></svg>`;
}
