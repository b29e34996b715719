import type { Budget, Spending } from '../../core/budget.ts';
import { compact } from '../../core/json.ts';
import { ATTEMPT_PREFIX, type PracticeKind, type PracticeTask } from '../../core/practice.ts';
import type { PracticeCounts, PracticeEnd } from '../../core/practice-fact.ts';
import { createTrialJudge } from '../trial/replay-tasks.ts';
import { runTrials, type TrialEvent } from '../trial/trials.ts';
import { sessionsOf } from './attempt-batch.ts';
import { appendSession, createRunnable, openTasks, planSession } from './plan-session.ts';
import { practice } from './practice.ts';
import { isContinuable } from './practice-history.ts';
import type { PracticeEvent } from './practice-input.ts';
import { openPracticeJournal, type RunUnits } from './practice-journal.ts';
import { createPracticeUnits, spentByUnits } from './practice-units.ts';
import type { SessionAttempts, SessionParts, SessionRequest } from './session-parts.ts';
import { fixRecordedGroups } from './sources/fix-recorded.ts';
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
  /** How long to wait before it goes on, where a provider said so. */
  readonly retryAfterMs?: number;
}

const PASSED = 0.999;

/**
 * One session: tasks are chosen and recorded, the pipeline learns from attempts at them, lessons on trial are measured on other tasks,
 * and tasks that passed once are tried again. Interrupted anywhere, the next session goes on with it, and pays for nothing twice.
 */
export async function* runSession(
  request: SessionRequest | undefined,
  parts: SessionParts,
  signal: AbortSignal,
): AsyncGenerator<SessionNews, SessionResult | undefined> {
  // 1. An interrupted session goes on; otherwise tasks are chosen.
  const { history, clock, library } = parts;
  const unfinished = history.unfinished();
  const isContinued = unfinished !== undefined && isContinuable(unfinished, clock.now());
  const planned = isContinued ? unfinished.planned : await planSession(request, parts, signal);
  if (planned === undefined) return undefined;
  const { run, kind, why } = planned;
  const tasks = await openTasks(planned.tasks, parts);
  yield { type: 'session-planned', run, kind, why, tasks: tasks.length, isContinued };

  // 2. The tasks are attempted in groups, and what separates good attempts from bad ones becomes lessons.
  const journal = await openPracticeJournal({ run, records: parts.records, clock });
  const budget = parts.openBudget(spentIn(journal));
  const attempts = await parts.openAttempts(budget);
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
    ...(parts.trainOn === undefined ? {} : { trainOn: parts.trainOn }),
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

  // 3. Lessons on trial are measured, with and without, on tasks that they were not learned from.
  let helpful = 0;
  let refused = 0;
  const isOver = result.end === 'done' || result.end === 'budget';
  for (const [task, list] of isOver ? rewards : []) await practised(task, list, run, 'learn', parts);
  const trials =
    isOver && !signal.aborted ? measureTrials(parts, attempts, journal, budget, temperature, signal) : [];
  for await (const event of trials) {
    yield event;
    if (event.type !== 'trial-decided') continue;
    if (event.outcome === 'helpful') helpful++;
    else if (event.outcome !== 'untested') refused++;
  }

  // 4. Tasks that passed once are tried again, with the lessons of now.
  const forgotten: string[] = [];
  for (const task of isOver ? await openTasks(planned.regression, parts) : []) {
    if (signal.aborted || budget.refusal() !== undefined) break;
    const isPassed = await retry(task, run, parts, attempts, journal, temperature, signal);
    if (isPassed === undefined) continue;
    yield { type: 'task-retried', task: task.id, isPassed };
    if (!isPassed) forgotten.push(task.id);
  }

  // 5. The session is closed, unless it goes on later.
  const end = signal.aborted && result.end !== 'budget' ? 'aborted' : result.end;
  const { note, counts, retryAfterMs } = result;
  const spent = parts.openBudget(spentIn(journal)).spent();
  const closing = compact({ run, end, note, counts, spent, helpful, refused, forgotten });
  if (end === 'done' || end === 'budget')
    await appendSession(
      { type: 'practice-session', op: 'closed', ...closing },
      `practice/${run}/closed`,
      parts,
    );
  return compact({ ...closing, retryAfterMs });
}

const spentIn = (journal: RunUnits): Spending => spentByUnits(journal.units());

async function* measureTrials(
  parts: SessionParts,
  { make }: SessionAttempts,
  journal: RunUnits,
  budget: Budget,
  temperature: number,
  signal: AbortSignal,
): AsyncGenerator<TrialEvent> {
  const { settings, tasks, records } = parts;
  const { trials, timeoutMs } = settings();
  const judge = await parts.openJudge(budget);
  // Comparisons are journaled as attempts are: an interrupted session pays for none twice.
  const units =
    judge && createPracticeUnits({ journal, ask: judge.ask, learner: judge.model, clock: parts.clock });
  const gateIds = tasks.list().flatMap(({ task }) => (splitOf(task.root) === 'gate' ? [task.id] : []));
  const canRun = createRunnable(parts);
  const openGate = async (): Promise<readonly PracticeTask[]> => {
    const able: PracticeTask[] = [];
    for (const task of await openTasks(gateIds, parts)) if (await canRun(task)) able.push(task);
    return able;
  };
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
        gate ??= openGate();
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

/** Once, and twice more when it fails: one failure at this temperature may be chance. Undefined when it could not be tried. */
async function retry(
  task: PracticeTask,
  run: string,
  parts: SessionParts,
  { make }: SessionAttempts,
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
  await practised(task.id, rewards, run, 'again', parts);
  return rewards.some((reward) => reward >= PASSED);
}

/** How attempts at a task went: it decides when it is tried again, and how hard it is. */
async function practised(
  id: string,
  rewards: readonly number[],
  run: string,
  what: string,
  { records, clock, tasks }: Pick<SessionParts, 'records' | 'clock' | 'tasks'>,
): Promise<void> {
  const fact = { type: 'practice-task', op: 'practised', id, run, rewards } as const;
  const at = Math.round(clock.now());
  const [written] = await records.append([{ at, fact, key: `practice/${run}/${what}/${id}` }]);
  if (written?.isNew === true) tasks.add({ seq: written.seq, at, fact });
}
