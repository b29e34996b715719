import { errorMessage } from '../../core/failure.ts';
import { asArray, asString, compact, type JsonObject, toJson } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import { PRACTICE_KINDS, type PracticeKind, type TaskSplit } from '../../core/practice.ts';
import {
  type AskedIdentity,
  dueMeasurement,
  measureIdentities,
  waitingIdentities,
} from '../identity/measure-identity.ts';
import {
  beginProgress,
  describeOrigins,
  describeSessions,
  describeYields,
  estimateSession,
  followSession,
  reportSession,
  type SessionProgress,
  type SessionSupply,
} from './describe-practice.ts';
import {
  type DueSession,
  findDueSession,
  type PracticeSupply,
  REGRESSION,
  type SessionRequest,
} from './plan-session.ts';
import { isContinuable, type PastSession } from './practice-history.ts';
import { runSession, type SessionResult } from './run-session.ts';
import type { SessionParts } from './session-parts.ts';
import { isDue, successOf } from './sources/choose-tasks.ts';
import { type CuratedFault, readCuratedTasks } from './sources/curated-tasks.ts';
import type { KnownTask } from './sources/practice-tasks.ts';
import { type RefreshParts, refreshTasks } from './sources/refresh-tasks.ts';
import { splitOf } from './sources/split.ts';

export interface ServePracticeOptions extends SessionParts {
  readonly refresh: Omit<RefreshParts, 'tasks' | 'onFault'>;
  /** Why nothing may be practised now; undefined when it may. */
  readonly whyNot: () => Promise<string | undefined>;
  /** Whether a session costs no money: then it may begin by itself without further leave. */
  readonly isFree: () => Promise<boolean>;
  /** Pairs of lessons in use that contradict each other. */
  readonly contradictions: () => Promise<number>;
  /** US dollars for a million tokens; undefined when the price is unknown. */
  readonly priceOf: (stage: 'attempt' | 'question') => Promise<number | undefined>;
}

