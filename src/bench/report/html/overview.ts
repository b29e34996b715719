import type { Figure } from '../figure.ts';
import { MEASURE_TITLES, MEASURES } from '../measure.ts';
import { count, counted, percent, percentRange } from '../numbers.ts';
import type { Report } from '../report.ts';
import type { ConditionSummary } from '../summarise.ts';
import { html, type Markup } from './markup.ts';
import { overviewHead } from './overview-head.ts';
import { shareLine } from './share-bar.ts';

/** What the run was, what must be known before its numbers, and the numbers. */
export const overview = (report: Report): Markup => {
  const { questions, seeds } = report.head;
  const size = html`<b>${count(questions)}</b> questions × <b>${counted(seeds.length, 'seed')}</b>`;
  return html`${overviewHead(report, size)}
<div class="cards">${report.conditions.map(card)}</div>
`;
};

const told = ({ value, interval }: Figure): string =>
  value === undefined
    ? 'nothing graded'
    : interval === undefined
      ? 'too few days for an interval'
      : `95 %: ${percentRange(interval)}`;

const card = (
  summary: ConditionSummary,
): Markup => html`<article class="card ${summary.condition}"><h3>${summary.condition}</h3>
<dl>${MEASURES.map((measure) => {
  const figure = summary[measure];
  return html`<dt>${MEASURE_TITLES[measure]}</dt><dd><b>${percent(figure.value)}</b><span>${told(figure)}</span>${shareLine(figure)}</dd>`;
})}</dl>
<p class="soft">${count(summary.graded)} of ${counted(summary.asked, 'question')} graded${summary.ungraded.length === 0 ? '' : `; not graded: ${summary.ungraded.map(({ why, questions }) => `${why} (${count(questions)})`).join(', ')}`}</p></article>`;
