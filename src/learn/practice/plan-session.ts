import { compact } from '../../core/json.ts';
import type { PracticeTask } from '../../core/practice.ts';
import type { PastSession, PracticeHistory } from './practice-history.ts';
import { SESSION_SIZES } from './session-kinds.ts';
import type { SessionParts, SessionRequest } from './session-parts.ts';
import { chooseTasks } from './sources/choose-tasks.ts';
import type { KnownTask } from './sources/practice-tasks.ts';
import { inArea } from './sources/recorded-groups.ts';
import { splitOf } from './sources/split.ts';

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
    if (task !== undefined && (await mayAttempt(task))) opened.push(withCheck(task));
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
export function createRunnable({
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
