import path from 'node:path';
import { systemClock } from '../../../src/core/clock.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { TrainedGroups } from '../../../src/core/practice.ts';
import type { PracticeCounts } from '../../../src/core/practice-fact.ts';
import type { TrialOutcome } from '../../../src/core/trial.ts';
import { createRunBudget } from '../../../src/cost/run-budget.ts';
import { createAsk } from '../../../src/learn/ask.ts';
import { inParallel } from '../../../src/learn/practice/attempt-batch.ts';
import { practice } from '../../../src/learn/practice/practice.ts';
import { meanOf, PRACTICE_DEFAULTS } from '../../../src/learn/practice/practice-input.ts';
import { openPracticeJournal } from '../../../src/learn/practice/practice-units.ts';
import { runTrials } from '../../../src/learn/trial/trials.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { createLessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import type { PracticeTraining } from '../../../train/practice-training.ts';
import { openPromptNotes, type PromptNotes } from '../../suites/prompt-notes.ts';
import { createQuotingLearner } from '../../suites/quoting-learner.ts';
import type { CuratedWork } from '../../suites/workdays/curated-tasks.ts';
import type { PracticeHome } from './practice-home.ts';
import type { WorkAttempts } from './work-attempts.ts';

/** The numbers of a night. */
export interface NightSize {
  readonly tasks: number;
  readonly groupSize: number;
  /** Tasks whose groups are trained on and learned from together. */
  readonly batch: number;
}

