import { html, type Markup } from '../../../report/html/markup.ts';
import { shareBar } from '../../../report/html/share-bar.ts';
import { count, percent } from '../../../report/numbers.ts';
import { taughtOn } from '../../../report/rules.ts';
import { type ConventionUnder, keptFromText } from '../conventions.ts';
import type { PipelineReport } from '../pipeline-report.ts';

/** Each failure mode: how often it was fallen into run by run, before anything taught it and after, and until when. */
export function conventionTable({ conventions }: PipelineReport): readonly Markup[] {
  const rows = conventions.flatMap(({ title, stages, conditions }) =>
    conditions
      .filter(({ runs }) => runs.length > 0)
      .map(
        (under, place, all) =>
          html`<tr class="${place === 0 ? 'group' : ''}">${
            place === 0
              ? html`<th scope="rowgroup" rowspan="${all.length}"><b>${title}</b><br><span class="soft" title="${stages.join(', ')}">${stages.length === 1 ? stages[0] : `${count(stages.length)} stages`}</span></th>`
              : undefined
          }<td class="${under.condition}">${under.condition}</td><td class="cells">${brokenCells(under)}</td><td class="num">${shareOf(under.before)}</td><td class="${under.condition}">${shareBar(under.after)}</td><td class="num">${shareOf(under.after)}</td><td class="whole">${under.firstTaught.length === 0 ? 'never' : taughtOn(under, 'run')}</td><td class="whole">${keptFromText(under)}</td></tr>
`,
      ),
  );
  if (rows.length === 0) return [];
  return [
    html`<div class="scroll"><table class="tight"><thead><tr><th scope="col">convention</th><th scope="col">condition</th><th scope="col">broken, by run</th><th scope="col" class="num">kept untaught</th><th scope="col">kept once taught</th><th scope="col"></th><th scope="col">taught</th><th scope="col">kept from run</th></tr></thead><tbody>${rows}</tbody></table></div>`,
  ];
}

const shareOf = ({ value, n }: ConventionUnder['before']): string =>
  n === 0 ? '' : `${percent(value)} of ${count(n)}`;

/** A number a run; none at all is drawn faint, so that the eye sees where it ends. */
const brokenCells = ({ runs }: ConventionUnder): readonly Markup[] =>
  runs.map(
    ({ run, broken, of }) =>
      html`<span class="${broken === 0 ? 'none' : ''}" title="run ${run}: ${broken} of ${of} first answers">${broken}</span> `,
  );
