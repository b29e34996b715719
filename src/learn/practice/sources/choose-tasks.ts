import { createRandom } from '../../../base/random.ts';
import type { PracticeKind, PracticeTask, TaskOrigin, TaskSplit } from '../../../core/practice.ts';
import { type OriginYield, payOf } from '../practice-history.ts';
import { type EmbedTexts, isSameTask, nearnessOf } from './near-tasks.ts';
import type { KnownTask, TaskHistory } from './practice-tasks.ts';
import { splitOf } from './split.ts';

interface TaskChoice {
  readonly kind: PracticeKind;
  readonly count: number;
  readonly domain?: string;
  readonly split: TaskSplit;
  /** The same seed and tasks give the same choice. */
  readonly seed: string;
  readonly now: number;
}

interface ChoiceParts {
  readonly embed?: EmbedTexts;
  /** Asked about tasks that would be chosen. */
  readonly canRun?: (task: PracticeTask) => Promise<boolean>;
  /** What tasks of each origin brought in earlier sessions. */
  readonly yields?: readonly OriginYield[];
}

/** A task that a group teaches something about succeeds sometimes, not always. */
const HARDEST = 0.2;
const EASIEST = 0.8;
/** How many attempts the first estimate is worth. */
const PRIOR_WEIGHT = 4;
const DAY_MS = 86_400_000;
const FIRST_INTERVAL_DAYS = 1;
const LONGEST_INTERVAL_DAYS = 60;
/** The share of the score by origin, the most trusted first, before it is known which of them pays. */
const WORTH: Readonly<Record<TaskOrigin, number>> = { curated: 1, mined: 0.85, gap: 0.7, variation: 0.5 };

/**
 * The tasks for a session: of the split, known to be attemptable, in the order of their worth (origin, difficulty, how long they
 * have waited), no two alike. The best of each root comes first: variations fill up what is left.
 */
export async function chooseTasks(
  known: readonly KnownTask[],
  choice: TaskChoice,
  { embed, canRun, yields = [] }: ChoiceParts = {},
): Promise<readonly PracticeTask[]> {
  const { kind, count, domain, split, seed, now } = choice;
  const candidates = known
    .filter(({ task }) => splitOf(task.root) === split && task.isRecordOnly !== true)
    .filter(({ task }) => domain === undefined || task.domain === domain)
    .filter((one) => kind !== 'maintenance' || isDue(one, now) || isOpenQuestion(one))
    .map((one) => ({
      one,
      worth: worthOf(one, choice, yields, createRandom(`${seed}\n${one.task.id}`).next()),
    }))
    .sort((a, b) => b.worth - a.worth || (a.one.task.id < b.one.task.id ? -1 : 1))
    .slice(0, Math.max(200, count * 8));
  const { near, isByWords } = await nearnessOf(
    candidates.map(({ one }) => one.task.prompt),
    embed,
  );
  const chosen: number[] = [];
  const roots = new Set<string>();
  // First one task of each root, then the rest.
  for (const mayRepeat of [false, true])
    for (const [at, { one }] of candidates.entries()) {
      if (chosen.length >= count) break;
      const { root } = one.task;
      if (chosen.includes(at) || (roots.has(root) && !mayRepeat)) continue;
      if (chosen.some((other) => isNear(candidates[other]?.one.task, one.task, near(other, at), isByWords)))
        continue;
      if (canRun !== undefined && !(await canRun(one.task))) continue;
      chosen.push(at);
      roots.add(root);
    }
  return chosen
    .flatMap((at) => candidates[at]?.one ?? [])
    .map((one) => ({ ...one.task, expected: successOf(one).mean }));
}

/** A task that was made to decide a question of the library, and was never tried. */
const isOpenQuestion = ({ task, history }: KnownTask): boolean =>
  task.origin === 'gap' && history === undefined;

/** The same words about another project are another task. */
const isNear = (
  a: PracticeTask | undefined,
  b: PracticeTask,
  nearness: number,
  isByWords: boolean,
): boolean => a !== undefined && a.project === b.project && isSameTask(nearness, isByWords);

/** A Beta posterior over the share of attempts that succeed: the first estimate, then what attempts showed. */
export function successOf({ task, history }: Pick<KnownTask, 'task' | 'history'>): {
  readonly mean: number;
  readonly attempts: number;
  readonly deviation: number;
} {
  const first = task.expected ?? 0.5;
  const a = 1 + PRIOR_WEIGHT * first + (history?.rewards ?? 0);
  const b = 1 + PRIOR_WEIGHT * (1 - first) + (history === undefined ? 0 : history.attempts - history.rewards);
  const sum = a + b;
  return {
    mean: a / sum,
    attempts: history?.attempts ?? 0,
    deviation: Math.sqrt((a * b) / (sum * sum * (sum + 1))),
  };
}

function worthOf(
  { task, history, isByPerson }: KnownTask,
  { kind, now }: TaskChoice,
  yields: readonly OriginYield[],
  chance: number,
): number {
  const { mean } = successOf(history === undefined ? { task } : { task, history });
  const isTeaching = mean >= HARDEST && mean <= EASIEST;
  // A group of attempts differs most often around one half.
  const spread = 4 * mean * (1 - mean);
  const difficulty = kind === 'maintenance' ? 1 - spread / 2 : isTeaching ? 0.5 + spread / 2 : spread / 4;
  const waited = history === undefined ? 1 : Math.min(1, (now - history.lastAt) / (7 * DAY_MS));
  const remedy = kind === 'remedial' ? 1 - mean : 0;
  const truth = task.check === undefined ? 0 : task.isApproximate === true ? 0.15 : 0.25;
  const source = isByPerson ? 1 : WORTH[task.origin] * payOf(task.origin, yields);
  return source + difficulty + 0.5 * waited + remedy + truth + 0.1 * chance;
}

/** Spaced repetition: every pass in full doubles the time until a task is tried again. */
export function intervalDays({ passes }: Pick<TaskHistory, 'passes'>): number {
  return Math.min(LONGEST_INTERVAL_DAYS, FIRST_INTERVAL_DAYS * 2 ** Math.min(passes, 10));
}

/** Whether a task that was practised before is to be tried again. */
export const isDue = ({ history }: Pick<KnownTask, 'history'>, now: number): boolean =>
  history !== undefined && now - history.lastAt >= intervalDays(history) * DAY_MS;
