import type { Budget, Spending } from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import { compact, isObject, type Json, toJson } from '../../core/json.ts';
import {
  ATTEMPT_PREFIX,
  type Attempt,
  type AttemptGroup,
  type LessonsForTask,
  type MakeAttempt,
  type PracticeKind,
  type PracticeTask,
  type SessionWeights,
} from '../../core/practice.ts';
import type { PracticeCounts, PracticeEnd } from '../../core/practice-fact.ts';
import type { Records } from '../../core/store.ts';
import { coreLines } from '../identity/identity-lines.ts';
import { createTrialJudge } from '../trial/replay-tasks.ts';
import { runTrials, type TrialEvent } from '../trial/trials.ts';
import { sessionsOf } from './attempt-batch.ts';
import { appendSession, createRunnable, openTasks, planSession } from './plan-session.ts';
import { practice } from './practice.ts';
import { isContinuable, type PastSession, yieldsByOrigin } from './practice-history.ts';
import { hasSpread, PRACTICE_DEFAULTS, type PracticeEvent } from './practice-input.ts';
import { createPracticeUnits, openPracticeJournal, type RunUnits, spentByUnits } from './practice-units.ts';
import type { SessionAttempts, SessionParts, SessionRequest } from './session-parts.ts';
import {
  isTrainedUnit,
  measureWeights,
  type SessionTraining,
  trainedUnit,
  weightsOf,
} from './session-weights.ts';
import type { PracticeTasks } from './sources/practice-tasks.ts';
import { fixRecordedGroups } from './sources/recorded-groups.ts';
import { splitOf } from './sources/split.ts';

export type SessionNews =
  | {
      readonly type: 'session-planned';
      readonly run: string;
      readonly kind: PracticeKind;
      readonly why: string;
      readonly tasks: number;
      readonly isContinued: boolean;
    }
  | PracticeEvent
  | TrialEvent
  | { readonly type: 'weights-compared'; readonly pairs: number }
  | { readonly type: 'task-retried'; readonly task: string; readonly isPassed: boolean };

export interface SessionResult {
  readonly run: string;
  readonly end: PracticeEnd;
  readonly note?: string;
  readonly counts: PracticeCounts;
  readonly spent: Spending;
  readonly helpful: number;
  readonly refused: number;
  readonly forgotten: readonly string[];
  readonly weights?: SessionWeights;
  /** How long to wait before it goes on, where a provider said so. */
  readonly retryAfterMs?: number;
}

/**
 * One session: tasks are chosen and recorded, the pipeline learns from attempts at them, new weights and lessons on trial are measured on
 * other tasks, and tasks that passed once are tried again. Interrupted anywhere, the next session goes on with it, and pays for nothing twice.
 */
export async function* runSession(
  request: SessionRequest | undefined,
  parts: SessionParts,
  signal: AbortSignal,
): AsyncGenerator<SessionNews, SessionResult | undefined> {
  // 1. An interrupted session goes on; otherwise tasks are chosen.
  const { history, clock } = parts;
  const unfinished = history.unfinished();
  const isContinued = unfinished !== undefined && isContinuable(unfinished, clock.now());
  const planned = isContinued ? unfinished.planned : await planSession(request, parts, signal);
  if (planned === undefined) return undefined;
  const { run, kind, why } = planned;
  const tasks = await openTasks(planned.tasks, parts);
  yield { type: 'session-planned', run, kind, why, tasks: tasks.length, isContinued };

  const journal = await openPracticeJournal({ run, records: parts.records, clock });
  const budget = parts.openBudget(spentIn(journal));
  const attempts = await parts.openAttempts(budget, signal);
  try {
    return yield* runPlanned({ planned, tasks, journal, budget, attempts }, parts, signal);
  } finally {
    await attempts.close?.();
  }
}

interface OpenedSession {
  readonly planned: PastSession['planned'];
  readonly tasks: readonly PracticeTask[];
  readonly journal: RunUnits;
  readonly budget: Budget;
  readonly attempts: SessionAttempts;
}

