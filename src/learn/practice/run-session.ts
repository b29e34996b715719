import type { Budget, Spending } from '../../core/budget.ts';
import { compact } from '../../core/json.ts';
import type { MakeAttempt, PracticeKind, PracticeTask, SessionWeights } from '../../core/practice.ts';
import type { PracticeCounts, PracticeEnd } from '../../core/practice-fact.ts';
import { coreLines } from '../identity/identity-lines.ts';
import { createTrialJudge } from '../trial/replay-tasks.ts';
import { runTrials, type TrialEvent } from '../trial/trials.ts';
import { sessionsOf } from './attempt-batch.ts';
import { yieldsByOrigin } from './origin-yield.ts';
import { appendSession, createRunnable, openTasks, planSession } from './plan-session.ts';
import { practice } from './practice.ts';
import { isContinuable, type PastSession } from './practice-history.ts';
import type { PracticeEvent } from './practice-input.ts';
import { openPracticeJournal, type RunUnits } from './practice-journal.ts';
import { createPracticeUnits, spentByUnits } from './practice-units.ts';
import { recordPractised, retryTask } from './retry-task.ts';
import type { SessionAttempts, SessionParts, SessionRequest } from './session-parts.ts';
import { measureWeights, weightsOf } from './session-weights.ts';
import { fixRecordedGroups } from './sources/fix-recorded.ts';
import { splitOf } from './sources/split.ts';
import { trainOnWaiting } from './waiting-groups.ts';

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
