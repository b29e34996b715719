import type { Budget, Spending } from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import { compact } from '../../core/json.ts';
import type { Ask } from '../../core/learn.ts';
import type { Library } from '../../core/library.ts';
import type {
  LessonsForTask,
  MakeAttempt,
  PracticeKind,
  PracticeTask,
  SessionWeights,
} from '../../core/practice.ts';
import type { PracticeCounts, PracticeEnd } from '../../core/practice-fact.ts';
import type { Records } from '../../core/store.ts';
import type { GroupVerifier } from '../../core/verifier.ts';
import type { PairedEvidence } from '../../stats/paired-test.ts';
import { runTrials, type TrialEvent, type TrialSettings } from '../trial/trials.ts';
import { practice } from './practice.ts';
import { isContinuable, type PastSession, type PracticeHistory } from './practice-history.ts';
import type { PracticeEvent, PracticeGate, PracticeInput, SimilarTexts } from './practice-input.ts';
import { openPracticeJournal, type RunUnits } from './practice-journal.ts';
import { spentByUnits } from './practice-units.ts';
import { recordPractised, retryTask } from './retry-task.ts';
import { type DueSession, SESSION_SIZES } from './session-kinds.ts';
import { measureWeights, type SessionTraining, weightsOf } from './session-weights.ts';
import { chooseTasks } from './sources/choose-tasks.ts';
import type { EmbedTexts } from './sources/near-tasks.ts';
import type { KnownTask, PracticeTasks } from './sources/practice-tasks.ts';
import { splitOf } from './sources/split.ts';

/** What a session needs. It writes through `records` and `library.publish` alone. */
export interface SessionParts {
  readonly records: Pick<Records, 'append' | 'events' | 'facts' | 'block' | 'turn'>;
  readonly tasks: PracticeTasks;
  readonly history: PracticeHistory;
  readonly library: Library;
  readonly gate: PracticeGate;
  readonly checkText: PracticeInput['checkText'];
  readonly similar: SimilarTexts;
  readonly embed: EmbedTexts;
  readonly lessonsFor: LessonsForTask;
  /** Makes attempts within a budget; opened for each session. */
  readonly openAttempts: (budget: Budget, signal: AbortSignal) => Promise<SessionAttempts>;
  /** Whether a task's words may be sent to the model that attempts. */
  readonly mayAttempt: (task: PracticeTask) => Promise<boolean>;
  /** The model that draws conclusions, within a budget; undefined: attempts are graded, and nothing is concluded. */
  readonly openAsk: (budget: Budget) => Promise<{ readonly ask: Ask; readonly model: string } | undefined>;
  readonly openBudget: (spent: Spending) => Budget;
  readonly compare: GroupVerifier | undefined;
  readonly traffic: (lesson: string) => PairedEvidence;
  /** Read for each session: they may change. */
  readonly settings: () => SessionSettings;
  readonly mayPromote: boolean;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
}

export interface SessionSettings {
  readonly groupSize: number;
  readonly temperature: number;
  readonly timeoutMs: number;
  readonly trials: Pick<TrialSettings, 'pairs' | 'repeats' | 'days'>;
}

export interface SessionAttempts {
  /** Who attempts: `provider/model`, a policy's version or a program. */
  readonly agent: string;
  /** 1 where an engine trains on what it sampled. */
  readonly temperature?: number;
  readonly make: MakeAttempt;
  /** With an engine that trains what attempts: `make` is then the newest weights, and this the weights that serve. */
  readonly serving?: MakeAttempt;
  readonly training?: SessionTraining;
  /** Why an engine that could train does not. */
  readonly untrained?: string;
  close?(): Promise<void>;
}

/** What is asked for: a due session, or one that a person wants. */
export interface SessionRequest extends DueSession {
  readonly tasks?: number;
  readonly groupSize?: number;
  /** The id of the key of the person who asked for it. */
  readonly by?: string;
}

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

