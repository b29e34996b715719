import { type RuleUnder, rulesOf } from '../../report/rules.ts';
import type { PipelineHead } from '../pipeline-journal.ts';
import type { PipelineCondition } from '../pipeline-run.ts';
import type { StageRow } from './stage-rows.ts';

/** A failure mode that can be learned: how often first answers fell into it, and from when on they did not. */
export interface ConventionSummary {
  readonly id: string;
  readonly title: string;
  readonly stages: readonly string[];
  readonly conditions: readonly ConventionUnder[];
}

export interface ConventionUnder extends Omit<RuleUnder, 'condition' | 'arcs'> {
  readonly condition: PipelineCondition;
  /** First answers that it counted for, over all seeds, and those that broke it. */
  readonly runs: readonly { readonly run: number; readonly broken: number; readonly of: number }[];
  /** Per seed the run from which on no first answer broke it; undefined where the last one that it counted in did. */
  readonly keptFrom: readonly { readonly seed: number; readonly run?: number }[];
}

export function conventionsIn(head: PipelineHead, rows: readonly StageRow[]): readonly ConventionSummary[] {
  const byCondition = new Map(
    head.conditions.map((condition) => [condition, rows.filter((row) => row.condition === condition)]),
  );
  const rules = head.conventions.map(({ id, title }) => ({ id, title, since: 0 }));
  const found = rulesOf({ rules }, byCondition);
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

/** `run 2`, or a run for each seed where they differ: `2 · 4 · –`. */
export function keptFromText({ keptFrom: seeds }: ConventionUnder): string {
  const runs = seeds.map(({ run }) => run);
  const [first] = runs;
  if (runs.every((run) => run === first)) return first === undefined ? '–' : String(first);
  return runs.map((run) => run ?? '–').join(' · ');
}
