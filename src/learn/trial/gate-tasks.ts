import type { Lesson } from '../../core/lesson.ts';
import type { LessonsForTask, PracticeTask } from '../../core/practice.ts';
import type { Records } from '../../core/store.ts';
import type { TrialMethod } from '../../core/trial.ts';
import { isInScope, reachOf } from '../../lessons/scope.ts';
import { queryOf } from './measure-trial.ts';
import type { TrialJudge } from './replay-tasks.ts';

/** The tasks that may measure a lesson. */
export interface TaskPool {
  readonly method: TrialMethod;
  readonly tasks: readonly PracticeTask[];
}

export interface TaskPoolParts {
  /** Tasks of the split `gate`. */
  readonly gateTasks: () => Promise<readonly PracticeTask[]>;
  /** Recorded requests, for lessons that no task of the gate fits. Absent: none is replayed. */
  readonly replayTasks?: () => Promise<readonly PracticeTask[]>;
  /** Compares answers to recorded requests; its word counts only where `judgeRefusal` is given and has no objection. */
  readonly compare?: TrialJudge['compare'] | undefined;
  readonly judgeRefusal?: TrialJudge['judgeRefusal'];
  readonly lessonsFor: LessonsForTask;
  readonly records: Pick<Records, 'turn'>;
}

/** `why`: there is no task to measure a lesson on, in words for its owner. */
export type TaskPoolResult =
  | ({ readonly ok: true } & TaskPool)
  | { readonly ok: false; readonly why: string };

/** Recall of a lesson is tried on at most this many tasks in its scope, in the order of their ids. */
const MOST_TASKS = 500;

/**
 * The tasks on which a lesson is measured: those that production would show it for, but none that it was learned from. Tasks of
 * the gate come first; recorded requests are replayed only where there is no such task.
 */
export async function findTaskPool(lesson: Lesson, parts: TaskPoolParts): Promise<TaskPoolResult> {
  const origins = await originsOf(lesson, parts);
  const gate = (await parts.gateTasks()).filter(({ isRecordOnly }) => isRecordOnly !== true);
  const checked = gate.filter((task) => task.check !== undefined || task.reference !== undefined);
  const other = checked.filter((task) => isOther(task, origins));
  const tasks = await shownFor(lesson, other, parts.lessonsFor);
  if (tasks.length > 0) return { ok: true, method: 'tasks', tasks };
  const recorded = (await parts.replayTasks?.()) ?? [];
  const unchecked = gate.filter((task) => !checked.includes(task));
  const replayed = [...unchecked, ...recorded].filter((task) => isOther(task, origins));
  const requests = await shownFor(lesson, replayed, parts.lessonsFor);
  if (requests.length === 0)
    return { ok: false, why: whyNone(checked.length, other.length, replayed.length) };
  const obstacle = whyNotCompared(parts);
  if (obstacle === undefined) return { ok: true, method: 'replay', tasks: requests };
  return {
    ok: false,
    why: `no task fits it, and answers to recorded requests cannot be compared: ${obstacle}`,
  };
}

function whyNotCompared({ compare, judgeRefusal }: TaskPoolParts): string | undefined {
  if (compare === undefined) return 'no judge model is configured (models.judge)';
  return judgeRefusal === undefined ? 'the judge was not compared with people' : judgeRefusal();
}

function whyNone(checked: number, other: number, replayed: number): string {
  if (checked === 0 && replayed === 0) return 'there are no tasks to test it on';
  if (other === 0 && replayed === 0) return 'the only tasks to test it on are those that it was learned from';
  return `none of ${other + replayed} tasks would be shown it`;
}

interface Origins {
  readonly turns: ReadonlySet<string>;
  readonly sessions: ReadonlySet<string>;
}

async function originsOf(lesson: Lesson, { records }: Pick<TaskPoolParts, 'records'>): Promise<Origins> {
  const { turns, quotes } = lesson.text.evidence;
  const cited = new Set([...turns, ...quotes.map(({ turn }) => turn)]);
  const sessions = new Set<string>();
  for (const turn of cited) {
    const session = (await records.turn(turn))?.session;
    if (session !== undefined) sessions.add(session);
  }
  return { turns: cited, sessions };
}

/** A task made of another one has its root: it is left out with it. */
const isOther = ({ id, root, from }: PracticeTask, { turns, sessions }: Origins): boolean =>
  !turns.has(id) &&
  !turns.has(root) &&
  !(from !== undefined && (turns.has(from.turn) || sessions.has(from.session)));

/** The tasks of these that production would show a lesson for, and that it was not learned from. */
export async function tasksThatFit(
  lesson: Lesson,
  tasks: readonly PracticeTask[],
  parts: Pick<TaskPoolParts, 'lessonsFor' | 'records'>,
): Promise<readonly PracticeTask[]> {
  const origins = await originsOf(lesson, parts);
  return shownFor(
    lesson,
    tasks.filter((task) => isOther(task, origins)),
    parts.lessonsFor,
  );
}

async function shownFor(
  { id, text }: Lesson,
  tasks: readonly PracticeTask[],
  lessonsFor: LessonsForTask,
): Promise<readonly PracticeTask[]> {
  const shown: PracticeTask[] = [];
  const inScope = tasks
    .filter((task) => isInScope(reachOf(text), { ...task, agent: task.agent ?? '' }, task.domain))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const task of inScope.slice(0, MOST_TASKS))
    if ((await lessonsFor(queryOf(task))).lessons.includes(id)) shown.push(task);
  return shown;
}
