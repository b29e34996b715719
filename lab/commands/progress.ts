import type { CommandContext } from '../../src/cli/context.ts';
import { createProgress } from '../../src/cli/progress.ts';
import { plural } from '../../src/text/phrases.ts';
import type { BenchRun } from '../suites/run-bench.ts';

type Day = Parameters<BenchRun['onProgress']>[0];
type Night = Parameters<NonNullable<BenchRun['onNight']>>[0];

/** The progress of a run. The suite gives the words for its days and for what it counts. */
export function showProgress(
  context: CommandContext,
  [part, counted]: readonly [part: string, counted: string],
): { show(day: Day): void; night(night: Night): void; end(): void } {
  const progress = createProgress(context);
  return {
    show: ({ condition, seed, day, days, asked, questions }) =>
      progress.show({
        phase: `${condition} · seed ${seed} · ${part} ${day + 1} of ${days}`,
        done: asked,
        of: questions,
        detail: counted,
      }),
    // Between two days weights are trained, and then compared with those that serve.
    night: ({ condition, seed, day, step, steps, pairs }) =>
      progress.show({
        phase: `${condition} · seed ${seed} · night after day ${day + 1}`,
        ...(pairs === 0 ? { done: step, of: steps } : { detail: `${plural(pairs, 'pair')} compared` }),
      }),
    end: progress.clear,
  };
}
