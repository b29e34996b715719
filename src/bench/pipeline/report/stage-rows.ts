import type { RuleRow } from '../../report/rules.ts';
import { isDoneAtOnce } from '../metrics.ts';
import type { PipelineJournal, RunLesson } from '../pipeline-journal.ts';
import type { PipelineCondition } from '../pipeline-run.ts';

/** A stage of a run, with which conventions counted, which were broken, and which the lessons it was shown teach. */
export interface StageRow extends RuleRow {
  readonly condition: PipelineCondition;
  readonly stage: string;
  /** What its first answer was shown, by id. */
  readonly lessons: readonly string[];
}

/** The stages that a model was asked for. A run of the pipeline is a day, counted from 0. */
export function stageRows({ head, runs }: PipelineJournal): readonly StageRow[] {
  const known = new Map(runs.map((one) => [`${one.condition}/${one.seed}/${one.run}`, one.lessons]));
  return runs.flatMap(({ condition, seed, run, stages, lessons: after }) => {
    // A lesson is shown as it stood when the run before was over; one that came since stands in this run's list alone.
    const teaches = teachesOf([...after, ...(known.get(`${condition}/${seed}/${run - 1}`) ?? [])]);
    return stages
      .filter(({ kind }) => kind === 'model')
      .map((record): StageRow => {
        const { stage, broken, lessons, attempts } = record;
        const rules = head.conventions.filter((one) => one.stages.includes(stage)).map(({ id }) => id);
        const taught = new Set(lessons.flatMap((id) => teaches.get(id) ?? []));
        return {
          ...{ condition, seed, day: run - 1, stage, rules, broken, lessons },
          taught: rules.filter((id) => taught.has(id)),
          // A stage that was not begun has no first answer.
          ...(attempts === 0 ? {} : { score: isDoneAtOnce(record) ? 1 : 0 }),
        };
      });
  });
}

const teachesOf = (lessons: readonly RunLesson[]): ReadonlyMap<string, readonly string[]> =>
  new Map(lessons.map(({ id, teaches }) => [id, teaches]));
