import type { PracticeTask } from '../../core/practice.ts';
import type { TrialFact, TrialOutcome } from '../../core/trial.ts';
import { trialFigures } from '../../lessons/effect/describe-trial.ts';
import { readTrials, type TrialRecord, type Trials } from '../../lessons/effect/fold-trials.ts';
import { judgeEffect } from '../../lessons/effect/judge-effect.ts';
import { pairedMean } from '../../lessons/effect/weigh-lesson.ts';
import { effectPosterior, NO_OUTCOMES } from '../../stats/effect-posterior.ts';
import { runnableTasks } from '../practice/plan-session.ts';
import { openPracticeJournal, spentByUnits } from '../practice/practice-units.ts';
import type { SessionParts } from '../practice/session-parts.ts';
import { splitOf } from '../practice/sources/split.ts';
import { findTaskPool, type TaskPool, type TaskPoolParts, type TaskPoolResult } from '../trial/gate-tasks.ts';
import { type MeasureParts, type MeasureSettings, measureTrial } from '../trial/measure-trial.ts';
import { openTrialJudge } from '../trial/replay-tasks.ts';
import type { MemoryQuestion } from './open-questions.ts';

/** How many questions were answered, could not be told apart, and could not be tested. */
export interface PractisedQuestions {
  readonly answered: number;
  readonly undecided: number;
  readonly untested: number;
  /** Why the rest waits, when something does. */
  readonly stopped?: string;
}

export interface QuestionParts extends MeasureParts, Omit<TaskPoolParts, 'records'> {
  readonly records: Pick<SessionParts['records'], 'append' | 'events' | 'turn'>;
  readonly budget: { readonly refusal: () => string | undefined };
  readonly settings: MeasureSettings & { readonly pairs: number };
  readonly clock: SessionParts['clock'];
}

const DAY_MS = 86_400_000;
const BATCH = 4;
/** Pairs that a re-test may use: it decides about an archive that can be undone. */
const MOST_RETEST_PAIRS = 24;
const MOST_SPOILED = 2;
/** With these the prior prefers neither answer: of two lessons either may be the better one. */
const EVEN = { helpful: 0, harmful: 2, noDifference: 0 } as const;

/** Opens what attempts need, as a session of practice does, and answers the questions within its budget. */
export async function openQuestionPractice(
  questions: readonly MemoryQuestion[],
  run: string,
  parts: SessionParts,
  signal: AbortSignal,
): Promise<PractisedQuestions> {
  const { records, clock } = parts;
  const journal = await openPracticeJournal({ run, records, clock });
  const budget = parts.openBudget(spentByUnits(journal.units()));
  const attempts = await parts.openAttempts(budget, signal);
  try {
    const { trials, timeoutMs, temperature } = parts.settings();
    const judge = await openTrialJudge(parts, budget, journal);
    let tasks: Promise<readonly PracticeTask[]> | undefined;
    return await practiseQuestions(
      questions,
      {
        attempt: attempts.serving ?? attempts.make,
        lessonsFor: parts.lessonsFor,
        journal,
        ...judge,
        replayTasks: parts.replayTasks,
        gateTasks: () => {
          tasks ??= runnableTasks(parts, isAskedOf);
          return tasks;
        },
        records,
        budget,
        settings: { ...trials, temperature: attempts.temperature ?? temperature, timeoutMs },
        clock,
      },
      signal,
    );
  } finally {
    await attempts.close?.();
  }
}

/** Tasks of the gate, and those that were made of open questions. */
const isAskedOf = ({ root, origin }: PracticeTask): boolean =>
  splitOf(root) === 'gate' || (origin === 'gap' && splitOf(root) === 'learn');

/**
 * Makes attempts with and without a lesson, or with each of two, until the answer is known or the test is used up. Each batch and each
 * end is in the record before the next begins: interrupted anywhere, the next run goes on, and pays for nothing twice.
 */
export async function practiseQuestions(
  questions: readonly MemoryQuestion[],
  parts: QuestionParts,
  signal: AbortSignal,
): Promise<PractisedQuestions> {
  const trials = await openTrialRecord(parts);
  const ends: TrialOutcome[] = [];
  let stopped: string | undefined;
  for (const question of questions) {
    const { subject } = question;
    const refusal = signal.aborted ? 'somebody is back' : parts.budget.refusal();
    if (refusal !== undefined) {
      stopped = refusal;
      break;
    }
    const pool = await poolOf(question, parts);
    const record = trials.of(subject) ?? (await openRecord(subject, trials, parts));
    if (isDecided(record)) continue;
    const end = pool.ok
      ? await measure({ question, pool, trials }, parts, signal)
      : { outcome: 'untested' as const, why: `could not be tested: ${pool.why}` };
    if (end === undefined) continue;
    if (record.end?.why !== end.why)
      await trials.append(
        { type: 'trial-ended', subject, ...end },
        `${subject}/ended/${end.outcome}/${parts.clock.now()}`,
      );
    ends.push(end.outcome);
  }
  const count = (...of: readonly TrialOutcome[]): number => ends.filter((one) => of.includes(one)).length;
  return {
    answered: count('helpful', 'harmful'),
    undecided: count('no-difference'),
    untested: count('untested'),
    ...(stopped === undefined ? {} : { stopped }),
  };
}