async function* runPlanned(
  { planned, tasks, journal, budget, attempts }: OpenedSession,
  parts: SessionParts,
  signal: AbortSignal,
): AsyncGenerator<SessionNews, SessionResult> {
  // 2. The tasks are attempted in groups, and what separates good attempts from bad ones becomes lessons, and trains the policy.
  const { clock, library } = parts;
  const { run, kind } = planned;
  const { training } = attempts;
  // Weights that the tasks of the gate could not measure are not trained; lessons are learned all the same.
  const unmeasured = await training?.whyNotTrained(await gateTasksOf(parts));
  const isTrained = training !== undefined && unmeasured === undefined;
  const waiting = isTrained ? await trainOnWaiting(training, parts, journal) : undefined;
  const untrained = attempts.untrained ?? unmeasured ?? waiting;
  const writer = await parts.openAsk(budget);
  const settings = parts.settings();
  const temperature = attempts.temperature ?? settings.temperature;
  const rewards = new Map<string, number[]>();
  const recorded = await fixRecordedGroups(planned, journal, parts.findRecorded, signal);
  const events = practice({
    run,
    kind,
    tasks,
    recorded,
    settings: {
      groupSize: planned.groupSize,
      epochs: planned.epochs,
      temperature,
      timeoutMs: settings.timeoutMs,
      seed: run,
      // `make` repeats what failed through nobody's fault by itself.
      refills: 0,
    },
    agent: attempts.agent,
    ...(writer === undefined ? {} : { learner: writer.model }),
    attempt: attempts.make,
    lessonsFor: parts.lessonsFor,
    ask: writer?.ask,
    library,
    gate: parts.gate,
    journal,
    budget,
    record: journal.record,
    checkText: parts.checkText,
    similar: parts.similar,
    ...(isTrained ? { trainOn: training.trainOn } : {}),
    coreOf: (agent) => coreLines(library, agent),
    clock,
    signal,
  });
  let next = await events.next();
  for (; next.done !== true; next = await events.next()) {
    const { value: event } = next;
    yield event;
    if (event.type === 'attempt-made' && event.reward !== undefined)
      rewards.set(event.task, [...(rewards.get(event.task) ?? []), event.reward]);
  }
  const result = next.value;

  // 3. New weights are compared with those that serve, on tasks of the gate.
  const isOver = result.end === 'done' || result.end === 'budget';
  for (const [task, list] of isOver ? rewards : [])
    await recordPractised(task, list, run, 'learn', parts, attempts.agent);
  if (training !== undefined && isOver && !signal.aborted)
    yield* measureWeights(
      training,
      {
        tasks: await gateTasksOf(parts),
        attempt: attempts.make,
        lessonsFor: parts.lessonsFor,
        timeoutMs: settings.timeoutMs,
      },
      journal,
      signal,
    );

  // 4. Lessons on trial are measured, with and without, on tasks that they were not learned from.
  let helpful = 0;
  let refused = 0;
  const make = attempts.serving ?? attempts.make;
  const trials =
    isOver && !signal.aborted ? measureTrials(parts, make, journal, budget, temperature, signal) : [];
  for await (const event of trials) {
    yield event;
    if (event.type !== 'trial-decided') continue;
    if (event.outcome === 'helpful') helpful++;
    else if (event.outcome !== 'untested') refused++;
  }

  // 5. Tasks that passed once are tried again, with the lessons of now.
  const forgotten: string[] = [];
  for (const task of isOver ? await openTasks(planned.regression, parts) : []) {
    if (signal.aborted || budget.refusal() !== undefined) break;
    const isPassed = await retryTask(task, run, parts, make, journal, temperature, signal);
    if (isPassed === undefined) continue;
    yield { type: 'task-retried', task: task.id, isPassed };
    if (!isPassed) forgotten.push(task.id);
  }

  // 6. The session is closed, unless it goes on later.
  const end = signal.aborted && result.end !== 'budget' ? 'aborted' : result.end;
  const { note, counts, retryAfterMs } = result;
  const spent = parts.openBudget(spentIn(journal)).spent();
  const weights = weightsOf(journal.units(), untrained);
  const origins = yieldsByOrigin(run, journal.units(), (id) => tasks.find((task) => task.id === id)?.origin);
  const closing = compact({ run, end, note, counts, spent, helpful, refused, forgotten, origins, weights });
  if (end === 'done' || end === 'budget')
    await appendSession(
      { type: 'practice-session', op: 'closed', ...closing },
      `practice/${run}/closed`,
      parts,
    );
  return compact({ ...closing, retryAfterMs });
}