interface NightParts {
  readonly home: PracticeHome;
  readonly training: Pick<PracticeTraining, 'trainOn'>;
  readonly attempts: WorkAttempts;
  readonly work: readonly CuratedWork[];
  readonly size: NightSize;
  readonly seed: number;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** What a night did, and what it left behind. */
export interface NightEnd {
  readonly counts: PracticeCounts;
  /** Groups with better and worse attempts, of all groups. */
  readonly kept: number;
  readonly groups: number;
  /** One for each batch that trained. */
  readonly trained: readonly TrainedGroups[];
  /** The mean reward of each batch. */
  readonly rewards: readonly number[];
  /** What the gate refused, and why. */
  readonly refused: readonly string[];
  readonly lessons: readonly Lesson[];
  /** The words of the checks on attempts that were not complete. */
  readonly notes: PromptNotes;
  readonly attempts: number;
  readonly tokens: { readonly attempts: number; readonly learner: number };
  readonly ms: number;
}

const FREE = { from: 'local', price: { input: 0, output: 0 }, isLocal: true } as const;
/** As many attempts at the same time keep the engine busy while others are checked. */
export const AT_ONCE = 8;
export const TIMEOUT_MS = 120_000;
const NO_LIMITS = { limits: {}, setting: 'practice.budget' } as const;

/** One night: attempts by the newest weights with the lessons of the library; each batch trains the weights, then changes the library. */
export async function runNight(parts: NightParts): Promise<NightEnd> {
  const { home, training, attempts, work, size, seed, say, signal } = parts;
  const since = performance.now();
  const run = `night-${seed}`;
  const journal = await openPracticeJournal({ run, records: home.records, clock: systemClock });
  const budget = createRunBudget(NO_LIMITS);
  const notes = openPromptNotes(path.join(home.dir, 'notes.md'));
  const trained: TrainedGroups[] = [];
  const rewards: number[][] = [];
  const said: { readonly id: string; readonly reasons: readonly string[] }[] = [];
  const spent = { attempts: 0, tokens: 0 };
  const running = practice({
    run,
    kind: 'initial',
    tasks: work.map(({ task }) => task),
    settings: {
      groupSize: size.groupSize,
      temperature: 1,
      batch: size.batch,
      concurrency: AT_ONCE,
      timeoutMs: TIMEOUT_MS,
      seed: run,
    },
    agent: 'nano',
    learner: 'quoting-learner',
    attempt: async (order, stop) => {
      const { attempt } = await attempts.make(order, stop);
      spent.attempts++;
      spent.tokens += attempt.used.tokens;
      if (attempt.outcome.is === 'graded' && attempt.outcome.reward < 1)
        said.push({ id: attempt.id, reasons: attempt.outcome.reasons });
      return attempt;
    },
    lessonsFor: home.lessonsFor,
    ask: createAsk({
      model: createQuotingLearner(),
      name: 'quoting-learner',
      price: FREE,
      budget,
      clock: systemClock,
    }),
    library: home.library,
    gate: home.gate,
    journal,
    budget,
    record: journal.record,
    checkText: checkLessonText,
    similar: home.similar,
    trainOn: async (groups) => {
      const step = await training.trainOn(groups);
      trained.push(step);
      return step;
    },
    clock: systemClock,
    signal,
  });
  const refused: string[] = [];
  let kept = 0;
  let groups = 0;
  let next = await running.next();
  for (; next.done !== true; next = await running.next()) {
    const { value: event } = next;
    if (event.type === 'batch-begun') rewards.push([]);
    if (event.type === 'attempt-made' && event.reward !== undefined) rewards.at(-1)?.push(event.reward);
    if (event.type === 'group-lost') refused.push(event.why);
    if (event.type === 'groups-kept') {
      kept += event.kept;
      groups += event.of;
      // In the order of tasks and places, whichever was ready first.
      for (const { reasons } of said.splice(0).sort((a, b) => (a.id < b.id ? -1 : 1)))
        for (const reason of reasons) notes.add(reason);
      notes.endDay();
      say(`batch ${event.step + 1}: ${event.kept} of ${event.of} groups differ, ${meanText(rewards.at(-1))}`);
    }
    if (event.type === 'batch-ended')
      for (const { outcome, name, why } of event.cycle.judgements)
        if (outcome === 'refused' || outcome === 'proposed') refused.push(`${name}: ${why.join('; ')}`);
  }
  const { counts, spent: all, end, note } = next.value;
  if (end !== 'done') throw new Error(`practice ended early (${end}): ${note ?? 'no reason was given'}`);
  return {
    counts,
    kept,
    groups,
    trained,
    rewards: rewards.map(meanOf),
    refused,
    lessons: home.library.shown(systemClock.now()),
    notes,
    attempts: spent.attempts,
    tokens: { attempts: spent.tokens, learner: all.tokens - spent.tokens },
    ms: performance.now() - since,
  };
}

const meanText = (values: readonly number[] = []): string => `mean reward ${meanOf(values).toFixed(3)}`;

interface TrialsParts extends Pick<NightParts, 'home' | 'attempts' | 'seed' | 'signal'> {
  /** Of the gate split. */
  readonly gate: readonly CuratedWork[];
  /** The most pairs for one lesson, and the most attempts in all. */
  readonly pairs: number;
  readonly most: number;
}

export interface TrialsEnd {
  /** By lesson; a lesson whose test did not end has none. */
  readonly verdicts: ReadonlyMap<string, { readonly outcome: TrialOutcome; readonly why: string }>;
  readonly attempts: number;
  readonly tokens: number;
  readonly ms: number;
}

/** Lessons on trial, measured with and without on tasks of the gate split by the weights that ship. */
export async function runLessonTrials(parts: TrialsParts): Promise<TrialsEnd> {
  const { home, attempts, gate, pairs, most, seed, signal } = parts;
  const since = performance.now();
  const run = `trials-${seed}`;
  const journal = await openPracticeJournal({ run, records: home.records, clock: systemClock });
  const verdicts = new Map<string, { readonly outcome: TrialOutcome; readonly why: string }>();
  const spent = { attempts: 0, tokens: 0 };
  for await (const event of runTrials(
    {
      attempt: async (order, stop) => {
        const { attempt } = await attempts.make({ ...order, agent: 'base' }, stop);
        spent.attempts++;
        spent.tokens += attempt.used.tokens;
        return attempt;
      },
      lessonsFor: home.lessonsFor,
      journal,
      gateTasks: async () => gate.map(({ task }) => task),
      library: home.library,
      records: home.records,
      effects: createLessonEffects(),
      budget: {
        refusal: () => (spent.attempts < most ? undefined : `${most} attempts for trials were made`),
      },
      settings: { pairs, repeats: 1, temperature: 1, timeoutMs: TIMEOUT_MS },
      mayPromote: true,
      clock: systemClock,
    },
    signal,
  ))
    if (event.type === 'trial-decided')
      verdicts.set(event.lesson, { outcome: event.outcome, why: event.why });
  return { verdicts, ...spent, ms: performance.now() - since };
}

export interface SpreadCount {
  readonly groups: number;
  /** Groups with better and worse attempts. */
  readonly differing: number;
}

/** Groups of attempts with nothing learned: practice has something to learn from only where they differ. */
export async function countSpread({
  work,
  attempts,
  size,
  seed,
  signal,
}: Pick<NightParts, 'work' | 'attempts' | 'size' | 'seed' | 'signal'>): Promise<SpreadCount> {
  const places = work.flatMap(({ task }) =>
    Array.from({ length: size.groupSize }, (_, place) => ({ task, place })),
  );
  const rewards = new Map<string, number[]>();
  for await (const { value } of inParallel(places, AT_ONCE, async ({ task, place }) => {
    const id = `bare/${seed}/${task.id}/${place}`;
    const shown = { text: '', lessons: [], generation: 0 };
    const order = { id, seed: id, agent: 'base', task, shown, temperature: 1, timeoutMs: TIMEOUT_MS };
    return (await attempts.make(order, signal)).attempt;
  }))
    if (value.outcome.is === 'graded')
      rewards.set(value.task, [...(rewards.get(value.task) ?? []), value.outcome.reward]);
  const isDiffering = (group: readonly number[]): boolean =>
    Math.max(...group) - Math.min(...group) > PRACTICE_DEFAULTS.tolerance;
  return { groups: rewards.size, differing: [...rewards.values()].filter(isDiffering).length };
}