/** The trials of the record, which `append` writes to. */
interface TrialRecords extends Pick<Trials, 'of' | 'nextPlace'> {
  append(fact: TrialFact, key: string): Promise<void>;
}

async function openTrialRecord({ records, clock }: QuestionParts): Promise<TrialRecords> {
  const trials = await readTrials(records);
  return {
    of: trials.of,
    nextPlace: trials.nextPlace,
    append: async (fact, key) => {
      const at = clock.now();
      const [written] = await records.append([{ at, fact, key: `trial/${key}` }]);
      if (written?.isNew === true) trials.add({ at, fact });
    },
  };
}

const isDecided = ({ end }: TrialRecord): boolean => end !== undefined && end.outcome !== 'untested';

async function openRecord(
  subject: string,
  trials: TrialRecords,
  { clock }: QuestionParts,
): Promise<TrialRecord> {
  const place = trials.nextPlace(subject.slice(0, subject.indexOf('/')));
  await trials.append(
    { type: 'trial-opened', subject, place, until: clock.now() + 30 * DAY_MS },
    `${subject}/opened`,
  );
  const opened = trials.of(subject);
  if (opened === undefined) throw new Error('a trial that was written cannot be read');
  return opened;
}

interface QuestionTest {
  readonly question: MemoryQuestion;
  readonly pool: TaskPool;
  readonly trials: TrialRecords;
}

/** Undefined when it goes on later. */
async function measure(
  { question: { subject, lesson, against }, pool, trials }: QuestionTest,
  parts: QuestionParts,
  signal: AbortSignal,
): Promise<{ readonly outcome: TrialOutcome; readonly why: string } | undefined> {
  const most =
    against === undefined ? Math.min(MOST_RETEST_PAIRS, parts.settings.pairs) : parts.settings.pairs;
  for (let spoiled = 0; ; ) {
    const record = trials.of(subject);
    if (record === undefined) return undefined;
    const outcome = verdictOf(record, most);
    if (outcome !== undefined) return { outcome, why: trialFigures(record) };
    if (signal.aborted || parts.budget.refusal() !== undefined) return undefined;
    const left = most - record.begun.tasks - record.begun.replay;
    const work = { lesson, record, method: pool.method, pool: pool.tasks, pairs: Math.min(BATCH, left) };
    const { fact, faults } = await measureTrial(
      against === undefined ? work : { ...work, against },
      parts,
      parts.settings,
      signal,
    );
    if (signal.aborted) return undefined;
    await trials.append(fact, `${subject}/${fact.by}/${fact.begun}`);
    spoiled = fact.pairs.length > 0 ? 0 : spoiled + 1;
    if (spoiled >= MOST_SPOILED)
      return { outcome: 'untested', why: `attempts cannot be made: ${faults[0] ?? 'they were not graded'}` };
  }
}

/** Whether attempts come out better with the lesson, or worse; undefined while more attempts may tell. */
function verdictOf(record: TrialRecord, most: number): TrialOutcome | undefined {
  const paired = pairedMean(record);
  const judged =
    paired === undefined
      ? 'unknown'
      : judgeEffect(effectPosterior({ with: NO_OUTCOMES, without: NO_OUTCOMES, decided: EVEN, paired }));
  if (judged !== 'unknown') return judged;
  return record.begun.tasks + record.begun.replay >= most ? 'no-difference' : undefined;
}

/**
 * The tasks of a question. Of two lessons, tasks that neither was learned from; where there are none, as many that the one was learned
 * from as that the other was: neither is favoured by where it comes from.
 */
async function poolOf({ lesson, against }: MemoryQuestion, parts: QuestionParts): Promise<TaskPoolResult> {
  const own = await findTaskPool(lesson, parts);
  if (against === undefined || !own.ok) return own;
  const other = await findTaskPool(against, parts);
  if (!other.ok) return other;
  const isOf = (tasks: readonly PracticeTask[], { id }: PracticeTask): boolean =>
    tasks.some((one) => one.id === id);
  const shared = own.tasks.filter((task) => isOf(other.tasks, task));
  const { method } = own;
  if (shared.length > 0) return { ok: true, method, tasks: shared };
  const count = Math.min(own.tasks.length, other.tasks.length);
  if (other.method !== method) return { ok: false, why: 'the two are tested in different ways' };
  return { ok: true, method, tasks: [...own.tasks.slice(0, count), ...other.tasks.slice(0, count)] };
}
