import type { Clock } from '../../src/core/clock.ts';
import type { Condition, QuestionRecord, RunHead } from '../suite/run-records.ts';
import type { Suite } from '../suite/suite.ts';
import type { BenchEnvironment, NightSteps, OpenEnvironment } from './bench-environment.ts';
import type { BenchJournal, BenchJournalWriter } from './bench-journal.ts';
import { runDay } from './run-day.ts';

export interface RunSuiteOptions {
  readonly head: RunHead;
  /** The suite of a seed. */
  readonly suite: (seed: number) => Promise<Suite> | Suite;
  readonly openEnvironment: OpenEnvironment;
  readonly journal: BenchJournalWriter;
  /** What an earlier run with the same head has written. */
  readonly done: BenchJournal | undefined;
  readonly steps?: number;
  readonly settleEach: boolean;
  readonly clock: Clock;
  readonly onProgress: (progress: RunProgress) => void;
  /** Called for each graded question, and for each step of a night. */
  readonly onRow?: (row: QuestionRecord) => void;
  readonly onNight?: (night: NightProgress) => void;
  readonly signal: AbortSignal;
}

export interface RunProgress {
  readonly condition: Condition;
  readonly seed: number;
  readonly day: number;
  readonly days: number;
  /** Of the whole run. */
  readonly asked: number;
  readonly questions: number;
}

export type NightProgress = NightSteps & Pick<QuestionRecord, 'condition' | 'seed' | 'day'>;

/** All conditions and seeds, one after the other. A stopped run continues after its last complete day. */
export async function runSuite(options: RunSuiteOptions): Promise<void> {
  const { head, done, signal } = options;
  const total = head.conditions.length * head.seeds.length * head.questions;
  let asked = done?.rows.length ?? 0;
  for (const seed of head.seeds) {
    const suite = await options.suite(seed);
    for (const condition of head.conditions) {
      const after = done?.lastDay(condition, seed);
      if (after === suite.days.length - 1) continue;
      const environment = await options.openEnvironment({ condition, seed, after });
      try {
        for (const index of suite.days.keys()) {
          if (index <= (after ?? -1)) continue;
          const count = await runOne(options, { environment, suite, condition, seed, index }, (inDay) =>
            options.onProgress({
              condition,
              seed,
              day: index,
              days: suite.days.length,
              asked: asked + inDay,
              questions: total,
            }),
          );
          if (signal.aborted) return;
          asked += count;
        }
      } finally {
        await environment.close();
      }
    }
  }
}

interface OneDay {
  readonly environment: BenchEnvironment;
  readonly suite: Suite;
  readonly condition: Condition;
  readonly seed: number;
  readonly index: number;
}

async function runOne(
  { head, journal, steps, settleEach, clock, onRow, onNight, signal }: RunSuiteOptions,
  { environment, suite, condition, seed, index }: OneDay,
  onQuestion: (inDay: number) => void,
): Promise<number> {
  const day = suite.days[index];
  if (day === undefined) return 0;
  let count = 0;
  const rows = runDay({
    environment,
    day,
    index,
    rules: suite.rules,
    name: `${head.run}-${condition}-${seed}`,
    agent: `bench-${head.suite}`,
    ...(steps === undefined ? {} : { steps }),
    // No prompt contains what the baseline learns, so there is no need to wait for it.
    settleEach: settleEach && condition !== 'baseline',
    clock,
    signal,
  });
  for await (const row of rows) {
    const placed = { condition, seed, ...row };
    journal.row(placed);
    onQuestion(++count);
    onRow?.(placed);
  }
  if (signal.aborted) return count;
  // After the last day there is nothing left to serve with new weights.
  const isLast = index === suite.days.length - 1;
  const night = isLast
    ? undefined
    : await environment.night?.(index, signal, (soFar) =>
        onNight?.({ condition, seed, day: index, ...soFar }),
      );
  if (signal.aborted) return count;
  if (night !== undefined) journal.night({ condition, seed, day: index, ...night });
  for (const { id, name, state, text } of await environment.lessons()) {
    const teaches = suite.rules.filter((rule) => rule.isTaughtBy(text)).map((rule) => rule.id);
    journal.lesson({ condition, seed, day: index, id, name, state, teaches });
  }
  // Saved before the day counts: a kill between the two repeats the day and never skips it.
  await environment.save(index);
  journal.endDay(condition, seed, index);
  return count;
}
