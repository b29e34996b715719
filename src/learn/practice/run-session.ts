import type { Budget, Spending } from '../../core/budget.ts';
import { compact } from '../../core/json.ts';
import type { MakeAttempt, PracticeKind, PracticeTask, SessionWeights } from '../../core/practice.ts';
import { ATTEMPT_PREFIX } from '../../core/principal.ts';
import type { SessionFact } from '../../core/session-fact.ts';
import { coreLines, identityLines } from '../identity/identity-lines.ts';
import type { RewardWeighing } from '../identity/weigh-rewards.ts';
import { openTrialJudge } from '../trial/replay-tasks.ts';
import { runTrials, type TrialEvent } from '../trial/trials.ts';
import { sessionsOf } from './attempt-batch.ts';
import { appendSession, openTasks, planSession, runnableTasks, type SessionRequest } from './plan-session.ts';
import { practice } from './practice.ts';
import { isContinuable, type PastSession, yieldsByOrigin } from './practice-history.ts';
import type { PracticeEvent, PracticeResult } from './practice-input.ts';
import { openPracticeJournal, type RunUnits, spentByUnits } from './practice-units.ts';
import type { SessionAttempts, SessionParts, SessionSettings } from './session-parts.ts';
import { measureWeights, type SessionTraining, trainOnWaiting, weightsOf } from './session-weights.ts';
import { fixRecordedGroups } from './sources/recorded-groups.ts';

/** What a session reports while it works. */
export type SessionReport =
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

export interface SessionResult
  extends Omit<Extract<SessionFact, { readonly op: 'closed' }>, 'type' | 'op' | 'origins'> {
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
): AsyncGenerator<SessionReport, SessionResult | undefined> {
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
  const settings = parts.settings();
  const temperature = attempts.temperature ?? settings.temperature;
  try {
    return yield* runPlanned({
      planned,
      tasks,
      journal,
      budget,
      attempts,
      settings: { ...settings, temperature },
      parts,
      signal,
    });
  } finally {
    await attempts.close?.();
  }
}

/** What the owner weighs besides the task; the judge is opened only where it counts. */
async function openWeighing({
  settings: { rewards },
  parts,
  budget,
  journal,
  signal,
}: OpenSession): Promise<RewardWeighing | undefined> {
  if (rewards === undefined) return undefined;
  const isJudged = rewards.identity > 0;
  const judge = isJudged ? await parts.openIdentityJudge?.(budget, journal, signal) : undefined;
  return { weights: rewards, judge, linesOf: (agent) => identityLines(parts.library, agent) };
}

/** A session that runs. */
interface OpenSession {
  readonly planned: PastSession['planned'];
  readonly tasks: readonly PracticeTask[];
  readonly journal: RunUnits;
  readonly budget: Budget;
  readonly attempts: SessionAttempts;
  readonly settings: SessionSettings;
  readonly parts: SessionParts;
  readonly signal: AbortSignal;
}

async function* runPlanned(session: OpenSession): AsyncGenerator<SessionReport, SessionResult> {
  const { planned, tasks, journal, attempts, parts, signal } = session;
  const { training } = attempts;

  // 1. Weights that the tasks of the gate could not measure are not trained; lessons are learned all the same.
  const unmeasured = await training?.whyNotTrained(await runnableTasks(parts));
  const trainer = unmeasured === undefined ? training : undefined;
  const waiting = trainer && (await trainOnWaiting(trainer, parts, journal));
  const untrained = attempts.untrained ?? unmeasured ?? waiting;

  // 2. The tasks are attempted in groups, and what separates good attempts from bad ones becomes lessons, and trains the policy.
  const result = yield* learnFromTasks(session, trainer);
  const isOver = result.end === 'done' || result.end === 'budget';

  // 3. New weights are compared with those that serve, on tasks of the gate.
  if (training !== undefined && isOver && !signal.aborted)
    yield* measureWeights(
      training,
      {
        tasks: await runnableTasks(parts),
        attempt: attempts.make,
        lessonsFor: parts.lessonsFor,
        timeoutMs: session.settings.timeoutMs,
      },
      journal,
      signal,
    );

  // 4. Lessons on trial are measured, with and without, on tasks that they were not learned from.
  const trials = isOver && !signal.aborted ? yield* measureTrials(session) : { helpful: 0, refused: 0 };

  // 5. Tasks that passed once are tried again, with the lessons of now.
  const forgotten = isOver ? yield* retryTasks(session) : [];

  // 6. The session is closed, unless it goes on later.
  const { run } = planned;
  const closing = compact({
    run,
    end: signal.aborted && result.end !== 'budget' ? 'aborted' : result.end,
    note: result.note,
    counts: result.counts,
    spent: parts.openBudget(spentIn(journal)).spent(),
    ...trials,
    forgotten,
    origins: yieldsByOrigin(run, journal.units(), (id) => tasks.find((task) => task.id === id)?.origin),
    weights: weightsOf(journal.units(), untrained),
  });
  if (closing.end === 'done' || closing.end === 'budget')
    await appendSession(
      { type: 'practice-session', op: 'closed', ...closing },
      `practice/${run}/closed`,
      parts,
    );
  return compact({ ...closing, retryAfterMs: result.retryAfterMs });
}

const spentIn = (journal: RunUnits): Spending => spentByUnits(journal.units());

