import { html, type Markup } from '../../../report/html/markup.ts';
import { meanIn } from '../mean-in.ts';
import { MEASURES, valueText } from '../measures.ts';
import type { PipelineReport } from '../pipeline-report.ts';
import { runPlot } from './run-plot.ts';

const PLOTTED = MEASURES.filter(({ measure }) => measure !== 'atOnce');

/** A small plot for each measure of the source, and the numbers of all as a table. */
export function runCurves({ head, conditions }: PipelineReport): readonly Markup[] {
  const begun = conditions.filter(({ curve }) => curve.length > 0);
  if (begun.length === 0) return [];
  const runs = Array.from({ length: head.runs }, (_, place) => place + 1);
  return [
    html`<div class="plots">${PLOTTED.map(
      (words) =>
        html`<div><h3>${words.title}</h3><figure>${runPlot({ words, conditions: begun, runs: head.runs })}</figure></div>`,
    )}</div>
<details><summary>Numbers</summary><div class="scroll"><table class="tight"><caption>Mean over the seeds that have come so far</caption><thead><tr><th scope="col">measure</th><th scope="col">condition</th>${runs.map((run) => html`<th scope="col" class="num">run ${run}</th>`)}</tr></thead><tbody>${MEASURES.map(
      (words) =>
        begun.map(
          (one, place) =>
            html`<tr class="${place === 0 ? 'group' : ''}">${place === 0 ? html`<th scope="rowgroup" rowspan="${begun.length}">${words.title}</th>` : undefined}<td class="${one.condition}">${one.condition}</td>${runs.map((run) => html`<td class="num">${valueText(words, meanIn(one, run, words.measure))}</td>`)}</tr>`,
        ),
    )}</tbody></table></div></details>`,
  ];
}
