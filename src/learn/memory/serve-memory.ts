import type { Clock } from '../../core/clock.ts';
import { asNumber, asString, compact, type JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import type { Job, JobEnd, JobHistory } from '../../core/schedule.ts';
import type { Records } from '../../core/store.ts';
import { changedLessonId, encodeChange } from '../../lessons/codec.ts';
import { readTrials } from '../../lessons/effect/fold-trials.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import type { OpenLessons } from '../../lessons/open-lessons.ts';
import { plural } from '../../text/phrases.ts';
import type { Autonomy } from '../gate/autonomy-rule.ts';
import { readLearningSwitch } from '../learning-state.ts';
import { openPracticeHistory } from '../practice/practice-history.ts';
import type { Practice } from '../practice/serve-practice.ts';
import {
  applyConsolidation,
  type ConsolidationPlan,
  type MemoryChange,
  type PlanOptions,
  planConsolidation,
} from './consolidate.ts';
import { isInUse } from './kept-lessons.ts';
import type { MemoryQuestion } from './open-questions.ts';
import type { PractisedQuestions } from './practise-questions.ts';

/** What consolidation needs, in the thread that runs it. */
interface MemoryParts {
  readonly library: Library;
  readonly effects: Pick<LessonEffects, 'usefulness' | 'verdict'>;
  readonly records: Pick<Records, 'events'>;
  readonly embed: EmbeddingModel['embed'];
  /** Vectors are n-grams. */
  readonly isByLetters?: boolean;
  readonly clock: Pick<Clock, 'now'>;
}

interface MemoryOptions extends MemoryParts {
  /** Reads what was published by others. */
  readonly catchUp: () => Promise<void>;
  readonly autonomy: Autonomy;
  /** Answers questions by attempts, where practice can be had now; undefined where it cannot. */
  readonly practise?: (
    questions: readonly MemoryQuestion[],
    run: string,
    when: string,
    signal: AbortSignal,
  ) => Promise<PractisedQuestions | undefined>;
}

const planOf = async (
  { library, effects, records, embed, isByLetters = false, clock }: MemoryParts,
  options: Pick<PlanOptions, 'isAsked' | 'lastRun' | 'practised'>,
): Promise<ConsolidationPlan> =>
  planConsolidation(
    { library, effects, trials: await readTrials(records) },
    { now: clock.now(), embed, isByLetters, ...options },
  );

/** Consolidation when a person asks for it: also of lessons that people wrote, and of areas that were just practised. */
export async function consolidateOnDemand(parts: MemoryParts, isApplied: boolean): Promise<JsonObject> {
  const { library } = parts;
  const plan = await planOf(parts, { isAsked: true });
  const described = describePlan(plan, library);
  if (!isApplied) return { ...described, done: false, generation: library.generation };
  const results = await applyConsolidation(plan, library, { isAsked: true });
  const refused = results.filter(({ status }) => status === 'refused').map((result) => ({ ...result }));
  return { ...described, done: true, refused, generation: library.generation };
}

/**
 * The weekly run: detect, practise what attempts can tell, where they can be had, detect again and apply. It stops between two change
 * sets, or two batches of attempts, when somebody is back; what was done counts.
 */
async function consolidateInQuiet(
  options: MemoryOptions,
  { lastRun, when }: { readonly lastRun: number | undefined; readonly when: string },
  signal: AbortSignal,
): Promise<JsonObject> {
  const { library, records, autonomy } = options;
  const practised = (await openPracticeHistory(records)).sessions();
  const detect = (): Promise<ConsolidationPlan> => planOf(options, { isAsked: false, lastRun, practised });
  const first = await detect();
  const answers =
    first.questions.length === 0 || signal.aborted
      ? undefined
      : await options.practise?.(first.questions, `consolidation_${lastRun ?? 0}`, when, signal);
  if (signal.aborted) return { end: 'paused' };
  const plan = answers === undefined ? first : await detect();
  const count = plan.changes.length;
  if (autonomy === 'manual' && count > 0)
    return { end: 'done', note: `${plural(count, 'change')} wait for you: instar lessons consolidate` };
  const results = await applyConsolidation(plan, library, { signal });
  if (results.length < count) return { end: 'paused' };
  const applied = results.filter(({ status }) => status === 'applied').length;
  return { end: 'done', note: [plural(applied, 'change'), ...notesOf(plan, answers)].join(', ') };
}

function notesOf({ open }: ConsolidationPlan, answers: PractisedQuestions | undefined): readonly string[] {
  return [
    ...(answers === undefined || answers.answered === 0
      ? []
      : [`${plural(answers.answered, 'question')} answered by attempts`]),
    ...(open.length === 0 ? [] : [`${plural(open.length, 'contradiction')} left open`]),
  ];
}

const ON_DEMAND = 'consolidate';
const IN_QUIET = 'consolidate-work';

/** Practice that also consolidates: `consolidate` on demand, `consolidate-work` for the job. Without practice, this alone. */
export function withMemory(practice: Practice | undefined, options: MemoryOptions): Practice {
  return {
    command: async (request, signal) => {
      if (request.do === ON_DEMAND || request.do === IN_QUIET) await options.catchUp();
      if (request.do === ON_DEMAND) return consolidateOnDemand(options, request.apply === true);
      if (request.do === IN_QUIET)
        return consolidateInQuiet(
          options,
          { lastRun: asNumber(request.lastRun), when: asString(request.when) ?? 'off' },
          signal,
        );
      return (await practice?.command(request, signal)) ?? {};
    },
    close: async () => practice?.close(),
  };
}

function describePlan({ changes, open, questions, left }: ConsolidationPlan, library: Library): JsonObject {
  return {
    changes: changes.map((planned) => describeChange(planned, library)),
    open: open.map(({ a, b, why, by, isDoubtful }) =>
      compact({ a: a.id, b: b.id, names: namesOf([a, b]), why, by, isDoubtful: isDoubtful || undefined }),
    ),
    retests: questions.filter(({ against }) => against === undefined).length,
    left,
  };
}

const namesOf = (lessons: readonly Lesson[]): string[] => lessons.map(({ text }) => text.name);

function describeChange({ step, change }: MemoryChange, library: Pick<Library, 'lesson'>): JsonObject {
  const id = changedLessonId(change);
  const ids = change.op === 'merge' ? [id, ...change.ids.filter((one) => one !== id)] : [id];
  const names = namesOf(ids.flatMap((one) => library.lesson(one) ?? []));
  const why =
    change.op === 'retire'
      ? change.reason
      : change.op === 'merge'
        ? `${names.slice(1).join(', ')} says the same: merged into it`
        : 'linked with lessons about the same';
  return compact({ step, id, names, why, change: encodeChange(change) });
}

interface ConsolidationJobOptions {
  /** Undefined while the record cannot be read. */
  readonly open: () => Pick<OpenLessons, 'library'> | undefined;
  /** Does the work in the learning thread; see `withMemory`. */
  readonly command: (request: JsonObject, signal?: AbortSignal) => Promise<JsonObject>;
  /** Whether attempts may be made in quiet hours (`practice.scheduled`). */
  readonly when: () => 'off' | 'free' | 'on';
  readonly now: () => number;
  /** What earlier runs left. */
  readonly history: (job: string) => Promise<JobHistory>;
  readonly records: Pick<Records, 'events'>;
}

export const CONSOLIDATION_JOB = 'library-consolidation';

const REST_MS = 7 * 86_400_000;
const MS_PER_TEXT = 15;

/**
 * Consolidates the library once a week, in the learning thread. Where every change needs approval it only says how many there are;
 * `instar lessons consolidate` makes them. What it did before it was stopped counts, and it goes on with the rest.
 */
export function createConsolidationJob(options: ConsolidationJobOptions): Job {
  const { open, command, when, now, history, records } = options;
  return {
    name: CONSOLIDATION_JOB,
    priority: 1,
    needsWindow: true,
    estimate: () => 1000 + (open()?.library.lessons().length ?? 0) * MS_PER_TEXT,
    isReady: async () => {
      const library = open()?.library;
      if (library === undefined || !library.lessons().some(isInUse)) return false;
      if (!(await readLearningSwitch(records)).isOn) return false;
      const { lastDone, run } = await history(CONSOLIDATION_JOB);
      return run !== undefined || lastDone === undefined || Math.abs(now() - lastDone.at) >= REST_MS;
    },
    run: async ({ signal, checkpoint }): Promise<JobEnd> => {
      await checkpoint('the learning thread looks the library over');
      const lastRun = (await history(CONSOLIDATION_JOB)).lastDone?.at;
      try {
        const done = await command(compact({ do: 'consolidate-work', lastRun, when: when() }), signal);
        const note = asString(done.note);
        return { end: done.end === 'done' ? 'done' : 'paused', ...(note === undefined ? {} : { note }) };
      } catch (error) {
        if (signal.aborted) return { end: 'paused' };
        const why = error instanceof Error ? error.message : String(error);
        return { end: 'failed', why, isRetryable: true };
      }
    },
  };
}
