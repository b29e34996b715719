import type { Clock } from '../../src/core/clock.ts';
import { armOf, type Condition } from './arms.ts';
import type { ArmEnvironment, LearningCost, NightSteps, OpenArmEnvironment } from './bench-environment.ts';
import type { BenchJournal, BenchJournalWriter } from './bench-journal.ts';
import { runDay } from './run-day.ts';
import type { QuestionRecord, RunHead } from './run-records.ts';
import type { Suite } from './suite.ts';

export interface RunSuiteOptions {
  readonly head: RunHead;
  /** The suite of a seed, as an arm has it. */
  readonly suite: (seed: number) => Suite;
  readonly openEnvironment: OpenArmEnvironment;
  readonly journal: BenchJournalWriter;
  /** What an earlier run with the same head has written. */
  readonly done: BenchJournal | undefined;
  readonly steps?: number;
  readonly settleEach: boolean;
  readonly settlePassed?: boolean;
  /** How many arms and seeds run at once; 1 by default. Their results do not depend on it. */
  readonly jobs?: number;
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

type NightProgress = NightSteps & Pick<QuestionRecord, 'condition' | 'seed' | 'day'>;

/** All arms and seeds, `jobs` at a time. A stopped run continues after the last complete day of each. */
export async function runSuite(options: RunSuiteOptions): Promise<void> {
  const { head, done, jobs = 1, signal } = options;
  const waiting = head.seeds.flatMap((seed) => head.conditions.map((condition) => ({ seed, condition })));
  const progress = { asked: done?.rows.length ?? 0 };
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !either.aborted; next = waiting.shift())
      await runArm({ ...options, signal: either }, next, progress);
  };
  const workers = Array.from({ length: jobs }, () =>
    work().catch((error: unknown) => {
      // The others end at their next question: a run with a hole would be no run.
      stop.abort();
      throw error;
    }),
  );
  const failed = (await Promise.allSettled(workers)).find((one) => one.status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

interface SeededArm {
  readonly seed: number;
  readonly condition: Condition;
}

/** One arm with one seed: its days in order, in an environment of its own. `progress` counts the questions of all of them. */
async function runArm(
  options: RunSuiteOptions,
  { seed, condition }: SeededArm,
  progress: { asked: number },
): Promise<void> {
  const { head, done, signal } = options;
  const suite = options.suite(seed);
  const after = done?.lastDay(condition, seed);
  if (after === suite.days.length - 1) return;
  const questions = head.conditions.length * head.seeds.length * head.questions;
  const days = suite.days.length;
  const environment = await options.openEnvironment({ condition, seed, after });
  try {
    for (const index of suite.days.keys()) {
      if (index <= (after ?? -1)) continue;
      await runOne(options, { environment, suite, condition, seed, index }, () => {
        progress.asked++;
        options.onProgress({ condition, seed, day: index, days, asked: progress.asked, questions });
      });
      if (signal.aborted) return;
    }
  } finally {
    await environment.close();
  }
}

interface OneDay {
  readonly environment: ArmEnvironment;
  readonly suite: Suite;
  readonly condition: Condition;
  readonly seed: number;
  readonly index: number;
}

async function runOne(
  { head, journal, steps, settleEach, settlePassed = false, clock, onRow, onNight, signal }: RunSuiteOptions,
  { environment, suite, condition, seed, index }: OneDay,
  onQuestion: () => void,
): Promise<void> {
  const day = suite.days[index];
  if (day === undefined) return;
  const before = await environment.learningCost();
  const rows = runDay({
    environment,
    day,
    index,
    suite,
    name: `${head.run}-${condition}-${seed}`,
    agent: `bench-${head.suite}`,
    ...(steps === undefined ? {} : { steps }),
    // Where no prompt contains what is learned, there is no need to wait for it.
    settleEach: settleEach && armOf(condition).lessons !== 'off',
    settlePassed,
    clock,
    signal,
  });
  for await (const row of rows) {
    const placed = { condition, seed, ...row };
    journal.row(placed);
    onQuestion();
    onRow?.(placed);
  }
  if (signal.aborted) return;
  // After the last day there is nothing left to serve with new weights.
  const isLast = index === suite.days.length - 1;
  const night = isLast
    ? undefined
    : await environment.night?.(index, signal, (soFar) =>
        onNight?.({ condition, seed, day: index, ...soFar }),
      );
  if (signal.aborted) return;
  if (night !== undefined) journal.night({ condition, seed, day: index, ...night });
  for (const { id, name, state, text } of await environment.lessons()) {
    const teaches = suite.rules.filter((rule) => rule.isTaughtBy(text)).map((rule) => rule.id);
    journal.lesson({ condition, seed, day: index, id, name, state, teaches });
  }
  journal.learning({ condition, seed, day: index, ...spentSince(before, await environment.learningCost()) });
  // Saved before the day counts: a kill between the two repeats the day and never skips it.
  await environment.save(index);
  journal.endDay(condition, seed, index);
}

/** Costs are counted from midnight on: after it, all of it was spent since. */
function spentSince(before: LearningCost, now: LearningCost): LearningCost {
  if (now.calls < before.calls || now.tokens < before.tokens) return now;
  return {
    calls: now.calls - before.calls,
    tokens: now.tokens - before.tokens,
    usd: Math.max(0, now.usd - before.usd),
  };
}
