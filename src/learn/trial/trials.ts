import { hash } from 'node:crypto';
import type { Budget } from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import type { Change, ChangeSet, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/store.ts';
import { lessonSubject, type TrialFact } from '../../core/trial.ts';
import { readTrials, type TrialRecord, type Trials } from '../../lessons/effect/fold-trials.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import type { PairedEvidence } from '../../stats/paired-test.ts';
import { plural } from '../../text/phrases.ts';
import { publishDecided } from '../cycle.ts';
import { findTaskPool, type TaskPoolParts, type TaskPoolResult } from './gate-tasks.ts';
import { type MeasureParts, type MeasureSettings, measureTrial } from './measure-trial.ts';
import { progressOf, type RunningTrial, type TrialVerdict, weighTrials } from './weigh-trials.ts';

export interface TrialSettings extends MeasureSettings {
  /** The most pairs that the test of one lesson may use. */
  readonly pairs: number;
  /** How long a lesson may be on trial before its owner is asked. */
  readonly days: number;
}

export interface TrialParts extends MeasureParts, Omit<TaskPoolParts, 'records'> {
  readonly library: Library;
  readonly records: Pick<Records, 'events' | 'append' | 'turn'>;
  /** The evidence from real sessions with and without a lesson. */
  readonly traffic: (lesson: string) => PairedEvidence;
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
      /** 0 to 1: how much of the evidence that it needs it has. */
      readonly progress: number;
      readonly faults: readonly string[];
    }
  | ({ readonly type: 'trial-decided'; readonly lesson: string } & Omit<TrialVerdict, 'subject'>)
  /** Nothing more can be measured now. */
  | { readonly type: 'stopped'; readonly why: string };

const MEASUREMENT = { kind: 'instar', name: 'measurement' } as const;
/** A verdict that is in the record is carried out, whoever leaves. */
const NEVER = new AbortController().signal;
const DAY_MS = 86_400_000;
/** Pairs measured together. */
const BATCH = 4;
/** Every trial gets this many pairs before the promising ones are preferred. */
const FIRST_LOOK = 16;
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
    if (written?.isNew === true) trials.add({ at, fact });
  };
  const pools = new Map<string, TaskPoolResult>();
  const spoiled = new Map<string, readonly string[]>();
  yield* openTrials(trials, parts, append);
  for (;;) {
    yield* decide(trials, parts, append);
    if (signal.aborted) return;
    const refusal = parts.budget.refusal();
    const testable: LessonTrial[] = [];
    for (const trial of runningTrials(trials, parts)) {
      const { subject } = trial.record;
      const pool = pools.get(subject) ?? (await findTaskPool(trial.lesson, parts));
      pools.set(subject, pool);
      const faults = spoiled.get(subject) ?? [];
      const fault = faults.length < MOST_SPOILED ? undefined : `attempts cannot be made: ${faults.at(-1)}`;
      const why = whyUntested(trial, pool, fault ?? refusal, parts);
      if (why !== undefined) yield* askOwner(trial, why, append);
      if (pool.ok && fault === undefined && !isSpent(trial, parts)) testable.push(trial);
    }
    const next = chooseNext(testable, trials);
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
    spoiled.set(
      fact.subject,
      fact.pairs.length > 0 ? [] : [...(spoiled.get(fact.subject) ?? []), faults[0] ?? ''],
    );
    const record = trials.of(fact.subject) ?? next.record;
    const progress = progressOf({ ...next, record }, trials.passed('lesson'));
    yield { type: 'pairs-measured', lesson: next.lesson.id, record, progress, faults };
  }
}

/** Durable when it resolves; once, however often it is tried. */
type Append = (fact: TrialFact, what: string) => Promise<void>;

interface LessonTrial extends RunningTrial {
  readonly lesson: Lesson;
}

/** What a person told is not measured: no outcome would end it. */
const isOnTrial = (lesson: Lesson): boolean => lesson.state === 'trial' && !isPersonsWord(lesson);
const subjectOf = ({ id, revision }: Lesson): string => lessonSubject(id, revision);
const pairsBegun = ({ begun }: TrialRecord): number => begun.tasks + begun.replay;

/** New lessons on trial get the next places, the oldest first. */
async function* openTrials(
  trials: Trials,
  parts: TrialParts,
  append: Append,
): AsyncGenerator<TrialEvent, void, undefined> {
  const fresh = parts.library
    .lessons()
    .filter((lesson) => isOnTrial(lesson) && trials.of(subjectOf(lesson)) === undefined)
    .sort((a, b) => a.changedAt - b.changedAt || (a.id < b.id ? -1 : 1));
  let place = trials.nextPlace('lesson');
  for (const lesson of fresh) {
    const until = parts.clock.now() + parts.settings.days * DAY_MS;
    await append({ type: 'trial-opened', subject: subjectOf(lesson), place, until }, 'opened');
    yield { type: 'trial-begun', lesson: lesson.id, place };
    place++;
  }
}