/** Runs the pipeline. How the tasks went is recorded when it is over. */
async function* learnFromTasks(
  session: OpenSession,
  training: SessionTraining | undefined,
): AsyncGenerator<PracticeEvent, PracticeResult> {
  const { planned, tasks, journal, budget, attempts, settings, parts, signal } = session;
  const { clock, library } = parts;
  const { run, kind, groupSize, epochs } = planned;
  const writer = await parts.openAsk(budget);
  const recorded = await fixRecordedGroups(planned, journal, parts.findRecorded, signal);
  const events = practice({
    run,
    kind,
    tasks,
    recorded,
    settings: {
      groupSize,
      epochs,
      temperature: settings.temperature,
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
    ...(training === undefined ? {} : { trainOn: training.trainOn }),
    coreOf: (agent) => coreLines(library, agent),
    weighing: await openWeighing(session),
    clock,
    signal,
  });
  const rewards = new Map<string, number[]>();
  let next = await events.next();
  for (; next.done !== true; next = await events.next()) {
    const { value: event } = next;
    yield event;
    if (event.type === 'attempt-made' && event.reward !== undefined)
      rewards.set(event.task, [...(rewards.get(event.task) ?? []), event.reward]);
  }
  const { end } = next.value;
  if (end === 'done' || end === 'budget')
    for (const [id, all] of rewards)
      await recordPractised({ id, run, rewards: all, by: attempts.agent }, 'learn', parts);
  return next.value;
}

/** The weights that serve, where an engine trains others. */
const servingOf = ({ serving, make }: SessionAttempts): MakeAttempt => serving ?? make;

async function* measureTrials({
  journal,
  budget,
  attempts,
  settings: { trials, temperature, timeoutMs },
  parts,
  signal,
}: OpenSession): AsyncGenerator<TrialEvent, Pick<SessionResult, 'helpful' | 'refused'>> {
  const { lessonsFor, replayTasks, library, records, effects, mayPromote, clock } = parts;
  let gate: Promise<readonly PracticeTask[]> | undefined;
  const events = runTrials(
    {
      attempt: servingOf(attempts),
      lessonsFor,
      journal,
      ...(await openTrialJudge(parts, budget, journal)),
      replayTasks,
      gateTasks: () => {
        gate ??= runnableTasks(parts);
        return gate;
      },
      library,
      records,
      effects,
      budget,
      settings: { ...trials, temperature, timeoutMs },
      mayPromote,
      clock,
    },
    signal,
  );
  const counts = { helpful: 0, refused: 0 };
  for await (const event of events) {
    yield event;
    if (event.type !== 'trial-decided') continue;
    if (event.outcome === 'helpful') counts.helpful++;
    else if (event.outcome !== 'untested') counts.refused++;
  }
  return counts;
}

/** Returns the tasks that do not pass any more. */
async function* retryTasks(session: OpenSession): AsyncGenerator<SessionReport, readonly string[]> {
  const { planned, budget, parts, signal } = session;
  const forgotten: string[] = [];
  for (const task of await openTasks(planned.regression, parts)) {
    if (signal.aborted || budget.refusal() !== undefined) break;
    const isPassed = await retryTask(task, session);
    if (isPassed === undefined) continue;
    yield { type: 'task-retried', task: task.id, isPassed };
    if (!isPassed) forgotten.push(task.id);
  }
  return forgotten;
}

const PASSED = 0.999;

/** Once, and twice more when it fails: one failure at this temperature may be chance. Undefined when it could not be tried. */
async function retryTask(
  task: PracticeTask,
  { planned: { run }, journal, attempts, settings: { temperature, timeoutMs }, parts, signal }: OpenSession,
): Promise<boolean | undefined> {
  const { agent, project, domain, prompt } = task;
  const shown = await parts.lessonsFor(compact({ task: prompt, agent, project, domain }));
  const rewards: number[] = [];
  for (let place = 0; place < 3 && !rewards.some((reward) => reward >= PASSED); place++) {
    const unit = `again/${task.id}/${place}`;
    const stored = (await journal.read(unit)) as { readonly reward: number } | undefined;
    if (stored !== undefined) {
      rewards.push(stored.reward);
      continue;
    }
    const id = `${ATTEMPT_PREFIX}${run}/${unit}`;
    const order = { id, task, shown, seed: `${run}/${unit}`, temperature, timeoutMs };
    const { outcome, used } = await servingOf(attempts)(order, signal);
    if (outcome.is !== 'graded') return undefined;
    const value = { reward: outcome.reward, used: { ...used } };
    await journal.write(unit, value, { sessions: sessionsOf(task) });
    rewards.push(outcome.reward);
  }
  await recordPractised({ id: task.id, run, rewards }, 'again', parts);
  return rewards.some((reward) => reward >= PASSED);
}

interface PractisedTask {
  readonly id: string;
  readonly run: string;
  readonly rewards: readonly number[];
  /** Who attempted it. */
  readonly by?: string;
}

/** How attempts at a task went: it decides when it is tried again, and how hard it is. */
async function recordPractised(
  practised: PractisedTask,
  part: 'learn' | 'again',
  { records, clock, tasks }: Pick<SessionParts, 'records' | 'clock' | 'tasks'>,
): Promise<void> {
  const { id, run } = practised;
  const fact = { type: 'practice-task', op: 'practised', ...practised } as const;
  const at = Math.round(clock.now());
  const [written] = await records.append([{ at, fact, key: `practice/${run}/${part}/${id}` }]);
  if (written?.isNew === true) tasks.add({ seq: written.seq, at, fact });
}
