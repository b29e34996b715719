import { html, type Markup } from '../../../report/html/markup.ts';
import { scale } from '../../../report/html/scale.ts';
import { count } from '../../../report/numbers.ts';
import type { RunDifference } from '../compare-runs.ts';
import { explainRunDifference, rangeText, wordsOf } from '../explain-run-difference.ts';
import { changeText, unitText } from '../measures.ts';
import type { PipelineReport } from '../pipeline-report.ts';

const WIDTH = 220;
const HEIGHT = 20;
const CLASSES: Readonly<Record<RunDifference['verdict'], string>> = {
  better: 'better',
  worse: 'worse',
  'cannot say': 'cannot',
};

/** Every measure with its interval as a whisker, its verdict, and what stands beside it. */
export function runDifferences({ differences }: PipelineReport): readonly Markup[] {
  if (differences.length === 0) return [];
  return [
    html`<div class="scroll"><table><thead><tr><th scope="col">measure</th><th scope="col">worse ← 0 → better</th><th scope="col" class="num">difference</th><th scope="col">95 %</th><th scope="col" class="num">pairs</th><th scope="col" class="num">better / worse</th><th scope="col">verdict</th></tr></thead>
<tbody>${differences.map(row)}</tbody></table></div>`,
  ];
}

function row(difference: RunDifference): Markup {
  const { mean, pairs, gained, lost, verdict } = difference;
  const words = wordsOf(difference);
  const { because, caveats } = explainRunDifference(difference);
  const remarks = [...because, ...caveats];
  return html`<tr class="${remarks.length > 0 ? 'joined' : ''}"><th scope="row">${words.title}</th><td class="${CLASSES[verdict]}">${whisker(difference)}</td><td class="num">${changeText(words, mean)}${mean === undefined ? '' : unitText(words)}</td><td class="whole">${rangeText(difference)}</td><td class="num">${count(pairs)}</td><td class="num">${count(gained)} / ${count(lost)}</td><td class="verdict ${CLASSES[verdict]}">${verdict}</td></tr>${
    remarks.length === 0
      ? undefined
      : html`<tr><td class="notes" colspan="7"><ul>${remarks.map((remark) => html`<li>${remark}</li>`)}</ul></td></tr>`
  }
`;
}

/** On a scale of its own, for the units differ, and turned so that the better is on the right. */
function whisker(difference: RunDifference): Markup {
  const { mean = 0, interval } = difference;
  const { better, unit } = wordsOf(difference);
  const way = better === 'more' ? 1 : -1;
  const least = unit === 'cycles' ? 0.2 : 0.05;
  const reach = Math.max(least, ...[mean, interval?.low ?? 0, interval?.high ?? 0].map(Math.abs)) * 1.08;
  const at = scale(-reach, reach, 0, WIDTH);
  const x = (value: number): string => at(value * way);
  return html`<svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"><title>${explainRunDifference(difference).claim}</title><line class="grid" x1="0" x2="${WIDTH}" y1="10" y2="10"/><line class="zero" x1="${x(0)}" x2="${x(0)}" y1="0" y2="${HEIGHT}"/>${
    interval === undefined
      ? undefined
      : html`<path class="whisker" d="M${x(interval.low)} 10H${x(interval.high)}M${x(interval.low)} 5v10M${x(interval.high)} 5v10"/>`
  }${difference.mean === undefined ? undefined : html`<circle cx="${x(mean)}" cy="10" r="4" fill="currentColor"/>`}</svg>`;
}
