import { NOTHING_SPENT } from '../../core/budget.ts';
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
  describeOrigins,
  describeSessions,
  describeYields,
  estimateSession,
  reportSession,
  type SessionSupply,
} from './describe-practice.ts';
import { REGRESSION } from './plan-session.ts';
import { isContinuable } from './practice-history.ts';
import { runSession, type SessionResult } from './run-session.ts';
import { type DueSession, findDueSession, type PracticeSupply } from './session-kinds.ts';
import type { SessionParts, SessionRequest } from './session-parts.ts';
import { beginProgress, followSession, type SessionProgress } from './session-progress.ts';
import { isDue, successOf } from './sources/choose-tasks.ts';
import type { CuratedFault } from './sources/curated-tasks.ts';
import { readCuratedTasks } from './sources/curated-tasks.ts';
import type { KnownTask } from './sources/practice-tasks.ts';
import { type RefreshParts, refreshTasks } from './sources/refresh-tasks.ts';
import { splitOf } from './sources/split.ts';

export interface ServePracticeOptions extends SessionParts {
  readonly refresh: Omit<RefreshParts, 'tasks' | 'ask' | 'onFault'>;
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

interface Running<Result = unknown> {
  readonly stop: AbortController;
  /** Undefined when it could not be done; then there is a problem, or nothing to do. */
  readonly done: Promise<Result | undefined>;
}

const LONGEST_LIST = 1000;
const EMPTY_REST_MS = 3_600_000;

export function createPractice(options: ServePracticeOptions): Practice {
  const { tasks, history, clock } = options;
  let running: Running | undefined;
  let progress: SessionProgress | undefined;
  let problem: string | undefined;
  /** Until then nothing is due: no known task could be run. */
  let emptyUntil = 0;
  let lastFaults: readonly CuratedFault[] = [];

  const supply = async (): Promise<PracticeSupply> => {
    const open = tasks
      .list()
      .filter(({ task }) => splitOf(task.root) === 'learn' && task.isRecordOnly !== true);
    const byDomain = new Map<string, number>();
    for (const { task } of open) byDomain.set(task.domain, (byDomain.get(task.domain) ?? 0) + 1);
    const due = open.filter((one) => isDue(one, clock.now())).length;
    return { byDomain, due, contradictions: open.length === 0 ? 0 : await options.contradictions() };
  };
  const countSupply = ({ area }: SessionRequest): SessionSupply => {
    const known = tasks.list().filter(({ task }) => area.domain === undefined || task.domain === area.domain);
    const ofSplit = (split: TaskSplit): number =>
      known.filter(({ task }) => task.isRecordOnly !== true && splitOf(task.root) === split).length;
    return {
      learn: ofSplit('learn'),
      gate: ofSplit('gate'),
      again: Math.min(REGRESSION, known.filter(({ history: past }) => (past?.passes ?? 0) > 0).length),
      lessonsOnTrial: options.library.lessons().filter(({ state }) => state === 'trial').length,
    };
  };
  const refresh = async (signal: AbortSignal): Promise<void> => {
    const faults: CuratedFault[] = [];
    const writer = await options.openAsk(options.openBudget(NOTHING_SPENT));
    await refreshTasks(
      { ...options.refresh, tasks, ask: writer?.ask, onFault: (fault) => faults.push(fault) },
      signal,
    );
    lastFaults = faults;
  };
  const findDue = async (): Promise<DueSession | undefined> =>
    clock.now() < emptyUntil ? undefined : findDueSession(history, await supply(), clock.now());

  /** One piece of work at a time. */
  const start = <Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    outer?: AbortSignal,
  ): Running<Result> => {
    const stop = new AbortController();
    const signal = outer === undefined ? stop.signal : AbortSignal.any([stop.signal, outer]);
    progress = beginProgress();
    problem = undefined;
    const done = work(signal)
      .catch((error: unknown) => {
        problem = error instanceof Error ? error.message : String(error);
        return undefined;
      })
      .finally(() => {
        running = undefined;
      });
    const begun = { stop, done };
    running = begun;
    return begun;
  };
  const begin = (
    request: SessionRequest | undefined,
    outer?: AbortSignal,
  ): Running<SessionResult | undefined> =>
    start(async (signal) => {
      const events = runSession(request, options, signal);
      for (;;) {
        const next = await events.next();
        if (next.done === true) return next.value;
        if (progress !== undefined) followSession(progress, next.value);
      }
    }, outer);
  const beginIdentity = (asked?: AskedIdentity, outer?: AbortSignal): Running =>
    start(async (signal) => {
      await refresh(signal);
      const onBegun = ({ id, text }: Lesson): void => {
        if (progress !== undefined) Object.assign(progress, { run: id, kind: 'identity', why: text.name });
      };
      return measureIdentities(options, asked, onBegun, signal);
    }, outer);

