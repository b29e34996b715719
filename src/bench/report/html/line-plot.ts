import type { Condition, RunHead } from '../../row.ts';
import type { Figure } from '../figure.ts';
import type { WeightsMark } from '../nights.ts';
import { dayName, percent, percentRange } from '../numbers.ts';
import { html, type Markup } from './markup.ts';
import { scale } from './scale.ts';

export interface Series {
  readonly condition: Condition;
  readonly points: readonly { readonly day: number; readonly today: Figure; readonly rolling: Figure }[];
}

export interface LinePlot {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly lastDay: number;
  readonly series: readonly Series[];
  readonly rules: RunHead['rules'];
  readonly weights: readonly WeightsMark[];
}

const WIDTH = 960;
const HEIGHT = 320;
const EDGE = { left: 46, right: 84, top: 30, bottom: 36 };
/** Names at the ends of curves stand at least so far apart. */
const LINE_HEIGHT = 15;

/** Shares by day: dots for days, a curve for the mean of three, a band for its interval, a mark where a rule begins. */
export function linePlot({ id, title, description, lastDay, series, rules, weights }: LinePlot): Markup {
  const x = scale(0, Math.max(1, lastDay), EDGE.left + 10, WIDTH - EDGE.right);
  const y = scale(0, 1, HEIGHT - EDGE.bottom, EDGE.top);
  const every = Math.max(1, Math.ceil((lastDay + 1) / 31));
  const days = Array.from({ length: lastDay + 1 }, (_, day) => day).filter((day) => day % every === 0);
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${id}-title ${id}-about">
<title id="${id}-title">${title}</title><desc id="${id}-about">${description}</desc>
${[0, 0.25, 0.5, 0.75, 1].map(
  (share) =>
    html`<line class="grid" x1="${EDGE.left}" x2="${WIDTH - EDGE.right + 8}" y1="${y(share)}" y2="${y(share)}"/><text x="${EDGE.left - 8}" y="${y(share)}" dy="4" text-anchor="end">${share * 100} %</text>`,
)}
${days.map((day) => html`<text x="${x(day)}" y="${HEIGHT - 16}" text-anchor="middle">${day + 1}</text>`)}
<text x="${WIDTH - EDGE.right + 16}" y="${HEIGHT - 16}">day</text>
${ruleMarks(rules, lastDay, x, y)}
${weights.map((mark) => weightsLine(mark, x, y))}
${series.map((one) => band(one, x, y))}
${series.map((one) => curve(one, x, y))}
${series.map((one) => dots(one, x, y))}
${names(series, x, y)}
</svg>`;
}

type Scale = (value: number) => string;

function ruleMarks(rules: RunHead['rules'], lastDay: number, x: Scale, y: Scale): readonly Markup[] {
  const days = [...new Set(rules.map(({ since }) => since))].filter((day) => day <= lastDay);
  return days.map((day) => {
    const begun = rules.filter(({ since }) => since === day);
    return html`<g><title>${begun.map((rule) => `${rule.id} begins on ${dayName(day)}: ${rule.title}`).join('\n')}</title><line class="begins" x1="${x(day)}" x2="${x(day)}" y1="${y(0)}" y2="${y(1)}"/><text x="${x(day)}" y="${EDGE.top - 10}" text-anchor="middle">${begun.map((rule) => rule.id).join(' ')}</text></g>`;
  });
}

/** Between the evening before and the first day they serve; its label runs along it, where two of them cannot meet. */
function weightsLine({ day, label, told }: WeightsMark, x: Scale, y: Scale): Markup {
  const at = x(day - 0.5);
  const top = Number(y(1)) + 4;
  return html`<g class="full"><title>${label}, from ${dayName(day)} on (${told})</title><line class="weights" x1="${at}" x2="${at}" y1="${y(0)}" y2="${y(1)}"/><text class="small" x="${at}" y="${top}" dy="-4" text-anchor="end" transform="rotate(-90 ${at} ${top})">${label}</text></g>`;
}

/** Days without a value interrupt a curve. */
function stretches({
  points,
}: Series): readonly (readonly { readonly day: number; readonly figure: Figure }[])[] {
  const out: { day: number; figure: Figure }[][] = [];
  let last: number | undefined;
  for (const { day, rolling: figure } of points) {
    if (figure.value === undefined) continue;
    if (last !== undefined && day === last + 1) out.at(-1)?.push({ day, figure });
    else out.push([{ day, figure }]);
    last = day;
  }
  return out;
}

const band = (series: Series, x: Scale, y: Scale): readonly Markup[] =>
  stretches(series).map((stretch) => {
    const upper = stretch.map(
      ({ day, figure }) => `${x(day)},${y(figure.interval?.high ?? figure.value ?? 0)}`,
    );
    const lower = stretch.map(
      ({ day, figure }) => `${x(day)},${y(figure.interval?.low ?? figure.value ?? 0)}`,
    );
    return html`<polygon class="band ${series.condition}" points="${[...upper, ...lower.reverse()].join(' ')}"/>`;
  });

const curve = (series: Series, x: Scale, y: Scale): readonly Markup[] =>
  stretches(series).map(
    (stretch) =>
      html`<polyline class="curve ${series.condition}" points="${stretch.map(({ day, figure }) => `${x(day)},${y(figure.value ?? 0)}`).join(' ')}"/>`,
  );

const dots = ({ condition, points }: Series, x: Scale, y: Scale): readonly Markup[] =>
  points.flatMap(({ day, today }) =>
    today.value === undefined
      ? []
      : [
          html`<circle class="dot ${condition}" cx="${x(day)}" cy="${y(today.value)}" r="3.2"><title>${condition}, ${dayName(day)}: ${percent(today.value)} (${percentRange(today.interval)}), ${today.n} questions</title></circle>`,
        ],
  );

/** Each at its curve's end, moved down where two would overlap. */
function names(series: readonly Series[], x: Scale, y: Scale): readonly Markup[] {
  const ends = series
    .flatMap(({ condition, points }) => {
      const end = points.filter(({ rolling }) => rolling.value !== undefined).at(-1);
      return end === undefined ? [] : [{ condition, x: x(end.day), y: Number(y(end.rolling.value ?? 0)) }];
    })
    .sort((a, b) => a.y - b.y);
  let lowest = Number.NEGATIVE_INFINITY;
  return ends.map((end) => {
    lowest = Math.max(end.y, lowest + LINE_HEIGHT);
    return html`<text class="name ${end.condition}" x="${Number(end.x) + 12}" y="${lowest}" dy="4">${end.condition}</text>`;
  });
}