/** Tasks that passed once and are tried again in a session. */
const REGRESSION = 5;

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
  const planned = isContinued ? unfinished.planned : await planSession(request, parts);
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
  const { training, untrained } = attempts;
  const writer = await parts.openAsk(budget);
  const settings = parts.settings();
  const temperature = attempts.temperature ?? settings.temperature;
  const rewards = new Map<string, number[]>();
  const events = practice({
    run,
    kind,
    tasks,
    settings: {
      groupSize: planned.groupSize,
      epochs: planned.epochs,
      temperature,
      timeoutMs: settings.timeoutMs,
      seed: run,
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
  for (const [task, list] of isOver ? rewards : []) await recordPractised(task, list, run, 'learn', parts);
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
  const closing = compact({ run, end, note, counts, spent, helpful, refused, forgotten, weights });
  if (end === 'done' || end === 'budget')
    await append({ type: 'practice-session', op: 'closed', ...closing }, `practice/${run}/closed`, parts);
  return compact({ ...closing, retryAfterMs });
}

/** Undefined when there is no task that could be attempted. */
async function planSession(
  request: SessionRequest | undefined,
  parts: SessionParts,
): Promise<PastSession['planned'] | undefined> {
  if (request === undefined) return undefined;
  const { kind, why, area, by } = request;
  const { tasks, clock, settings } = parts;
  const run = parts.newId('practice');
  const size = SESSION_SIZES[kind];
  const fits = ({ task }: KnownTask): boolean =>
    (area.agent === undefined || task.agent === undefined || task.agent === area.agent) &&
    (area.project === undefined || task.project === undefined || task.project === area.project);
  const known: KnownTask[] = [];
  for (const one of tasks.list().filter(fits)) if (await parts.mayAttempt(one.task)) known.push(one);
  const choice = { kind, seed: run, now: clock.now(), split: 'learn' as const };
  const chosen = await chooseTasks(
    known,
    compact({ ...choice, count: request.tasks ?? size.tasks, domain: area.domain }),
    parts.embed,
  );
  if (chosen.length === 0) return undefined;
  const taken = new Set(chosen.map(({ id }) => id));
  const regression = known
    .filter(({ task, history }) => (history?.passes ?? 0) > 0 && !taken.has(task.id))
    // The longest ago first.
    .sort((a, b) => (a.history?.lastAt ?? 0) - (b.history?.lastAt ?? 0))
    .slice(0, REGRESSION)
    .map(({ task }) => task.id);
  const planned = compact({
    type: 'practice-session' as const,
    op: 'planned' as const,
    run,
    kind,
    why,
    area,
    tasks: chosen.map(({ id }) => id),
    regression,
    epochs: size.epochs,
    groupSize: request.groupSize ?? Math.max(size.groupSize, settings().groupSize),
    by,
  });
  await append(planned, `practice/${run}/planned`, parts);
  return planned;
}

async function append(
  fact: Parameters<PracticeHistory['add']>[0]['fact'],
  key: string,
  { records, clock, history }: Pick<SessionParts, 'records' | 'clock' | 'history'>,
): Promise<void> {
  const at = Math.round(clock.now());
  const [written] = await records.append([{ at, fact, key }]);
  if (written?.isNew === true) history.add({ seq: written.seq, at, fact });
}

/** Tasks that were excluded or erased since are left out. */
async function openTasks(
  ids: readonly string[],
  { tasks, records, mayAttempt }: SessionParts,
): Promise<readonly PracticeTask[]> {
  const opened: PracticeTask[] = [];
  for (const id of ids) {
    const task = await tasks.open(id, records);
    if (task !== undefined && (await mayAttempt(task))) opened.push(task);
  }
  return opened;
}

const spentIn = (journal: RunUnits): Spending => spentByUnits(journal.units());

const gateTasksOf = (parts: SessionParts): Promise<readonly PracticeTask[]> =>
  openTasks(
    parts.tasks.list().flatMap(({ task }) => (splitOf(task.root) === 'gate' ? [task.id] : [])),
    parts,
  );

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
  yield* runTrials(
    {
      attempt: make,
      lessonsFor: parts.lessonsFor,
      journal,
      compare: parts.compare,
      gateTasks: () => gateTasksOf(parts),
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
