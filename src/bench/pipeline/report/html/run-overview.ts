import type { Figure } from '../../../report/figure.ts';
import { html, type Markup } from '../../../report/html/markup.ts';
import { overviewHead } from '../../../report/html/overview-head.ts';
import { shareLine } from '../../../report/html/share-bar.ts';
import { count, counted } from '../../../report/numbers.ts';
import { MEASURES, type MeasureWords, sizeText, valueText } from '../measures.ts';
import type { ConditionRuns, PipelineReport } from '../pipeline-report.ts';

/** What the run was, what must be known before its numbers, and the numbers. */
export const runOverview = (report: PipelineReport): Markup => {
  const { seeds, runs, scored, mostRefines } = report.head;
  const size = html`<b>${sizeText(seeds.length, runs)}</b> × <b>${count(scored)}</b> scored stages`;
  return html`${overviewHead(report, size)}
<div class="cards">${report.conditions.map((one) => card(one, mostRefines))}</div>
`;
};

function told(words: MeasureWords, { value, interval }: Figure): string {
  if (value === undefined) return 'nothing to compare yet';
  if (interval === undefined) return 'too few runs for an interval';
  return `95 %: ${valueText(words, interval.low)} to ${valueText(words, interval.high)}`;
}

const card = (
  one: ConditionRuns,
  mostRefines: number,
): Markup => html`<article class="card ${one.condition}"><h3>${one.condition}</h3>
<dl>${MEASURES.map((words) => {
  const figure = one[words.measure];
  return html`<dt>${words.title}${words.better === 'less' ? ' (less is better)' : ''}</dt><dd><b>${valueText(words, figure.value)}</b><span>${told(words, figure)}</span>${shareLine(asShare(words, figure, mostRefines))}</dd>`;
})}</dl>
<p class="soft">over ${counted(one.robustness.n, 'run')} of the ${count(one.finished)} finished</p></article>`;

/** Cycles as a share of the most there can be, so that the line has its scale. */
function asShare({ unit }: MeasureWords, figure: Figure, most: number): Figure {
  if (unit !== 'cycles') return figure;
  const { value, interval, ...rest } = figure;
  return {
    ...rest,
    ...(value === undefined ? {} : { value: value / most }),
    ...(interval === undefined ? {} : { interval: { low: interval.low / most, high: interval.high / most } }),
  };
}
