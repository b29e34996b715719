import type {
  PipelineCondition,
  PipelineHead,
  PipelineJournal,
  RunLesson,
} from '../../pipeline/pipeline-journal.ts';
import { isDoneAtOnce } from '../../pipeline/pipeline-metrics.ts';
import { NO_VALUE } from '../format-numbers.ts';
import { type RuleRow, type RuleUnder, summariseRules } from '../rules.ts';

/** A convention of the house: how often first answers broke it, and from which run on none did. */
export interface ConventionSummary {
  readonly id: string;
  readonly title: string;
  readonly stages: readonly string[];
  readonly conditions: readonly ConventionUnder[];
}

export interface ConventionUnder extends Omit<RuleUnder, 'condition' | 'arcs'> {
  readonly condition: PipelineCondition;
  /** First answers it applied to, over all seeds, and those that broke it. */
  readonly runs: readonly { readonly run: number; readonly broken: number; readonly of: number }[];
  /** Per seed, the run from which on no first answer broke it; undefined where the last run still did. */
  readonly keptFrom: readonly { readonly seed: number; readonly run?: number }[];
}

export function summariseConventions(
  head: PipelineHead,
  rows: readonly StageRow[],
): readonly ConventionSummary[] {
  const byCondition = new Map(
    head.conditions.map((condition) => [condition, rows.filter((row) => row.condition === condition)]),
  );
  const rules = head.conventions.map(({ id, title }) => ({ id, title, since: 0 }));
  const found = summariseRules({ rules }, byCondition);
  return head.conventions.map(({ id, title, stages }) => ({
    id,
    title,
    stages,
    conditions: head.conditions.flatMap((condition): readonly ConventionUnder[] => {
      const under = found
        .find((rule) => rule.id === id)
        ?.conditions.find((one) => one.condition === condition);
      if (under === undefined) return [];
      const { arcs: _, ...figures } = under;
      const own = (byCondition.get(condition) ?? []).filter(
        ({ rules: counted, score }) => counted.includes(id) && score !== undefined,
      );
      const seeds = head.seeds.filter((seed) => own.some((row) => row.seed === seed));
      return [
        {
          ...figures,
          condition,
          runs: byRun(id, own),
          keptFrom: seeds.map((seed) =>
            keptFrom(
              id,
              seed,
              own.filter((row) => row.seed === seed),
            ),
          ),
        },
      ];
    }),
  }));
}

function byRun(id: string, rows: readonly StageRow[]): ConventionUnder['runs'] {
  const days = [...new Set(rows.map(({ day }) => day))].sort((a, b) => a - b);
  return days.map((day) => {
    const own = rows.filter((row) => row.day === day);
    return { run: day + 1, broken: own.filter(({ broken }) => broken.includes(id)).length, of: own.length };
  });
}

function keptFrom(
  id: string,
  seed: number,
  rows: readonly StageRow[],
): { readonly seed: number; readonly run?: number } {
  const runs = byRun(id, rows);
  const lastBroken = runs.findLastIndex(({ broken }) => broken > 0);
  const run = runs[lastBroken + 1]?.run;
  return run === undefined ? { seed } : { seed, run };
}

/** `2`, or a run for each seed where they differ: `2 · 4 · –`. */
export function keptFromText({ keptFrom: seeds }: ConventionUnder): string {
  const runs = seeds.map(({ run }) => run);
  const [first] = runs;
  if (runs.every((run) => run === first)) return first === undefined ? NO_VALUE : String(first);
  return runs.map((run) => run ?? NO_VALUE).join(' · ');
}

/** A stage of a run: the conventions that applied, those it broke, and those that the lessons in its prompt teach. */
export interface StageRow extends RuleRow {
  readonly condition: PipelineCondition;
  readonly stage: string;
  /** Ids of the lessons in its first prompt. */
  readonly lessons: readonly string[];
}

/** The stages that a model does. A run of the pipeline is a day, counted from 0. */
export function stageRows({ head, runs }: PipelineJournal): readonly StageRow[] {
  const known = new Map(runs.map((one) => [`${one.condition}/${one.seed}/${one.run}`, one.lessons]));
  return runs.flatMap(({ condition, seed, run, stages, lessons: after }) => {
    // A prompt contains a lesson as it was at the end of the run before; a newer lesson is only in this run's list.
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
          // Without an attempt there is no first answer.
          ...(attempts === 0 ? {} : { score: isDoneAtOnce(record) ? 1 : 0 }),
        };
      });
  });
}

const teachesOf = (lessons: readonly RunLesson[]): ReadonlyMap<string, readonly string[]> =>
  new Map(lessons.map(({ id, teaches }) => [id, teaches]));