  const requestOf = async (body: JsonObject, signal: AbortSignal): Promise<SessionRequest | undefined> => {
    const unfinished = history.unfinished();
    if (unfinished !== undefined && isContinuable(unfinished, clock.now()) && body.kind === undefined)
      return undefined;
    await refresh(signal);
    const kind = kindOf(body.kind);
    const domain = asString(body.domain);
    const asked = compact({
      tasks: wholeOf(body.tasks, 'tasks', 1, 1000),
      groupSize: wholeOf(body.group, 'group', 2, 64),
      by: asString(body.by),
    });
    if (kind !== undefined || domain !== undefined || asked.tasks !== undefined)
      return {
        kind: kind ?? 'exploratory',
        area: compact({ domain }),
        why: 'a person asked for it',
        ...asked,
      };
    return {
      ...((await findDue()) ?? { kind: 'exploratory', area: {}, why: 'a person asked for it' }),
      ...asked,
    };
  };

  const commands: Readonly<Record<string, (body: JsonObject, signal: AbortSignal) => Promise<JsonObject>>> = {
    status: async () => {
      const known = tasks.list();
      const splits: Record<string, number> = { learn: 0, gate: 0, report: 0 };
      for (const { task } of known) splits[splitOf(task.root)] = (splits[splitOf(task.root)] ?? 0) + 1;
      const unmeasured = await dueMeasurement(options);
      const due =
        unmeasured === undefined ? await findDue() : { kind: 'identity', why: unmeasured, area: {} };
      return compact({
        running: progress !== undefined && running !== undefined ? { ...progress } : undefined,
        problem,
        whyNot: await options.whyNot(),
        due: due === undefined ? undefined : { kind: due.kind, why: due.why, area: { ...due.area } },
        tasks: { count: known.length, ...splits, excluded: tasks.excluded.size },
        faults: lastFaults.map((fault) => ({ ...fault })),
        sessions: describeSessions(history.sessions().slice(-10)),
        yields: describeYields(history.yields()),
        origins: describeOrigins(history.originYields()),
      });
    },
    due: async () => {
      const whyNot = await options.whyNot();
      const unfinished = history.unfinished();
      if (whyNot !== undefined) return { whyNot };
      const isFree = await options.isFree();
      if (unfinished !== undefined && isContinuable(unfinished, clock.now()))
        return { due: { kind: unfinished.planned.kind, why: 'a session was interrupted' }, isFree };
      const unmeasured = await dueMeasurement(options);
      if (unmeasured !== undefined) return { due: { kind: 'identity', why: unmeasured }, isFree };
      const due = await findDue();
      return due === undefined ? {} : { due: { kind: due.kind, why: due.why }, isFree };
    },
    plan: async (body, signal) => {
      const request = await requestOf(body, signal);
      const unfinished = history.unfinished();
      if (request === undefined) return { continues: unfinished?.planned.run ?? '' };
      const estimate = await estimateSession(request, { ...options, count: countSupply });
      return compact({ ...estimate, whyNot: await options.whyNot() });
    },
    run: async (body, signal) => {
      const whyNot = await options.whyNot();
      if (whyNot !== undefined) return { started: false, why: whyNot };
      if (running !== undefined) return { started: false, why: BUSY };
      const request = await requestOf(body, signal);
      if (tasks.list().length === 0) return { started: false, why: NO_TASKS };
      begin(request);
      return { started: true };
    },
    work: async (_, signal) => {
      const whyNot = await options.whyNot();
      if (whyNot !== undefined) return { end: 'stuck', note: whyNot };
      if (running !== undefined) return { end: 'aborted', note: 'a session is running already' };
      const unfinished = history.unfinished();
      const isOpen = unfinished !== undefined && isContinuable(unfinished, clock.now());
      if (!isOpen && (await dueMeasurement(options)) !== undefined) {
        await beginIdentity(undefined, signal).done;
        if (problem !== undefined) return { end: 'stuck', note: problem };
        return { end: signal.aborted ? 'aborted' : 'done', note: 'proposals for identities were measured' };
      }
      // What goes on has its tasks; looking for new ones may cost questions.
      if (!isOpen) await refresh(signal);
      const due = isOpen ? undefined : await findDue();
      if (!isOpen && due === undefined) return { end: 'done', note: 'nothing is due' };
      const result = await begin(due, signal).done;
      if (result === undefined && problem === undefined) emptyUntil = clock.now() + EMPTY_REST_MS;
      if (result === undefined)
        return problem === undefined ? { end: 'done', note: NO_TASKS } : { end: 'stuck', note: problem };
      return toJson(result) as JsonObject;
    },
    identity: async (body) => {
      const asked = compact({ agent: asString(body.agent), part: asString(body.part) });
      const whyNot = await options.whyNot();
      if (whyNot !== undefined) return { started: false, why: whyNot };
      if (running !== undefined) return { started: false, why: BUSY };
      const waiting = await waitingIdentities(options, asked);
      if (waiting.length === 0) return { started: false, why: NO_PROPOSAL };
      beginIdentity(asked);
      return { started: true, proposals: waiting.map(({ lesson }) => lesson.id) };
    },
    stop: async () => {
      const current = running;
      current?.stop.abort();
      await current?.done;
      return { stopped: current !== undefined };
    },
    report: async ({ run }) => {
      const wanted = asString(run);
      const past =
        wanted === undefined
          ? history.sessions().at(-1)
          : history.sessions().find(({ planned }) => planned.run === wanted);
      if (past === undefined)
        throw refused(
          wanted === undefined
            ? 'There was no session of practice yet. Begin one with: instar practice run'
            : `There is no session ${wanted}. See: instar practice status`,
        );
      return reportSession(past, options);
    },
    tasks: async (body) => {
      const domain = asString(body.domain);
      const shown = tasks.list().filter(({ task }) => domain === undefined || task.domain === domain);
      return { tasks: shown.slice(-LONGEST_LIST).map(describeTask), count: shown.length };
    },
    task: async ({ id }) => {
      const known = tasks.show(asString(id) ?? '');
      if (known === undefined)
        throw refused(`There is no task ${String(id)}. See: instar practice tasks list`);
      const { history: past } = known;
      const task = (await tasks.open(known.task.id, options.records)) ?? known.task;
      const whyNot = await options.whyNotAttempted(task);
      return compact({
        ...describeTask({ ...known, task: options.withCheck(task) }),
        ...(whyNot === undefined ? { canRun: true } : { canRun: false, whyNot }),
        whole: toJson(task),
        history: past && toJson(past),
      }) as JsonObject;
    },
    add: async (body) => {
      const text = asString(body.text) ?? '';
      const {
        tasks: read,
        faults,
        duplicates,
      } = await readCuratedTasks(text, asString(body.file) ?? 'tasks', options.embed);
      let added = 0;
      for (const task of read) {
        const addition = tasks.added(task, clock.now(), asString(body.by));
        if (addition === undefined) continue;
        const [written] = await options.records.append([addition.fact], addition.blocks);
        if (written?.isNew !== true) continue;
        added++;
        tasks.add({ seq: written.seq, at: addition.fact.at, fact: addition.fact.fact });
      }
      return { added, known: read.length - added, duplicates, faults: faults.map((fault) => ({ ...fault })) };
    },
    exclude: async (body) => {
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
        const [written] = await options.records.append([{ at, fact, key: `practice-task/${id}/excluded` }]);
        if (written?.isNew !== true) continue;
        excluded++;
        tasks.add({ seq: written.seq, at, fact });
      }
      return { excluded, unknown: ids.length - excluded };
    },
  };

  return {
    command: async (request, signal) => {
      const name = asString(request.do) ?? '';
      const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
      try {
        if (command === undefined) throw refused(`do must be one of ${Object.keys(commands).join(', ')}.`);
        return await command(request, signal);
      } catch (error) {
        if (error instanceof PracticeRefusal) return { refused: error.message };
        throw error;
      }
    },
    close: async () => {
      running?.stop.abort();
      await running?.done;
    },
  };
}

const BUSY = 'a session is running already; see: instar practice status';
const NO_PROPOSAL = 'No such change of an identity waits. See: instar identity show';
const NO_TASKS =
  'There are no tasks to practise. Tasks come from your own requests that were corrected, retried or proven (after a few days of work), or from a file: instar practice tasks add FILE.jsonl';

/** A request that cannot be carried out; its message says what to change. */
class PracticeRefusal extends Error {
  override readonly name = 'PracticeRefusal';
}
const refused = (why: string): PracticeRefusal => new PracticeRefusal(why);

function kindOf(value: unknown): PracticeKind | undefined {
  if (value === undefined) return undefined;
  const kind = PRACTICE_KINDS.find((one) => one === value);
  if (kind === undefined) throw refused(`kind must be one of ${PRACTICE_KINDS.join(', ')}.`);
  return kind;
}

function wholeOf(value: unknown, name: string, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw refused(`${name} must be a whole number from ${least} to ${most}.`);
  return value;
}

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
