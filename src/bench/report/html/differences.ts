import type { Difference } from '../compare.ts';
import { explainDifference } from '../explain-difference.ts';
import { MEASURE_TITLES } from '../measure.ts';
import { count, points, pointsRange } from '../numbers.ts';
import type { Report } from '../report.ts';
import { html, type Markup } from './markup.ts';
import { scale } from './scale.ts';

const WIDTH = 260;
const HEIGHT = 20;
const CLASSES: Readonly<Record<Difference['verdict'], string>> = {
  better: 'better',
  worse: 'worse',
  'cannot say': 'cannot',
};

/** Every comparison with its interval as a whisker on one scale, its verdict, and what stands beside it. */
export function differences({ differences: all }: Report): readonly Markup[] {
  if (all.length === 0) return [];
  const ends = all.flatMap(({ mean = 0, interval }) => [mean, interval?.low ?? 0, interval?.high ?? 0]);
  const reach = Math.max(0.05, ...ends.map(Math.abs)) * 1.05;
  return [
    html`<div class="scroll"><table><thead><tr><th scope="col">compared</th><th scope="col">measure</th><th scope="col">difference, from ${points(-reach)} to ${points(reach)}</th><th scope="col" class="num">points</th><th scope="col">95 %</th><th scope="col" class="num">pairs</th><th scope="col" class="num">higher / lower</th><th scope="col">verdict</th></tr></thead>
<tbody>${all.map((difference, place) => row(difference, reach, all[place - 1]))}</tbody></table></div>`,
  ];
}

function row(difference: Difference, reach: number, before: Difference | undefined): Markup {
  const { of, against, measure, mean, interval, pairs, gained, lost, verdict } = difference;
  const { because, caveats } = explainDifference(difference);
  const remarks = [...because, ...caveats];
  const isSame = before?.of === of && before.against === against;
  return html`<tr class="${isSame ? '' : 'group'}${remarks.length > 0 ? ' joined' : ''}"><th scope="row">${isSame ? '' : html`<span class="${of}">${of}</span> − <span class="${against}">${against}</span>`}</th><td>${MEASURE_TITLES[measure]}</td><td class="${CLASSES[verdict]}">${whisker(difference, reach)}</td><td class="num">${points(mean)}</td><td>${pointsRange(interval)}</td><td class="num">${count(pairs)}</td><td class="num">${count(gained)} / ${count(lost)}</td><td class="verdict ${CLASSES[verdict]}">${verdict}</td></tr>${
    remarks.length === 0
      ? undefined
      : html`<tr><td></td><td class="notes" colspan="7"><ul>${remarks.map((remark) => html`<li>${remark}</li>`)}</ul></td></tr>`
  }
`;
}

function whisker(difference: Difference, reach: number): Markup {
  const { mean, interval } = difference;
  const x = scale(-reach, reach, 0, WIDTH);
  return html`<svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"><title>${explainDifference(difference).claim}</title><line class="grid" x1="0" x2="${WIDTH}" y1="10" y2="10"/><line class="zero" x1="${x(0)}" x2="${x(0)}" y1="0" y2="${HEIGHT}"/>${
    interval === undefined
      ? undefined
      : html`<path class="whisker" d="M${x(interval.low)} 10H${x(interval.high)}M${x(interval.low)} 5v10M${x(interval.high)} 5v10"/>`
  }${mean === undefined ? undefined : html`<circle cx="${x(mean)}" cy="10" r="4" fill="currentColor"/>`}</svg>`;
}
