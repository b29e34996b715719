import { count, NOTHING } from '../../../report/numbers.ts';
import { taughtOn } from '../../../report/rules.ts';
import { columns, cut } from '../../../report/table/columns.ts';
import { keptFromText } from '../conventions.ts';
import type { PipelineReport } from '../pipeline-report.ts';

const TITLE_WIDTH = 34;
const MOST_RUNS = 8;

/** How many first answers broke each, run by run, and from which run on none did. */
export function conventionLines({ conventions }: PipelineReport, width: number): readonly string[] {
  const rows = conventions.flatMap(({ title, conditions }) =>
    conditions
      .filter(({ runs }) => runs.length > 0)
      .map((under, place) => [
        place === 0 ? cut(title, TITLE_WIDTH) : '',
        under.condition,
        brokenText(under.runs.map(({ broken }) => broken)),
        `of ${count(Math.max(...under.runs.map(({ of }) => of)))}`,
        under.firstTaught.length === 0 ? NOTHING : taughtOn(under, 'run'),
        keptFromText(under),
      ]),
  );
  if (rows.length === 0) return [];
  return columns([['', '', 'broken, by run', 'a run', 'taught', 'kept from run'], ...rows], { width });
}

/** Of many runs the first and the last ones. */
function brokenText(broken: readonly number[]): string {
  if (broken.length <= MOST_RUNS) return broken.join(' ');
  return `${broken.slice(0, MOST_RUNS / 2).join(' ')} … ${broken.slice(-MOST_RUNS / 2).join(' ')}`;
}
