import type { TaskSourceRef } from '../src/core/task-source.ts';
import { type LiveQuery, liveQueryOf } from './live-turns.ts';
import type { PromotionLog } from './promotion-log.ts';
import { canaryOf } from './promotion-stages.ts';
import type { RecordedTasks } from './recorded-tasks.ts';
import { peekRun } from './run-files.ts';
import { DEFAULT_STEP } from './step.ts';
import { countTasks, findTaskShortage, sayRecordedTasks } from './task-sources.ts';
import { notTrained } from './trial-plan.ts';
import type { WindowSize } from './window-size.ts';

interface WindowSupplyOptions {
  /** A source besides the recorded tasks. */
  readonly tasks: TaskSourceRef | undefined;
  readonly settings: { readonly live: boolean; readonly size: WindowSize };
  readonly recorded: RecordedTasks;
  /** Where the engine's runs are kept. */
  readonly folder: string;
  readonly generation: () => number;
  /** Live turns that a step may use. */
  readonly readLive: (query: LiveQuery) => Promise<readonly unknown[]>;
  readonly promotions: () => Promise<Pick<PromotionLog, 'state' | 'shortage'>>;
  /** Tasks on which the next session of practice can measure new weights, counted by origin. */
  readonly gateTasks: () => Promise<number>;
  readonly signal: AbortSignal;
}

/** What a window would train on. It is looked at before the engine is started: nothing of it costs anything. */
export type WindowSupply =
  | { readonly is: 'tasks'; readonly gateTasks: number }
  /** Batches of live turns alone, and how many of them. */
  | { readonly is: 'live'; readonly gateTasks: number; readonly steps: number }
  | { readonly is: 'nothing'; readonly fault: Error }
  /** Nothing could measure the new weights. */
  | { readonly is: 'unmeasurable'; readonly why: string };

/** A record that cannot be read is a shortage, too. */
export const findWindowSupply = (options: WindowSupplyOptions): Promise<WindowSupply> =>
  findSupply(options).catch((error: unknown) => ({
    is: 'nothing',
    fault: error instanceof Error ? error : new Error(String(error)),
  }));

async function findSupply(options: WindowSupplyOptions): Promise<WindowSupply> {
  const { tasks, recorded, signal } = options;
  const gateTasks = await options.gateTasks();
  // The held-out tasks of another source are counted where it is opened.
  if (tasks !== undefined) return { is: 'tasks', gateTasks };
  const recordedTasks = recorded.canGrade ? await recorded.gather(signal) : [];
  const count = countTasks(recordedTasks);
  const promotions = await options.promotions();
  const state = promotions.state();
  const shortage = await promotions.shortage(Math.max(gateTasks, count.heldOut));
  const fault = findTaskShortage(count, shortage?.needed);
  const steps = fault === undefined ? 0 : await countLiveSteps(options);
  if (fault !== undefined && steps === 0) return { is: 'nothing', fault };
  // What is on trial already is measured first; the window asks again before it trains.
  const isMeasuring = state.trial?.stage === 'candidate' || canaryOf(state) !== undefined;
  if (shortage !== undefined && !isMeasuring) {
    const why = `${sayRecordedTasks(count, shortage.needed)}. ${notTrained(shortage)}`;
    return { is: 'unmeasurable', why };
  }
  return steps === 0 ? { is: 'tasks', gateTasks } : { is: 'live', gateTasks, steps };
}

/** How many batches the live turns make that no step was trained on; 0 when they are not used. */
async function countLiveSteps({
  settings,
  folder,
  generation,
  readLive,
}: WindowSupplyOptions): Promise<number> {
  if (!settings.live) return 0;
  const { steps, groups, attempts } = settings.size;
  const { versions, trained } = await peekRun(folder);
  const turns = await readLive(
    liveQueryOf({
      generation: generation(),
      trained,
      most: steps * groups * attempts,
      versions: versions.slice(-1 - DEFAULT_STEP.mostStale),
    }),
  );
  return Math.floor(turns.length / (groups * attempts));
}
