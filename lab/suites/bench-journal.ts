import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type Condition, currentName } from './arms.ts';
import type { DayOfLearning, LessonRecord, NightRecord, QuestionRecord, RunHead } from './run-records.ts';

/** What a run has written: its head and its complete days. */
export interface BenchJournal {
  readonly head: RunHead;
  readonly rows: readonly QuestionRecord[];
  readonly lessons: readonly LessonRecord[];
  readonly nights: readonly NightRecord[];
  readonly learning: readonly DayOfLearning[];
  /** The last day that is complete, per condition and seed. */
  lastDay(condition: Condition, seed: number): number | undefined;
}

export interface BenchJournalWriter {
  row(row: QuestionRecord): void;
  lesson(lesson: LessonRecord): void;
  night(night: NightRecord): void;
  learning(cost: DayOfLearning): void;
  /** The day is complete; on disk when it returns. */
  endDay(condition: Condition, seed: number, day: number): void;
  close(): void;
}

/** Appends to a journal; writes the head first if the file is new or the head has more arms or seeds. */
export function openBenchJournal(file: string, head: RunHead): BenchJournalWriter {
  const isNew = !existsSync(file);
  const before = loadBenchJournal(file)?.head;
  const descriptor = openSync(file, 'a', 0o600);
  const write = (line: object): void => void writeSync(descriptor, `${JSON.stringify(line)}\n`);
  if (isNew) write({ type: 'head', ...head });
  // The last line may have been cut short by a kill: the next one must not be appended to it.
  else writeSync(descriptor, '\n');
  if (before !== undefined && sizeOf(before) !== sizeOf(head))
    write({ type: 'head', ...head, startedAt: before.startedAt });
  fsyncSync(descriptor);
  return {
    row: (row) => write({ type: 'row', ...row }),
    lesson: (lesson) => write({ type: 'lesson', ...lesson }),
    night: (night) => write({ type: 'night', ...night }),
    learning: (cost) => write({ type: 'learning', ...cost }),
    endDay: (condition, seed, day) => {
      write({ type: 'day-end', condition, seed, day });
      fsyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
}

const sizeOf = ({ conditions, seeds }: RunHead): string => `${conditions.length}/${seeds.length}`;

type DayKey = Pick<QuestionRecord, 'condition' | 'seed' | 'day'>;

type JournalLine =
  | ({ readonly type: 'head' } & RunHead)
  | ({ readonly type: 'row' } & QuestionRecord)
  | ({ readonly type: 'lesson' } & LessonRecord)
  | ({ readonly type: 'night' } & NightRecord)
  | ({ readonly type: 'learning' } & DayOfLearning)
  | ({ readonly type: 'day-end' } & DayKey);

/** We wrote these lines ourselves: a line that parses has the shape of its type. Undefined for one that a kill cut short. */
export function parseJournalLine<Line extends { readonly type: string }>(text: string): Line | undefined {
  try {
    const line: Line | null = JSON.parse(text);
    return line !== null && typeof line === 'object' ? line : undefined;
  } catch {
    return undefined;
  }
}

interface OpenDay {
  readonly rows: QuestionRecord[];
  readonly lessons: LessonRecord[];
  readonly nights: NightRecord[];
  readonly learning: DayOfLearning[];
}

/**
 * Rows of an incomplete day do not count: the day is run again. Undefined when there is no head. What earlier versions called
 * `full` trained on oracle rewards, and is read under the name that says so.
 */
export function readBenchJournal(text: string): BenchJournal | undefined {
  let head: RunHead | undefined;
  const rows: QuestionRecord[] = [];
  const lessons: LessonRecord[] = [];
  const nights: NightRecord[] = [];
  const learning: DayOfLearning[] = [];
  const last = new Map<string, number>();
  const open = new Map<string, OpenDay>();
  const dayOf = ({ condition, seed, day }: DayKey): OpenDay => {
    const key = `${condition} ${seed} ${day}`;
    const found = open.get(key) ?? { rows: [], lessons: [], nights: [], learning: [] };
    open.set(key, found);
    return found;
  };
  for (const part of text.split('\n')) {
    const written = parseJournalLine<JournalLine>(part);
    const line = head?.arms === undefined ? renamed(written) : written;
    if (line?.type === 'head') {
      // Arms and seeds may have been added.
      head = withoutType(line);
      // A continued run starts its incomplete days again.
      open.clear();
    } else if (line?.type === 'row') dayOf(line).rows.push(withoutType(line));
    else if (line?.type === 'lesson') dayOf(line).lessons.push(withoutType(line));
    else if (line?.type === 'night') dayOf(line).nights.push(withoutType(line));
    else if (line?.type === 'learning') dayOf(line).learning.push(withoutType(line));
    else if (line?.type === 'day-end') {
      const day = dayOf(line);
      rows.push(...latest(day.rows));
      lessons.push(...day.lessons);
      nights.push(...day.nights.slice(-1));
      learning.push(...day.learning.slice(-1));
      open.delete(`${line.condition} ${line.seed} ${line.day}`);
      last.set(`${line.condition} ${line.seed}`, line.day);
    }
  }
  if (head === undefined) return undefined;
  return {
    head,
    rows,
    lessons,
    nights,
    learning,
    lastDay: (condition, seed) => last.get(`${condition} ${seed}`),
  };
}

/** A line of a version whose arms had no number: the head has none, and every other line follows its head. */
function renamed(line: JournalLine | undefined): JournalLine | undefined {
  if (line === undefined) return undefined;
  if (line.type !== 'head')
    return line.condition === undefined ? line : { ...line, condition: currentName(line.condition) };
  return line.arms === undefined ? { ...line, conditions: line.conditions.map(currentName) } : line;
}

function withoutType<T extends { readonly type: string }>({ type: _, ...rest }: T): Omit<T, 'type'> {
  return rest;
}

/** A day that was started twice has its first questions twice: the later ones count. */
function latest(rows: readonly QuestionRecord[]): readonly QuestionRecord[] {
  return [...new Map(rows.map((row) => [row.question, row])).values()];
}

/** Undefined when there is no such file or it contains no run. */
export const loadBenchJournal = (file: string): BenchJournal | undefined =>
  existsSync(file) ? readBenchJournal(readFileSync(file, 'utf8')) : undefined;