const isDecided = ({ end }: TrialRecord): boolean => end?.outcome === 'helpful' || end?.outcome === 'harmful';

/** The lessons on trial that have no verdict yet. */
function runningTrials(trials: Trials, parts: TrialParts): readonly LessonTrial[] {
  return parts.library
    .lessons()
    .filter(isOnTrial)
    .flatMap((lesson) => {
      const record = trials.of(subjectOf(lesson));
      if (record === undefined || isDecided(record)) return [];
      const isFamilyWise = lesson.text.note.isAlways === true;
      return [{ lesson, record, traffic: parts.traffic(lesson.id), isFamilyWise }];
    });
}

/** Writes the verdicts down and carries them out, also those that an earlier run wrote and did not carry out. */
async function* decide(
  trials: Trials,
  parts: TrialParts,
  append: Append,
): AsyncGenerator<TrialEvent, void, undefined> {
  const running = runningTrials(trials, parts);
  for (const { subject, outcome, why } of weighTrials(running, trials.passed('lesson'), parts.settings)) {
    const trial = running.find(({ record }) => record.subject === subject);
    if (trial === undefined || trial.record.end?.outcome === outcome) continue;
    await append({ type: 'trial-ended', subject, outcome, why }, `ended/${outcome}`);
    yield { type: 'trial-decided', lesson: trial.lesson.id, outcome, why };
  }
  await publishDecided(
    {
      name: MEASUREMENT.name,
      async *learn() {
        for (const lesson of parts.library.lessons().filter(isOnTrial)) {
          const end = trials.of(subjectOf(lesson))?.end;
          const set = end && changeFor(lesson, end, parts.mayPromote);
          if (set !== undefined) yield { set };
        }
      },
    },
    parts.library,
    NEVER,
  );
}

function changeFor(
  lesson: Lesson,
  { outcome, why }: NonNullable<TrialRecord['end']>,
  mayPromote: boolean,
): ChangeSet | undefined {
  const { id, text, pinned, frozen } = lesson;
  if (frozen || (outcome === 'harmful' ? pinned : outcome !== 'helpful' || !mayPromote)) return undefined;
  const change: Change =
    outcome === 'harmful'
      ? { op: 'retire', id, reason: `harmful: ${why}` }
      : { op: 'move', id, to: 'live', reason: `measured: ${why}` };
  const mark = hash('sha256', subjectOf(lesson), 'hex').slice(0, 24);
  const reason = outcome === 'harmful' ? `${text.name} does harm` : `${text.name} helps`;
  return { id: `trial-${outcome}-${mark}`, by: MEASUREMENT, reason: `${reason}: ${why}`, changes: [change] };
}

/** Few pairs first, so that each is looked at; then the one that is nearest to a verdict. */
function chooseNext(running: readonly LessonTrial[], trials: Trials): LessonTrial | undefined {
  const passed = trials.passed('lesson');
  const rank = (trial: LessonTrial): number => {
    const pairs = pairsBegun(trial.record);
    return pairs < FIRST_LOOK ? 1000 - pairs : progressOf(trial, passed);
  };
  return [...running].sort((a, b) => rank(b) - rank(a) || a.record.place - b.record.place)[0];
}

const isSpent = ({ record }: LessonTrial, { settings }: TrialParts): boolean =>
  pairsBegun(record) >= settings.pairs || record.end?.outcome === 'no-difference';

/**
 * What the owner is asked about a lesson; undefined while it can be tested, and when it was. That there is no task is said at
 * once; what may pass by itself, such as a spent budget, only after the deadline.
 */
function whyUntested(
  { record }: LessonTrial,
  pool: TaskPoolResult | undefined,
  obstacle: string | undefined,
  { clock, settings }: TrialParts,
): string | undefined {
  if (record.end?.outcome === 'no-difference') return undefined;
  const late = clock.now() >= record.until ? ` in ${plural(settings.days, 'day')}` : '';
  if (pool?.ok === false) return `could not be tested${late}: ${pool.why}`;
  if (late === '') return undefined;
  const pairs = pairsBegun(record);
  const done = `only ${plural(pairs, 'pair')} of ${settings.pairs} could be measured`;
  return `could not be tested${late}: ${obstacle ?? done}`;
}

/** Said once for the same reason. */
async function* askOwner(
  { record, lesson }: LessonTrial,
  why: string,
  append: Append,
): AsyncGenerator<TrialEvent, void, undefined> {
  if (record.end?.why === why) return;
  const mark = hash('sha256', why, 'hex').slice(0, 16);
  await append(
    { type: 'trial-ended', subject: record.subject, outcome: 'untested', why },
    `untested/${mark}`,
  );
  yield { type: 'trial-decided', lesson: lesson.id, outcome: 'untested', why };
}
