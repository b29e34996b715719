import type { Budget } from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/store.ts';
import type { TrialFact } from '../../core/trial.ts';
import { readTrials, type TrialRecord, type Trials } from '../../lessons/effect/fold-trials.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import { type WeighedEffects, weighLesson } from '../../lessons/effect/weigh-lesson.ts';
import { publishDecided } from '../cycle.ts';
import {
  decideTrials,
  dueChanges,
  MEASUREMENT,
  type RunningTrial,
  runningTrials,
  type TrialVerdict,
  trialsToOpen,
} from './decide-trials.ts';
import { findTaskPool, type TaskPoolParts, type TaskPoolResult } from './gate-tasks.ts';
import { type MeasureParts, type MeasureSettings, measureTrial } from './measure-trial.ts';

export interface TrialSettings extends MeasureSettings {
  /** The most pairs that the test of one lesson may use. */
  readonly pairs: number;
}

export interface TrialParts extends MeasureParts, Omit<TaskPoolParts, 'records'> {
  readonly library: Library;
  readonly records: Pick<Records, 'events' | 'append' | 'turn'>;
  /** Real sessions with and without a lesson: they count together with the attempts. */
  readonly effects: WeighedEffects & Pick<LessonEffects, 'add'>;
  /** Nothing is begun once it refuses. Who calls a model reserves the call itself. */
  readonly budget: Pick<Budget, 'refusal'>;
  /** Read for each round: they may change. */
  readonly settings: TrialSettings;
  /** Whether a verdict may put a lesson into use by itself; otherwise the owner is told and decides. */
  readonly mayPromote: boolean;
  readonly clock: Clock;
}

export type TrialEvent =
  | { readonly type: 'trial-begun'; readonly lesson: string; readonly place: number }
  | {
      readonly type: 'pairs-measured';
      readonly lesson: string;
      readonly record: TrialRecord;
      /** 0 to 1: the probability that it helps. */
      readonly progress: number;
      readonly faults: readonly string[];
    }
  | ({ readonly type: 'trial-decided'; readonly lesson: string } & Pick<TrialVerdict, 'outcome' | 'why'>)
  /** Nothing more can be measured now. */
  | { readonly type: 'stopped'; readonly why: string };

/** A verdict that is in the record is carried out, whoever leaves. */
const NEVER = new AbortController().signal;
/** Pairs measured together. */
const BATCH = 4;
/** Every trial gets this many pairs before the promising ones are preferred. */
const FIRST_LOOK = 8;
/** More attempts at the same tasks say nothing about other tasks. */
const MOST_OF_TASK = 8;
/** Batches in a row without a single usable pair, after which a lesson is left for this run. */
const MOST_SPOILED = 2;

/**
 * Measures the lessons on trial, a batch at a time, until each has a verdict or nothing more can be measured. Each verdict is in
 * the record before the library changes, and changes the library once. Interrupted anywhere, the next run goes on from the
 * record: no pair is measured or counted twice.
 */
export async function* runTrials(
  parts: TrialParts,
  signal: AbortSignal,
): AsyncGenerator<TrialEvent, void, undefined> {
  const trials = await readTrials(parts.records);
  const append: Append = async (fact, what) => {
    const at = parts.clock.now();
    const key = `trial/${fact.subject}/${what}`;
    const [written] = await parts.records.append([{ at, fact, key }]);
    if (written?.isNew !== true) return;
    trials.add({ at, fact });
    parts.effects.add({ seq: written.seq, at, fact });
  };
  const pools = new Map<string, TaskPoolResult>();
  const spoiled = new Map<string, number>();
  yield* openTrials(trials, parts, append);
  for (;;) {
    yield* decide(trials, parts, append);
    if (signal.aborted) return;
    const refusal = parts.budget.refusal();
    const testable: RunningTrial[] = [];
    for (const trial of runningTrials(parts.library.lessons(), trials)) {
      const { subject } = trial.record;
      const pool = pools.get(subject) ?? (await findTaskPool(trial.lesson, parts));
      pools.set(subject, pool);
      const isSpoiled = (spoiled.get(subject) ?? 0) >= MOST_SPOILED;
      if (pool.ok && !isSpoiled && !isSpent(trial, pool, parts)) testable.push(trial);
    }
    const next = chooseNext(testable, parts.effects);
    const pool = next && pools.get(next.record.subject);
    if (refusal !== undefined || next === undefined || pool?.ok !== true) {
      yield { type: 'stopped', why: refusal ?? 'no lesson on trial can be tested further now' };
      return;
    }
    const left = parts.settings.pairs - pairsBegun(next.record);
    const { fact, faults } = await measureTrial(
      { ...next, method: pool.method, pool: pool.tasks, pairs: Math.min(BATCH, left) },
      parts,
      parts.settings,
      signal,
    );
    if (signal.aborted) return;
    await append(fact, `${fact.by}/${fact.begun}`);
    spoiled.set(fact.subject, fact.pairs.length > 0 ? 0 : (spoiled.get(fact.subject) ?? 0) + 1);
    const record = trials.of(fact.subject) ?? next.record;
    const progress = weighLesson(next.lesson, record, parts.effects).helps;
    yield { type: 'pairs-measured', lesson: next.lesson.id, record, progress, faults };
  }
}

/** Durable when it resolves; once, however often it is tried. */
type Append = (fact: TrialFact, what: string) => Promise<void>;

const pairsBegun = ({ begun }: TrialRecord): number => begun.tasks + begun.replay;

async function* openTrials(
  trials: Trials,
  { library, clock }: TrialParts,
  append: Append,
): AsyncGenerator<TrialEvent, void, undefined> {
  for (const { lesson, fact } of trialsToOpen(library.lessons(), trials, clock.now())) {
    await append(fact, 'opened');
    yield { type: 'trial-begun', lesson: lesson.id, place: fact.place };
  }
}

/** Writes the verdicts down and carries them out. */
async function* decide(
  trials: Trials,
  { library, effects, clock, mayPromote }: TrialParts,
  append: Append,
): AsyncGenerator<TrialEvent, void, undefined> {
  const running = runningTrials(library.lessons(), trials);
  for (const { lesson, subject, outcome, why } of decideTrials(running, effects, clock.now())) {
    await append({ type: 'trial-ended', subject, outcome, why }, `ended/${outcome}`);
    yield { type: 'trial-decided', lesson: lesson.id, outcome, why };
  }
  await publishDecided(
    {
      name: MEASUREMENT.name,
      async *learn() {
        for (const set of dueChanges(library, trials, mayPromote)) yield { set };
      },
    },
    library,
    NEVER,
  );
}

/** Few pairs first, so that each is looked at; then the one that most probably helps. */
function chooseNext(running: readonly RunningTrial[], effects: WeighedEffects): RunningTrial | undefined {
  const ranked = running.map((trial) => {
    const pairs = pairsBegun(trial.record);
    const rank = pairs < FIRST_LOOK ? 1000 - pairs : weighLesson(trial.lesson, trial.record, effects).helps;
    return { trial, rank };
  });
  return ranked.sort((a, b) => b.rank - a.rank || a.trial.record.place - b.trial.record.place)[0]?.trial;
}

/** Whether more attempts would tell nothing new: real sessions decide then, or its date comes. */
function isSpent(
  { record }: RunningTrial,
  { method, tasks }: Extract<TaskPoolResult, { readonly ok: true }>,
  { settings }: TrialParts,
): boolean {
  if (pairsBegun(record) >= settings.pairs) return true;
  const attempts = record.differences[method];
  return tasks.every(({ root }) => (attempts.get(root)?.pairs ?? 0) >= MOST_OF_TASK);
}
