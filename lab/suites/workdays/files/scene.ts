import type { Random } from '../../../../src/base/random.ts';
import { fill, pick } from '../draw.ts';
import type { DayWorld, LocalTime, Split } from '../world.ts';
import type { Plan } from './plan.ts';

/** The setting of a task, and its random stream. */
export interface Scene {
  readonly day: DayWorld;
  readonly random: Random;
  readonly split: Split;
  /** The task's id in its text and in the log: `t1007`. */
  readonly task: string;
  readonly now: LocalTime;
  /** Two folders that no other task of the day uses. */
  readonly folders: readonly [string, string];
}

export interface Task {
  readonly kind: string;
  readonly plan: Plan;
  readonly text: string;
}

/** A kind of task, made from the facts of a day. */
export interface TaskKind {
  readonly name: string;
  /** Whether the day has the facts it needs. */
  suits(day: DayWorld): boolean;
  make(scene: Scene): Task;
}

/** The phrasings of each split: training tasks are worded differently from those of the report. */
export type SplitWordings = Readonly<Record<Split, readonly string[]>>;

export const say = (
  { random, split }: Scene,
  phrasings: SplitWordings,
  words: Readonly<Record<string, string>> = {},
): string => fill(pick(random, phrasings[split]), words);

/** From 1 to `most`, growing with the day's difficulty. */
export const sizeFor = ({ day }: Scene, most: number): number =>
  Math.max(1, Math.min(most, Math.round(1 + day.difficulty * (most - 1))));

/** The lower-case words of a file name. */
export const nameWords = (...words: readonly string[]): readonly string[] =>
  words
    .join(' ')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

export const planFor = (
  { task, now, day }: Scene,
  parts: Pick<Plan, 'summary'> & Partial<Pick<Plan, 'creates' | 'edits' | 'given'>>,
): Plan => ({
  task,
  today: now,
  author: day.world.people[0]?.name ?? 'the office',
  creates: [],
  edits: [],
  given: {},
  ...parts,
});

/** Each task of a day has its own folders, so that its files cannot be mistaken for another task's. */
const FOLDERS: readonly string[] =
  `drafts notes desk shelf inbox outbox papers records studio office workshop archive ledger binder bureau corner
  cabinet library gallery pantry cellar attic garden harbor`
    .split(/\s+/)
    .filter(Boolean);

/** The n-th folder name; after the last word they repeat with a number. */
export function folderAt(index: number): string {
  const word = FOLDERS[index % FOLDERS.length] ?? '';
  const round = Math.floor(index / FOLDERS.length);
  return round === 0 ? word : `${word}${round + 1}`;
}

export const FOLDER_WORDS = FOLDERS;
