import { lessonTimeline } from '../../report/html/lesson-timeline.ts';
import { html, type Markup, toText } from '../../report/html/markup.ts';
import { section } from '../../report/html/section.ts';
import { STYLE } from '../../report/html/style.ts';
import { count, duration } from '../../report/numbers.ts';
import { conventionTable } from './html/convention-table.ts';
import { runCurves } from './html/run-curves.ts';
import { runDifferences } from './html/run-differences.ts';
import { runOverview } from './html/run-overview.ts';
import { stageTable } from './html/stage-table.ts';
import { MEASURES } from './measures.ts';
import type { PipelineReport } from './pipeline-report.ts';

/**
 * The report as one page: nothing is loaded and nothing runs. Names of lessons are written by models, so the page also
 * forbids what escaping should have prevented.
 */
export const pipelinePage = (report: PipelineReport): string =>
  toText(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${report.head.suite} · ${report.head.policy} · ${report.head.run}</title>
<style>${STYLE}</style></head><body><main>
${runOverview(report)}
${section('Differences', 'Skills less baseline: the same run of the same seed under both conditions, from the second run on: the first begins with nothing learned. A verdict is given only where the 95 % interval leaves out 0 and flipping the signs of runs by chance agrees. Each row has a scale of its own.', runDifferences(report))}
${section('Run by run', 'Dots are seeds, the curve is their mean, the band lies between the lowest and the highest seed.', runCurves(report))}
${section('Conventions of the house', 'The failure modes that can be learned: no prompt states them, only the check of a stage does when a first answer breaks one. Numbers by run are over all seeds. A convention is taught from the first stage on whose prompt held a lesson for it; “kept from run” is the run from which on no first answer broke it, for each seed where they differ, – where the last run still did.', conventionTable(report))}
${section('What was learned when', '', lessonTimeline({ lessons: report.lessons, last: report.head.runs - 1, period: 'run', subject: 'convention' }))}
${section('Losses beside gains', 'Scored stages with lessons against the same without. A stage went worse that was not completed, needed another attempt, or took more refine cycles, in this order.', stageTable(report))}
${section('Cost', 'Tokens as the provider counted them, over all runs, the first among them. What they cost in money is not known here. “Outside the policy” is what gateway, record and library took, with the wait for what a stage taught.', costTable(report))}
${section('What is measured', '', [meanings])}
<footer><p>${report.head.scored} of the pipeline’s stages are scored: those that a model does, and those of code that can fail. Intervals come from 4,000 resamples of runs; they say nothing of how much seeds differ from one another as a whole, which only more seeds can show. Shares of single conventions take stages as independent (Wilson) and carry no claim. Each interval is right 95 times in 100 by itself: of twenty comparisons where nothing differs, expect one to look as if it did.</p></footer>
</main></body></html>
`);

const meanings: Markup = html`<dl class="meanings">${MEASURES.map(({ title, meaning }) => html`<dt>${title}</dt><dd>${meaning}</dd>`)}</dl>`;

function costTable({ costs }: PipelineReport): readonly Markup[] {
  if (costs.length === 0) return [];
  return [
    html`<div class="scroll"><table class="tight"><thead><tr><th scope="col">condition</th><th scope="col" class="num">runs</th><th scope="col" class="num">tokens in</th><th scope="col" class="num">tokens out</th><th scope="col" class="num">tokens a run</th><th scope="col" class="num">time a run</th><th scope="col" class="num">outside the policy</th></tr></thead><tbody>${costs.map(
      ({ condition, runs, inputTokens, outputTokens, ms, overheadMs }) =>
        html`<tr><th scope="row" class="${condition}">${condition}</th><td class="num">${count(runs)}</td><td class="num">${count(inputTokens)}</td><td class="num">${count(outputTokens)}</td><td class="num">${count((inputTokens + outputTokens) / runs)}</td><td class="num">${duration(ms / runs)}</td><td class="num">${duration(overheadMs / runs)}</td></tr>`,
    )}</tbody></table></div>`,
  ];
}
