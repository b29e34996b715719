import type { Random } from '../../../src/base/random.ts';
import { fill, pick } from '../draw.ts';
import type { DayWorld, LocalTime, Split } from '../world.ts';
import type { Fields, NewDocument, Plan } from './plan.ts';
import { tellClock, tellMoment, tellToday } from './spoken-time.ts';

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

const LEADS: SplitWordings = {
  train: [
    'It is {month_first}, {clock}; this is task {task}.',
    'Task {task}, given on {month_first} at {clock}.',
    'Today is {month_first} ({clock}) and the task is {task}.',
  ],
  gate: [
    '[{task}, {day_first}, {clock}]',
    'Next up on {day_first}, {clock}: {task}.',
    'Number {task}, written on {day_first} at {clock}:',
  ],
  report: [
    '{clock} on {day_first}. Your task, {task}:',
    'For {task} (we have {month_first}, {clock}):',
    'This one is {task}; the date is {day_first}, the time {clock}.',
  ],
};

/** The opening sentence: every task states the time and its id, whichever rules are active. */
export const leadOf = (scene: Scene): string =>
  say(scene, LEADS, {
    task: scene.task,
    month_first: tellToday(scene.now),
    day_first: tellToday(scene.now, true),
    clock: tellClock(scene.now),
  });

export const tellTime = ({ random, now }: Scene, at: LocalTime): string => tellMoment(at, now, random);

/** From 1 to `most`, growing with the day's difficulty. */
export const sizeFor = ({ day }: Scene, most: number): number =>
  Math.max(1, Math.min(most, Math.round(1 + day.difficulty * (most - 1))));

const SAVE: SplitWordings = {
  train: ['Save it as {format} in the folder {folder}.', 'Put it into {folder} as a {format} file.'],
  gate: ['Leave the {format} file in {folder}.', 'It goes into {folder}, as {format}.'],
  report: ['File it under {folder} in {format}.', '{folder} is the place for it; the format is {format}.'],
};

const SAVE_AS: SplitWordings = {
  train: ['Save it as {path}.', 'The file is called {path}.'],
  gate: ['Write it to {path}.', 'It goes to {path}.'],
  report: ['Its place is {path}.', 'Store it under {path}.'],
};

const JSON_KEYS: SplitWordings = {
  train: ['Its keys: {keys}.', 'Use the keys {keys}.'],
  gate: ['The members are {keys}.', 'Call the members {keys}.'],
  report: ['What it holds: {keys}.', 'As keys take {keys}.'],
};

const LINES: SplitWordings = {
  train: ['Write one line for each as `Label: value`, with the labels {keys}.'],
  gate: ['Each point is a line `Label: value`; the labels are {keys}.'],
  report: ['The labels are {keys}, each on a line of its own in the form `Label: value`.'],
};

/** The sentences that name a new document's place and its keys. */
export function placeSentence(scene: Scene, document: NewDocument): string {
  const { folder, name, format, fields } = document;
  const keys = { keys: keysOf(fields) };
  const place =
    name === undefined
      ? say(scene, SAVE, { folder: `${folder}/`, format: format === 'json' ? 'JSON' : 'Markdown (.md)' })
      : say(scene, SAVE_AS, { path: `${folder}/${name}` });
  return `${place} ${say(scene, format === 'json' ? JSON_KEYS : LINES, keys)}`;
}

/** `title, decisions (each with id, decided_at)` */
export const keysOf = (fields: Fields): string =>
  fields
    .map(([key, value]) => {
      const inner = value.is === 'list' ? value.items[0] : undefined;
      return inner?.is === 'record' ? `${key} (a list, each with ${keysOf(inner.fields)})` : key;
    })
    .join(', ');

const NAMED_IN = 4;

/** One task in four names the file. */
export const nameFor = ({ random }: Scene, name: string): { readonly name?: string } =>
  random.below(NAMED_IN) === 0 ? { name } : {};

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