const spentIn = (journal: RunUnits): Spending => spentByUnits(journal.units());

/** Tasks of the gate, or others, that can be attempted and checked now. */
export async function gateTasksOf(
  parts: SessionParts,
  isWanted: (task: PracticeTask) => boolean = ({ root }) => splitOf(root) === 'gate',
): Promise<readonly PracticeTask[]> {
  const ids = parts.tasks.list().flatMap(({ task }) => (isWanted(task) ? [task.id] : []));
  const canRun = createRunnable(parts);
  const able: PracticeTask[] = [];
  for (const task of await openTasks(ids, parts)) if (await canRun(task)) able.push(task);
  return able;
}

async function* measureTrials(
  parts: SessionParts,
  make: MakeAttempt,
  journal: RunUnits,
  budget: Budget,
  temperature: number,
  signal: AbortSignal,
): AsyncGenerator<TrialEvent> {
  const { settings, records } = parts;
  const { trials, timeoutMs } = settings();
  const judge = await parts.openJudge(budget);
  // Comparisons are journaled as attempts are: an interrupted session pays for none twice.
  const units =
    judge && createPracticeUnits({ journal, ask: judge.ask, learner: judge.model, clock: parts.clock });
  let gate: Promise<readonly PracticeTask[]> | undefined;
  yield* runTrials(
    {
      attempt: make,
      lessonsFor: parts.lessonsFor,
      journal,
      ...(judge === undefined || units === undefined
        ? {}
        : createTrialJudge((task) => units.askAbout(sessionsOf(task)) ?? judge.ask, judge.calibration)),
      replayTasks: parts.replayTasks,
      gateTasks: () => {
        gate ??= gateTasksOf(parts);
        return gate;
      },
      library: parts.library,
      records,
      traffic: parts.traffic,
      budget,
      settings: { ...trials, temperature, timeoutMs },
      mayPromote: parts.mayPromote,
      clock: parts.clock,
    },
    signal,
  );
}

interface PractisedParts {
  readonly records: Pick<Records, 'append'>;
  readonly clock: Clock;
  readonly tasks: PracticeTasks;
}

interface RetryParts extends PractisedParts {
  readonly lessonsFor: LessonsForTask;
  readonly settings: () => { readonly timeoutMs: number };
}

const PASSED = 0.999;

/** Once, and twice more when it fails: one failure at this temperature may be chance. Undefined when it could not be tried. */
async function retryTask(
  task: PracticeTask,
  run: string,
  parts: RetryParts,
  make: MakeAttempt,
  journal: RunUnits,
  temperature: number,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { lessonsFor, settings } = parts;
  const { agent, project, domain, prompt } = task;
  const shown = await lessonsFor(compact({ task: prompt, agent, project, domain }));
  const rewards: number[] = [];
  for (let place = 0; place < 3 && !rewards.some((reward) => reward >= PASSED); place++) {
    const id = `again/${task.id}/${place}`;
    const known = (await journal.read(id)) as { readonly reward: number } | undefined;
    if (known !== undefined) rewards.push(known.reward);
    if (known !== undefined) continue;
    const order = {
      id: `${ATTEMPT_PREFIX}${run}/${id}`,
      task,
      shown,
      seed: `${run}/${id}`,
      temperature,
      timeoutMs: settings().timeoutMs,
    };
    const { outcome, used } = await make(order, signal);
    if (outcome.is !== 'graded') return undefined;
    const value = { reward: outcome.reward, used: { ...used } };
    await journal.write(id, value, { sessions: sessionsOf(task) });
    rewards.push(outcome.reward);
  }
  await recordPractised(task.id, rewards, run, 'again', parts);
  return rewards.some((reward) => reward >= PASSED);
}

