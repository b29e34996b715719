import type { Figure } from '../../../report/figure.ts';
import { html, type Markup } from '../../../report/html/markup.ts';
import { shareLine } from '../../../report/html/share-bar.ts';
import { count, counted } from '../../../report/numbers.ts';
import { MEASURES, type MeasureWords, sizeText, valueText } from '../measures.ts';
import type { ConditionRuns, PipelineReport } from '../pipeline-report.ts';

/** What the run was, what must be known before its numbers, and the numbers. */
export const runOverview = ({ head, remarks, conditions }: PipelineReport): Markup => html`<header>
<h1>${head.suite}: does it learn?</h1>
<ul class="facts"><li>policy <b>${head.policy}</b></li><li><b>${sizeText(head.seeds.length, head.runs)}</b> × <b>${count(head.scored)}</b> scored stages</li>${Object.entries(
  head.options,
).map(
  ([name, value]) => html`<li>${name} <b>${String(value)}</b></li>`,
)}<li>run <b>${head.run}</b></li><li>${head.startedAt}</li><li>instar ${head.version}</li></ul>
${remarks.length === 0 ? undefined : html`<ul class="remarks" aria-label="What to know first">${remarks.map((remark) => html`<li>${remark}</li>`)}</ul>`}
</header>
<div class="cards">${conditions.map((one) => card(one, head.mostRefines))}</div>
`;

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
