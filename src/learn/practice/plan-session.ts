import { compact } from '../../core/json.ts';
import type { PracticeKind, PracticeTask } from '../../core/practice.ts';
import { plural } from '../../text/phrases.ts';
import type { PastSession, PracticeHistory, SessionArea } from './practice-history.ts';
import type { SessionParts } from './session-parts.ts';
import { chooseTasks } from './sources/choose-tasks.ts';
import type { KnownTask } from './sources/practice-tasks.ts';
import { inArea } from './sources/recorded-groups.ts';
import { splitOf } from './sources/split.ts';

/** The size of a session: how many tasks, how often each, with how many attempts at a time. */
interface SessionSize {
  readonly epochs: number;
  readonly tasks: number;
  readonly groupSize: number;
}

/** By kind; `exploratory` is what a person asks for, so these are only its defaults. */
export const SESSION_SIZES: Readonly<Record<PracticeKind, SessionSize>> = {
  /** A domain that was never practised. */
  initial: { epochs: 3, tasks: 50, groupSize: 3 },
  /** What was learned is tried again, at growing intervals. */
  maintenance: { epochs: 1, tasks: 10, groupSize: 3 },
  /** An area in which work fails. */
  remedial: { epochs: 1, tasks: 20, groupSize: 5 },
  exploratory: { epochs: 1, tasks: 20, groupSize: 3 },
  /** A little, after every few interactions. */
  micro: { epochs: 1, tasks: 2, groupSize: 3 },
};

/** A session that is due, and why. */
export interface DueSession {
  readonly kind: PracticeKind;
  readonly area: SessionArea;
  readonly why: string;
}

/** What can be practised now. */
export interface PracticeSupply {
  /** Tasks of the split `learn` that can be attempted, by domain. */
  readonly byDomain: ReadonlyMap<string, number>;
  /** Tasks whose interval of repetition is over. */
  readonly due: number;
  /** Pairs of lessons in use that contradict each other. */
  readonly contradictions: number;
}

/** Fewer tasks than this in a domain are no domain yet. */
const FEWEST_TASKS = 5;
/** Of this many judged turns of an agent in a project, from this share of failures on, the area is practised. */
const FEWEST_JUDGED = 8;
const FAILING = 0.4;
const INTERACTIONS = 10;
/** Lessons that no practice has looked at yet. */
const UNPROCESSED = 20;
const FEWEST_DUE = 5;
const DAY_MS = 24 * 3_600_000;
const MOST_DOUBLINGS = 5;
const REST_MS: Readonly<Record<PracticeKind, number>> = {
  initial: 0,
  maintenance: DAY_MS,
  remedial: DAY_MS,
  exploratory: 0,
  micro: 3_600_000,
};

/**
 * The session that is due now, if any: a failing area first, then a new domain, contradictions, what has to be repeated, and last
 * the small session after every few interactions. The same facts give the same answer.
 */
