import { html, type Markup } from '../../../report/html/markup.ts';
import { count, counted, fixed } from '../../../report/numbers.ts';
import { wordsOf } from '../explain-run-difference.ts';
import { changeText } from '../measures.ts';
import type { PipelineReport } from '../pipeline-report.ts';
import type { Losses, StageChange, StageLost } from '../stage-changes.ts';

const MOST_STAGES = 60;

/** What got worse beside what got better, stage by stage. */
export function stageTable({ losses, stages }: PipelineReport): readonly Markup[] {
  if (losses === undefined) return [];
  return [
    html`<p>${count(losses.gained)} of ${counted(losses.pairs, 'stage')} went better with lessons, <b>${count(losses.stages.length)} worse</b>. ${runsLost(losses)} ${stagesLost(stages)}</p>
<div class="scroll"><table class="tight"><thead><tr><th scope="col">stage</th><th scope="col" class="num">refine cycles a run</th><th scope="col" class="num">runs retried</th><th scope="col" class="num">runs completed</th><th scope="col" class="num">better</th><th scope="col" class="num">worse</th></tr></thead><tbody>${stages.map(
      ({ stage, pairs, baseline, skills, gained, lost }) =>
        html`<tr><th scope="row">${stage}</th><td class="num">${fixed(baseline.refines, 2)} → ${fixed(skills.refines, 2)}</td><td class="num">${count(baseline.retried)} → ${count(skills.retried)}</td><td class="num">${count(baseline.completed)} → ${count(skills.completed)} of ${count(pairs)}</td><td class="num ${gained > 0 ? 'better' : ''}">${count(gained)}</td><td class="num ${lost > 0 ? 'worse' : ''}">${count(lost)}</td></tr>`,
    )}</tbody></table></div>${losses.stages.length === 0 ? undefined : list(losses.stages)}`,
  ];
}

function runsLost({ runs }: Losses): string {
  if (runs.length === 0) return 'No run was less robust.';
  const robustness = wordsOf({ measure: 'robustness' });
  return `Runs that were less robust: ${runs.map(({ seed, run, by }) => `seed ${seed} run ${run} (${changeText(robustness, by)})`).join(', ')}.`;
}

function stagesLost(stages: readonly StageChange[]): string {
  const worse = stages.filter(({ gained, lost }) => lost > gained).map(({ stage }) => stage);
  return worse.length === 0
    ? 'No stage went worse more often than better.'
    : `Worse more often than better: ${worse.join(', ')}.`;
}

const list = (lost: readonly StageLost[]): Markup =>
  html`<details><summary>Stages that went worse, largest first</summary><div class="scroll"><table class="tight">${
    lost.length > MOST_STAGES
      ? html`<caption>The first ${MOST_STAGES} of ${count(lost.length)}; all of them are in the JSON report.</caption>`
      : undefined
  }<thead><tr><th scope="col">stage</th><th scope="col" class="num">seed</th><th scope="col" class="num">run</th><th scope="col">baseline</th><th scope="col">skills</th><th scope="col" class="num">lessons shown</th><th scope="col">newly broken</th></tr></thead><tbody>${lost
    .slice(0, MOST_STAGES)
    .map(
      ({ stage, seed, run, baseline, skills, shown, broken }) =>
        html`<tr><td>${stage}</td><td class="num">${seed}</td><td class="num">${run}</td><td>${ending(baseline)}</td><td>${ending(skills)}</td><td class="num">${count(shown)}</td><td>${broken.join(' ')}</td></tr>`,
    )}</tbody></table></div></details>`;

const ending = ({ status, attempts, refines }: StageLost['baseline']): string =>
  `${status}, ${counted(attempts, 'attempt')}, ${counted(refines, 'cycle')}`;
