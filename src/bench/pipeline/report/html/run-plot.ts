import { html, type Markup } from '../../../report/html/markup.ts';
import { scale } from '../../../report/html/scale.ts';
import type { Measure } from '../../measure-pairs.ts';
import { meanIn } from '../mean-in.ts';
import { type MeasureWords, valueText } from '../measures.ts';
import type { ConditionRuns } from '../pipeline-report.ts';

export interface RunPlot {
  readonly words: MeasureWords;
  readonly conditions: readonly ConditionRuns[];
  readonly runs: number;
}

const WIDTH = 480;
const HEIGHT = 230;
const EDGE = { left: 46, right: 72, top: 12, bottom: 34 };
/** Names at the ends of curves stand at least so far apart. */
const LINE_HEIGHT = 15;
const MOST_TICKS = 16;
const TOPS = [0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.6, 2, 3, 4];

/** One measure run by run: a curve for the mean over seeds, a dot for each seed, a band between the lowest and the highest. */
export function runPlot({ words, conditions, runs }: RunPlot): Markup {
  const { measure, title } = words;
  const top = topOf(words, conditions);
  const x = scale(1, Math.max(2, runs), EDGE.left + 10, WIDTH - EDGE.right);
  const y = scale(0, top, HEIGHT - EDGE.bottom, EDGE.top);
  const every = Math.max(1, Math.ceil(runs / MOST_TICKS));
  const numbers = Array.from({ length: runs }, (_, place) => place + 1);
  const description = conditions
    .map((one) => `${one.condition} ends at ${valueText(words, meanIn(one, lastRun(one), measure))}`)
    .join(', ');
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${measure}-title ${measure}-about">
<title id="${measure}-title">${title}, run by run</title><desc id="${measure}-about">${description}</desc>
${[0, 0.25, 0.5, 0.75, 1].map(
  (part) =>
    html`<line class="grid" x1="${EDGE.left}" x2="${WIDTH - EDGE.right + 8}" y1="${y(part * top)}" y2="${y(part * top)}"/><text x="${EDGE.left - 8}" y="${y(part * top)}" dy="4" text-anchor="end">${tick(words, part * top)}</text>`,
)}
${numbers
  .filter((run) => (run - 1) % every === 0)
  .map((run) => html`<text x="${x(run)}" y="${HEIGHT - 14}" text-anchor="middle">${run}</text>`)}
<text x="${WIDTH - EDGE.right + 16}" y="${HEIGHT - 14}">run</text>
${conditions.map((one) => band(one, measure, x, y))}
${conditions.map((one) => curve(one, measure, x, y))}
${conditions.map((one) => dots(one, words, x, y))}
${names(conditions, measure, x, y)}
</svg>`;
}

type Scale = (value: number) => string;

const lastRun = ({ curve: points }: ConditionRuns): number => points.at(-1)?.run ?? 0;

/** What is best at 1 is drawn on the whole scale; what is best at 0 as large as its worst needs. */
function topOf({ measure, better }: MeasureWords, conditions: readonly ConditionRuns[]): number {
  if (better === 'more') return 1;
  const worst = Math.max(
    0,
    ...conditions.flatMap(({ curve: runs }) => runs.flatMap(({ seeds }) => seeds.map((one) => one[measure]))),
  );
  return TOPS.find((top) => top >= worst) ?? worst;
}

const tick = ({ unit }: MeasureWords, value: number): string =>
  unit === 'share' ? `${Math.round(value * 1000) / 10} %` : String(Math.round(value * 100) / 100);

function band(one: ConditionRuns, measure: Measure, x: Scale, y: Scale): Markup | undefined {
  if (one.curve.every(({ seeds }) => seeds.length < 2)) return undefined;
  const ends = one.curve.map(({ run, seeds }) => {
    const values = seeds.map((seed) => seed[measure]);
    return { run, low: Math.min(...values), high: Math.max(...values) };
  });
  const upper = ends.map(({ run, high }) => `${x(run)},${y(high)}`);
  const lower = ends.map(({ run, low }) => `${x(run)},${y(low)}`).reverse();
  return html`<polygon class="band ${one.condition}" points="${[...upper, ...lower].join(' ')}"/>`;
}

const curve = (one: ConditionRuns, measure: Measure, x: Scale, y: Scale): Markup =>
  html`<polyline class="curve ${one.condition}" points="${one.curve.map(({ run }) => `${x(run)},${y(meanIn(one, run, measure) ?? 0)}`).join(' ')}"/>`;

const dots = (one: ConditionRuns, words: MeasureWords, x: Scale, y: Scale): readonly Markup[] =>
  one.curve.flatMap(({ run, seeds }) =>
    seeds.map(
      (seed) =>
        html`<circle class="dot ${one.condition}" cx="${x(run)}" cy="${y(seed[words.measure])}" r="2.6"><title>${one.condition}, seed ${seed.seed}, run ${run}: ${valueText(words, seed[words.measure])}</title></circle>`,
    ),
  );

/** Each at its curve's end, moved apart where two would overlap. */
function names(
  conditions: readonly ConditionRuns[],
  measure: Measure,
  x: Scale,
  y: Scale,
): readonly Markup[] {
  const ends = conditions
    .filter(({ curve: points }) => points.length > 0)
    .map((one) => ({
      condition: one.condition,
      x: Number(x(lastRun(one))),
      y: Number(y(meanIn(one, lastRun(one), measure) ?? 0)),
    }))
    .sort((a, b) => a.y - b.y);
  let lowest = Number.NEGATIVE_INFINITY;
  return ends.map((end) => {
    lowest = Math.max(end.y, lowest + LINE_HEIGHT);
    return html`<text class="name ${end.condition}" x="${end.x + 10}" y="${lowest}" dy="4">${end.condition}</text>`;
  });
}