export function findDueSession(
  history: PracticeHistory,
  supply: PracticeSupply,
  now: number,
): DueSession | undefined {
  const total = [...supply.byDomain.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const isRested = (kind: PracticeKind, area: SessionArea = {}): boolean => {
    const last = history.lastOf(kind, area);
    // What brought nothing is tried less often.
    const rest = REST_MS[kind] * 2 ** Math.min(history.barren(kind), MOST_DOUBLINGS);
    // A date from the future is a clock that was wrong.
    return last === undefined || Math.abs(now - last) >= rest;
  };
  for (const { area, failures, judged } of history.failing(FEWEST_JUDGED, FAILING))
    if (isRested('remedial', area))
      return {
        kind: 'remedial',
        area,
        why: `${failures} of the last ${plural(judged, 'judged answer')} of ${area.agent ?? 'an agent'} failed`,
      };
  for (const [domain, count] of supply.byDomain)
    if (count >= FEWEST_TASKS && history.lastOf('initial', { domain }) === undefined)
      return {
        kind: 'initial',
        area: { domain },
        why: `${domain} has ${plural(count, 'task')} and was never practised`,
      };
  if (supply.contradictions > 0 && isRested('maintenance'))
    return {
      kind: 'maintenance',
      area: {},
      why: `${plural(supply.contradictions, 'pair')} of lessons contradict each other`,
    };
  if (history.unprocessed >= UNPROCESSED && isRested('maintenance'))
    return {
      kind: 'maintenance',
      area: {},
      why: `${plural(history.unprocessed, 'lesson')} were learned since the last session`,
    };
  if (supply.due >= FEWEST_DUE && isRested('maintenance'))
    return {
      kind: 'maintenance',
      area: {},
      why: `${plural(supply.due, 'task')} are due to be repeated`,
    };
  if (history.interactions >= INTERACTIONS && isRested('micro'))
    return {
      kind: 'micro',
      area: {},
      why: `${plural(history.interactions, 'interaction')} since the last session`,
    };
  return undefined;
}

/** What is asked for: a due session, or one that a person wants. */
export interface SessionRequest extends DueSession {
  readonly tasks?: number;
  readonly groupSize?: number;
  /** The id of the key of the person who asked for it. */
  readonly by?: string;
}

/** Tasks that passed once and are tried again in a session. */
export const REGRESSION = 5;

/** Undefined when there is no task that could be attempted. */
export async function planSession(
  request: SessionRequest | undefined,
  parts: SessionParts,
  signal: AbortSignal,
): Promise<PastSession['planned'] | undefined> {
  if (request === undefined) return undefined;
  const { kind, why, area, by } = request;
  const { tasks, clock, settings } = parts;
  const run = parts.newId('practice');
  const size = SESSION_SIZES[kind];
  const fits = ({ task }: KnownTask): boolean =>
    (area.agent === undefined || task.agent === undefined || task.agent === area.agent) &&
    (area.project === undefined || task.project === undefined || task.project === area.project);
  const candidates: KnownTask[] = [];
  for (const one of tasks.list().filter(fits)) if (await parts.mayAttempt(one.task)) candidates.push(one);
  const canRun = createRunnable(parts);
  const choice = { kind, seed: run, now: clock.now(), split: 'learn' as const };
  const chosen = await chooseTasks(
    candidates,
    compact({ ...choice, count: request.tasks ?? size.tasks, domain: area.domain }),
    { embed: parts.embed, canRun, yields: parts.history.originYields() },
  );
  // Recorded work alone is enough to learn from.
  if (chosen.length === 0 && !(await parts.findRecorded(signal)).some(({ group }) => inArea(group, area)))
    return undefined;
  const taken = new Set(chosen.map(({ id }) => id));
  const passed = candidates
    .filter(({ task, history }) => (history?.passes ?? 0) > 0 && !taken.has(task.id))
    // The longest ago first.
    .sort((a, b) => (a.history?.lastAt ?? 0) - (b.history?.lastAt ?? 0));
  const regression: string[] = [];
  for (const { task } of passed)
    if (regression.length < REGRESSION && (await canRun(task))) regression.push(task.id);
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
  await appendSession(planned, `practice/${run}/planned`, parts);
  return planned;
}

export async function appendSession(
  fact: Parameters<PracticeHistory['add']>[0]['fact'],
  key: string,
  { records, clock, history }: Pick<SessionParts, 'records' | 'clock' | 'history'>,
): Promise<void> {
  const at = Math.round(clock.now());
  const [written] = await records.append([{ at, fact, key }]);
  if (written?.isNew === true) history.add({ seq: written.seq, at, fact });
}

/** Tasks that were excluded or erased since are left out. */
export async function openTasks(
  ids: readonly string[],
  { tasks, records, mayAttempt, withCheck }: SessionParts,
): Promise<readonly PracticeTask[]> {
  const opened: PracticeTask[] = [];
  for (const id of ids) {
    const task = await tasks.open(id, records);
    if (task !== undefined && (await mayAttempt(task))) opened.push(await withCheck(task));
  }
  return opened;
}

/** Tasks that can be attempted and checked now; without a wish those of the gate. */
export async function runnableTasks(
  parts: SessionParts,
  isWanted: (task: PracticeTask) => boolean = ({ root }) => splitOf(root) === 'gate',
): Promise<readonly PracticeTask[]> {
  const ids = parts.tasks.list().flatMap(({ task }) => (isWanted(task) ? [task.id] : []));
  const canRun = createRunnable(parts);
  const runnable: PracticeTask[] = [];
  for (const task of await openTasks(ids, parts)) if (await canRun(task)) runnable.push(task);
  return runnable;
}

/** Whether a task can be attempted and checked on this machine now; each is looked at once. */
function createRunnable({
  tasks,
  records,
  whyNotAttempted,
}: Pick<SessionParts, 'tasks' | 'records' | 'whyNotAttempted'>): (task: PracticeTask) => Promise<boolean> {
  const looks = new Map<string, Promise<boolean>>();
  const look = async (id: string): Promise<boolean> => {
    const task = await tasks.open(id, records);
    return task !== undefined && (await whyNotAttempted(task)) === undefined;
  };
  return ({ id }) => {
    const isRunnable = looks.get(id) ?? look(id);
    looks.set(id, isRunnable);
    return isRunnable;
  };
}
