import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { asNumber, asObject, asString, isObject, parseJson } from '../../core/json.ts';
import type { Condition, LessonSeen, NightSeen, Row, RunHead } from '../row.ts';

/** What a run left: its head, and all of the days that came to their end. */
export interface Journal {
  readonly head: RunHead;
  readonly rows: readonly Row[];
  readonly lessons: readonly LessonSeen[];
  readonly nights: readonly NightSeen[];
  /** The last day that is complete, per condition and seed. */
  lastDay(condition: Condition, seed: number): number | undefined;
}

export interface JournalWriter {
  row(row: Row): void;
  lesson(lesson: LessonSeen): void;
  night(night: NightSeen): void;
  /** From here on the day counts; on disk when it returns. */
  endDay(condition: Condition, seed: number, day: number): void;
  close(): void;
}

/** Appends to a journal; writes its head first where there is none. */
export function openJournal(file: string, head: RunHead): JournalWriter {
  const isNew = !existsSync(file);
  const descriptor = openSync(file, 'a', 0o600);
  const write = (line: object): void => void writeSync(descriptor, `${JSON.stringify(line)}\n`);
  if (isNew) write({ type: 'head', ...head });
  // A line that a kill cut short must not swallow the next one.
  else writeSync(descriptor, '\n');
  fsyncSync(descriptor);
  return {
    row: (row) => write({ type: 'row', ...row }),
    lesson: (lesson) => write({ type: 'lesson', ...lesson }),
    night: (night) => write({ type: 'night', ...night }),
    endDay: (condition, seed, day) => {
      write({ type: 'day-end', condition, seed, day });
      fsyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
}

/** Rows of a day that did not come to its end do not count: it is done again. Undefined when there is no head. */
export function readJournal(text: string): Journal | undefined {
  let head: RunHead | undefined;
  const rows: Row[] = [];
  const lessons: LessonSeen[] = [];
  const nights: NightSeen[] = [];
  const last = new Map<string, number>();
  let openRows = new Map<string, Row[]>();
  let openLessons = new Map<string, LessonSeen[]>();
  let openNights = new Map<string, NightSeen[]>();
  const keyOf = (line: object): string => {
    const { condition, seed, day } = asObject(line);
    return `${asString(condition)} ${asNumber(seed)} ${asNumber(day)}`;
  };
  const put = <T>(map: Map<string, T[]>, key: string, value: T): void => {
    map.set(key, [...(map.get(key) ?? []), value]);
  };
  for (const part of text.split('\n')) {
    const line = parseJson(part);
    if (!isObject(line)) continue;
    const { type, ...rest } = line;
    // Lines are our own, written whole: what parses is what was meant.
    if (type === 'head') {
      head ??= rest as unknown as RunHead;
      // A run that goes on begins its open days anew.
      openRows = new Map();
      openLessons = new Map();
      openNights = new Map();
    } else if (type === 'row') put(openRows, keyOf(rest), rest as unknown as Row);
    else if (type === 'lesson') put(openLessons, keyOf(rest), rest as unknown as LessonSeen);
    else if (type === 'night') put(openNights, keyOf(rest), rest as unknown as NightSeen);
    else if (type === 'day-end') {
      const key = keyOf(rest);
      rows.push(...latest(openRows.get(key) ?? []));
      lessons.push(...(openLessons.get(key) ?? []));
      nights.push(...(openNights.get(key) ?? []).slice(-1));
      openNights.delete(key);
      openRows.delete(key);
      openLessons.delete(key);
      last.set(`${asString(rest.condition)} ${asNumber(rest.seed)}`, asNumber(rest.day) ?? -1);
    }
  }
  if (head === undefined) return undefined;
  return { head, rows, lessons, nights, lastDay: (condition, seed) => last.get(`${condition} ${seed}`) };
}

/** A day that was begun twice has its first questions twice: the later ones stand. */
function latest(rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [row.question, row])).values()];
}

/** Undefined when there is no such file or it holds no run. */
export const loadJournal = (file: string): Journal | undefined =>
  existsSync(file) ? readJournal(readFileSync(file, 'utf8')) : undefined;