/** How attempts at a task went: it decides when it is tried again, and how hard it is. */
async function recordPractised(
  id: string,
  rewards: readonly number[],
  run: string,
  what: string,
  { records, clock, tasks }: PractisedParts,
  by?: string,
): Promise<void> {
  const fact = compact({ type: 'practice-task' as const, op: 'practised' as const, id, run, rewards, by });
  const at = Math.round(clock.now());
  const [written] = await records.append([{ at, fact, key: `practice/${run}/${what}/${id}` }]);
  if (written?.isNew === true) tasks.add({ seq: written.seq, at, fact });
}

/** Sessions back in which groups are looked for. */
const MOST_SESSIONS = 5;
/** Groups of one step, and steps: tokens of older weights than these steps allow are not trained on. */
const OF_A_STEP = 20;
const MOST_STEPS = 3;

/**
 * Trains on what earlier sessions attempted and could not train on, because nothing could have measured the weights then. Only groups
 * under the generation in force; each step is noted before the next. What the trainer finds too old, it leaves out. Returns why it
 * stopped early, if it did: the session goes on.
 */
export async function trainOnWaiting(
  { trainOn }: Pick<SessionTraining, 'trainOn'>,
  parts: Pick<SessionParts, 'history' | 'records' | 'tasks' | 'clock'> & {
    readonly library: Pick<SessionParts['library'], 'generation'>;
  },
  journal: RunUnits,
): Promise<string | undefined> {
  const { history, library } = parts;
  const sessions = history.sessions();
  const trainedLast = sessions.findLastIndex(({ closed }) => (closed?.weights?.steps ?? 0) > 0);
  const untrained = sessions
    .slice(trainedLast + 1)
    .filter(({ closed }) => closed?.weights?.steps === 0)
    .slice(-MOST_SESSIONS);
  const groups: AttemptGroup[] = [];
  for (const session of untrained.toReversed())
    groups.push(...(await readGroups(session, library.generation, parts)));
  for (let step = 0; step < MOST_STEPS; step++) {
    const batch = groups.slice(step * OF_A_STEP, (step + 1) * OF_A_STEP);
    const unit = trainedUnit(`waiting-${step}`);
    if (batch.length === 0 || (await journal.read(unit)) !== undefined) continue;
    try {
      const trained = await trainOn(batch);
      await journal.write(unit, toJson({ groups: batch.map(({ id }) => id), trained: trained ?? null }));
    } catch (error) {
      return `groups of earlier sessions wait on: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return undefined;
}

/** The groups of a session that no step was made with, with better and worse attempts, in tokens. */
async function readGroups(
  { planned: { run } }: PastSession,
  generation: number,
  {
    records,
    tasks,
    clock,
  }: Pick<SessionParts, 'tasks' | 'clock'> & {
    readonly records: Pick<Records, 'append' | 'events' | 'facts' | 'block'>;
  },
): Promise<readonly AttemptGroup[]> {
  const units = (await openPracticeJournal({ run, records, clock })).units();
  const byGroup = new Map<string, readonly Attempt[]>();
  for (const [unit, value] of units) {
    const [, step] = /^attempt\/(\d+)\//.exec(unit) ?? [];
    if (step === undefined || isTrainedUnit(units.get(trainedUnit(step))) || !isSampled(value)) continue;
    if (value.generation !== generation) continue;
    const name = `${run}/${step}/${value.task}`;
    byGroup.set(name, [...(byGroup.get(name) ?? []), value]);
  }
  const groups: AttemptGroup[] = [];
  for (const [id, attempts] of byGroup) {
    const task = await tasks.open(attempts[0]?.task ?? '', records);
    if (task === undefined || !hasSpread({ attempts }, PRACTICE_DEFAULTS.tolerance)) continue;
    groups.push({ id, task, generation, gradedBy: 'verifier', attempts });
  }
  return groups;
}

const isSampled = (value: Json | Attempt): value is Attempt =>
  isObject(value) && isObject(value.outcome) && value.outcome.is === 'graded' && Array.isArray(value.sampled);