/** Practice as a person, a job and a program ask for it, in JSON. */
export interface Practice {
  /** `status`, `due`, `plan`, `run`, `work`, `identity`, `stop`, `report`, `tasks`, `task`, `add`, `exclude`, by `do`. `{ refused }` says what to change in the request. */
  command(request: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  close(): Promise<void>;
}

/** A request that cannot be carried out; its message says what to change. */
class PracticeRefusal extends Error {
  override readonly name = 'PracticeRefusal';
}

interface Running<Result = unknown> {
  readonly stop: AbortController;
  /** Undefined when it could not be done; then there is a problem, or nothing to do. */
  readonly done: Promise<Result | undefined>;
}

/** One home's practice: what it is made of, and what it does now. */
interface ServedPractice {
  readonly options: ServePracticeOptions;
  running?: Running | undefined;
  progress?: SessionProgress;
  problem?: string | undefined;
  /** Until then nothing is due: no known task could be run. */
  emptyUntil: number;
  faults: readonly CuratedFault[];
}

type PracticeCommand = (served: ServedPractice, body: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

const EMPTY_REST_MS = 3_600_000;
const BUSY = 'a session is running already; see: instar practice';
const NO_PROPOSAL = 'No such change of an identity waits. See: instar identity show';
const NO_TASKS =
  'There are no tasks to practise. Tasks come from your own requests that were corrected, retried or proven (after a few days of work), or from a file: instar practice tasks --add FILE.jsonl';

export function createPractice(options: ServePracticeOptions): Practice {
  const served: ServedPractice = { options, emptyUntil: 0, faults: [] };
  return {
    command: async (request, signal) => {
      const name = asString(request.do) ?? '';
      try {
        const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
        if (command !== undefined) return await command(served, request, signal);
        throw new PracticeRefusal(`do must be one of ${Object.keys(COMMANDS).join(', ')}.`);
      } catch (error) {
        if (error instanceof PracticeRefusal) return { refused: error.message };
        throw error;
      }
    },
    close: async () => void (await stopRunning(served)),
  };
}

const status: PracticeCommand = async (served) => {
  const { options, progress, problem, running, faults } = served;
  const { tasks, history } = options;
  const all = tasks.list();
  const splits: Record<string, number> = { learn: 0, gate: 0, report: 0 };
  for (const { task } of all) splits[splitOf(task.root)] = (splits[splitOf(task.root)] ?? 0) + 1;
  const unmeasured = await dueMeasurement(options);
  const due =
    unmeasured === undefined ? await findDue(served) : { kind: 'identity', why: unmeasured, area: {} };
  return compact({
    running: progress !== undefined && running !== undefined ? { ...progress } : undefined,
    problem,
    whyNot: await options.whyNot(),
    due: due === undefined ? undefined : { kind: due.kind, why: due.why, area: { ...due.area } },
    tasks: { count: all.length, ...splits, excluded: tasks.excluded.size },
    faults: faults.map((fault) => ({ ...fault })),
    sessions: describeSessions(history.sessions().slice(-10)),
    yields: describeYields(history.yields()),
    origins: describeOrigins(history.originYields()),
  });
};

const due: PracticeCommand = async (served) => {
  const { options } = served;
  const whyNot = await options.whyNot();
  if (whyNot !== undefined) return { whyNot };
  const isFree = await options.isFree();
  const interrupted = continuableSession(options);
  if (interrupted !== undefined)
    return { due: { kind: interrupted.planned.kind, why: 'a session was interrupted' }, isFree };
  const unmeasured = await dueMeasurement(options);
  if (unmeasured !== undefined) return { due: { kind: 'identity', why: unmeasured }, isFree };
  const session = await findDue(served);
  return session === undefined ? {} : { due: { kind: session.kind, why: session.why }, isFree };
};

const plan: PracticeCommand = async (served, body, signal) => {
  const { options } = served;
  const request = await requestOf(served, body, signal);
  if (request === undefined) return { continues: options.history.unfinished()?.planned.run ?? '' };
  const count = (asked: SessionRequest): SessionSupply => countTasks(asked, options);
  return compact({
    ...(await estimateSession(request, { ...options, count })),
    whyNot: await options.whyNot(),
  });
};

const run: PracticeCommand = async (served, body, signal) => {
  const whyNot = await served.options.whyNot();
  if (whyNot !== undefined) return { started: false, why: whyNot };
  if (served.running !== undefined) return { started: false, why: BUSY };
  const request = await requestOf(served, body, signal);
  if (served.options.tasks.list().length === 0) return { started: false, why: NO_TASKS };
  beginSession(served, request);
  return { started: true };
};

/** What the job of quiet hours does. */
const work: PracticeCommand = async (served, _, signal) => {
  const { options } = served;
  const whyNot = await options.whyNot();
  if (whyNot !== undefined) return { end: 'stuck', note: whyNot };
  if (served.running !== undefined) return { end: 'aborted', note: 'a session is running already' };
  const isOpen = continuableSession(options) !== undefined;
  if (!isOpen && (await dueMeasurement(options)) !== undefined) {
    await beginIdentity(served, undefined, signal).done;
    if (served.problem !== undefined) return { end: 'stuck', note: served.problem };
    return { end: signal.aborted ? 'aborted' : 'done', note: 'proposals for identities were measured' };
  }
  // What goes on has its tasks.
  if (!isOpen) await refresh(served, signal);
  const session = isOpen ? undefined : await findDue(served);
  if (!isOpen && session === undefined) return { end: 'done', note: 'nothing is due' };
  const result = await beginSession(served, session, signal).done;
  if (result !== undefined) return toJson(result) as JsonObject;
  if (served.problem !== undefined) return { end: 'stuck', note: served.problem };
  served.emptyUntil = options.clock.now() + EMPTY_REST_MS;
  return { end: 'done', note: NO_TASKS };
};

const identity: PracticeCommand = async (served, body) => {
  const asked = compact({ agent: asString(body.agent), part: asString(body.part) });
  const whyNot = await served.options.whyNot();
  if (whyNot !== undefined) return { started: false, why: whyNot };
  if (served.running !== undefined) return { started: false, why: BUSY };
  const waiting = await waitingIdentities(served.options, asked);
  if (waiting.length === 0) return { started: false, why: NO_PROPOSAL };
  beginIdentity(served, asked);
  return { started: true, proposals: waiting.map(({ lesson }) => lesson.id) };
};

const report: PracticeCommand = async ({ options }, body) => {
  const wanted = asString(body.run);
  const sessions = options.history.sessions();
  const past =
    wanted === undefined ? sessions.at(-1) : sessions.find(({ planned }) => planned.run === wanted);
  if (past !== undefined) return reportSession(past, options);
  throw new PracticeRefusal(
    wanted === undefined
      ? 'There was no session of practice yet. Begin one with: instar practice run'
      : `There is no session ${wanted}. See: instar practice`,
  );
};

const LONGEST_LIST = 1000;

const listTasks: PracticeCommand = async ({ options: { tasks } }, body) => {
  const domain = asString(body.domain);
  const listed = tasks.list().filter(({ task }) => domain === undefined || task.domain === domain);
  return { tasks: listed.slice(-LONGEST_LIST).map(describeTask), count: listed.length };
};

const showTask: PracticeCommand = async ({ options }, { id }) => {
  const { tasks, records, whyNotAttempted, withCheck } = options;
  const stored = tasks.show(asString(id) ?? '');
  if (stored === undefined)
    throw new PracticeRefusal(`There is no task ${String(id)}. See: instar practice tasks`);
  const task = (await tasks.open(stored.task.id, records)) ?? stored.task;
  const whyNot = await whyNotAttempted(task);
  return compact({
    ...describeTask({ ...stored, task: await withCheck(task) }),
    ...(whyNot === undefined ? { canRun: true } : { canRun: false, whyNot }),
    whole: toJson(task),
    history: stored.history && toJson(stored.history),
  }) as JsonObject;
};

const addTasks: PracticeCommand = async ({ options }, body) => {
  const { tasks, records, clock, embed } = options;
  const text = asString(body.text) ?? '';
  const read = await readCuratedTasks(text, asString(body.file) ?? 'tasks', embed);
  let added = 0;
  for (const task of read.tasks) {
    const addition = tasks.added(task, clock.now(), asString(body.by));
    if (addition === undefined) continue;
    const [written] = await records.append([addition.fact], addition.blocks);
    if (written?.isNew !== true) continue;
    added++;
    tasks.add({ seq: written.seq, at: addition.fact.at, fact: addition.fact.fact });
  }
  return {
    added,
    known: read.tasks.length - added,
    duplicates: read.duplicates,
    faults: read.faults.map((fault) => ({ ...fault })),
  };
};

const excludeTasks: PracticeCommand = async ({ options }, body) => {
  const { tasks, records, clock } = options;
  const ids = asArray(body.ids).flatMap((id) => asString(id) ?? []);
  let excluded = 0;
  for (const id of ids) {
    if (tasks.show(id) === undefined) continue;
    const fact = compact({
      type: 'practice-task' as const,
      op: 'excluded' as const,
      id,
      why: asString(body.why),
      by: asString(body.by),
    });
    const at = Math.round(clock.now());
    const [written] = await records.append([{ at, fact, key: `practice-task/${id}/excluded` }]);
    if (written?.isNew !== true) continue;
    excluded++;
    tasks.add({ seq: written.seq, at, fact });
  }
  return { excluded, unknown: ids.length - excluded };
};

/** What a person, a job and a program ask for, by `do`. */
const COMMANDS: Readonly<Record<string, PracticeCommand>> = {
  status,
  due,
  plan,
  run,
  work,
  identity,
  stop: async (served) => ({ stopped: await stopRunning(served) }),
  report,
  tasks: listTasks,
  task: showTask,
  add: addTasks,
  exclude: excludeTasks,
};

/** A task in a list: its first words, where it comes from and how it went. */
function describeTask({ task, at, isByPerson, history }: KnownTask): JsonObject {
  const { mean } = successOf({ task, ...(history === undefined ? {} : { history }) });
  return compact({
    id: task.id,
    origin: task.origin,
    domain: task.domain,
    agent: task.agent,
    project: task.project,
    split: splitOf(task.root),
    prompt: task.prompt,
    check: task.check?.kind,
    isApproximate: task.isApproximate,
    workspace: task.workspace?.kind,
    isByPerson,
    expected: Math.round(mean * 100) / 100,
    practised: history?.times ?? 0,
    at: new Date(at).toISOString(),
  });
}

async function stopRunning({ running }: ServedPractice): Promise<boolean> {
  running?.stop.abort();
  await running?.done;
  return running !== undefined;
}

/** One piece of work at a time. */
function start<Result>(
  served: ServedPractice,
  work: (signal: AbortSignal) => Promise<Result>,
  outer?: AbortSignal,
): Running<Result> {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([stop.signal, outer]);
  served.progress = beginProgress();
  served.problem = undefined;
  const done = work(signal)
    .catch((error: unknown) => {
      served.problem = errorMessage(error);
      return undefined;
    })
    .finally(() => {
      served.running = undefined;
    });
  const begun = { stop, done };
  served.running = begun;
  return begun;
}

const beginSession = (
  served: ServedPractice,
  request: SessionRequest | undefined,
  outer?: AbortSignal,
): Running<SessionResult | undefined> =>
  start(
    served,
    async (signal) => {
      const events = runSession(request, served.options, signal);
      for (;;) {
        const next = await events.next();
        if (next.done === true) return next.value;
        if (served.progress !== undefined) followSession(served.progress, next.value);
      }
    },
    outer,
  );

const beginIdentity = (served: ServedPractice, asked?: AskedIdentity, outer?: AbortSignal): Running =>
  start(
    served,
    async (signal) => {
      await refresh(served, signal);
      const onBegun = ({ id, text }: Lesson): void =>
        void Object.assign(served.progress ?? {}, { run: id, kind: 'identity', why: text.name });
      return measureIdentities(served.options, asked, onBegun, signal);
    },
    outer,
  );

async function refresh(served: ServedPractice, signal: AbortSignal): Promise<void> {
  const { refresh: parts, tasks } = served.options;
  const faults: CuratedFault[] = [];
  await refreshTasks({ ...parts, tasks, onFault: (fault) => faults.push(fault) }, signal);
  served.faults = faults;
}

const findDue = async ({ options, emptyUntil }: ServedPractice): Promise<DueSession | undefined> =>
  options.clock.now() < emptyUntil
    ? undefined
    : findDueSession(options.history, await supplyOf(options), options.clock.now());

function continuableSession({ history, clock }: ServePracticeOptions): PastSession | undefined {
  const unfinished = history.unfinished();
  return unfinished !== undefined && isContinuable(unfinished, clock.now()) ? unfinished : undefined;
}

/** What a person asked for, or what is due; undefined: an interrupted session goes on. */
async function requestOf(
  served: ServedPractice,
  body: JsonObject,
  signal: AbortSignal,
): Promise<SessionRequest | undefined> {
  if (continuableSession(served.options) !== undefined && body.kind === undefined) return undefined;
  await refresh(served, signal);
  const kind = kindOf(body.kind);
  const domain = asString(body.domain);
  const asked = compact({
    tasks: wholeOf(body.tasks, 'tasks', 1, 1000),
    groupSize: wholeOf(body.group, 'group', 2, 64),
    by: asString(body.by),
  });
  const why = 'a person asked for it';
  if (kind !== undefined || domain !== undefined || asked.tasks !== undefined)
    return { kind: kind ?? 'exploratory', area: compact({ domain }), why, ...asked };
  return { ...((await findDue(served)) ?? { kind: 'exploratory', area: {}, why }), ...asked };
}

async function supplyOf({ tasks, clock, contradictions }: ServePracticeOptions): Promise<PracticeSupply> {
  const open = tasks
    .list()
    .filter(({ task }) => splitOf(task.root) === 'learn' && task.isRecordOnly !== true);
  const byDomain = new Map<string, number>();
  for (const { task } of open) byDomain.set(task.domain, (byDomain.get(task.domain) ?? 0) + 1);
  const dueTasks = open.filter((one) => isDue(one, clock.now())).length;
  return { byDomain, due: dueTasks, contradictions: open.length === 0 ? 0 : await contradictions() };
}

function countTasks({ area }: SessionRequest, { tasks, library }: ServePracticeOptions): SessionSupply {
  const inDomain = tasks
    .list()
    .filter(({ task }) => area.domain === undefined || task.domain === area.domain);
  const ofSplit = (split: TaskSplit): number =>
    inDomain.filter(({ task }) => task.isRecordOnly !== true && splitOf(task.root) === split).length;
  return {
    learn: ofSplit('learn'),
    gate: ofSplit('gate'),
    again: Math.min(REGRESSION, inDomain.filter(({ history }) => (history?.passes ?? 0) > 0).length),
    lessonsOnTrial: library.lessons().filter(({ state }) => state === 'trial').length,
  };
}

function kindOf(value: unknown): PracticeKind | undefined {
  if (value === undefined) return undefined;
  const kind = PRACTICE_KINDS.find((one) => one === value);
  if (kind === undefined) throw new PracticeRefusal(`kind must be one of ${PRACTICE_KINDS.join(', ')}.`);
  return kind;
}

function wholeOf(value: unknown, name: string, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw new PracticeRefusal(`${name} must be a whole number from ${least} to ${most}.`);
  return value;
}
