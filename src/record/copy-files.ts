import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../core/store.ts';
import { openSqliteReader } from './store/sqlite-store.ts';

/** A daily copy of the store. */
export interface CopyFile {
  readonly file: string;
  readonly name: string;
  /** Each copy has the next number, whatever the clock shows. Undefined for copies of earlier versions. */
  readonly number: number | undefined;
  /** When it was made, by the clock of that time. */
  readonly at: number;
  /** It holds at least the facts up to this number. Undefined for copies of earlier versions. */
  readonly facts: number | undefined;
  readonly bytes: number;
}

const NAME = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3}Z)(?:\.(\d+)\.(\d+))?\.sqlite$/;

export const copyName = (at: number, number: number, facts: number): string =>
  `${new Date(at).toISOString().replaceAll(/[:.]/g, '-')}.${number}.${facts}.sqlite`;

/** The copies in a folder, newest first: by number, since dates may be wrong. Other files are left out. */
export function listCopies(dir: string): readonly CopyFile[] {
  if (!existsSync(dir)) return [];
  const found = readdirSync(dir).flatMap((name): CopyFile[] => {
    const [, hour, minutes, seconds, rest, number, facts] = NAME.exec(name) ?? [];
    const stats = statSync(join(dir, name), { throwIfNoEntry: false });
    if (hour === undefined || stats === undefined) return [];
    return [
      {
        file: join(dir, name),
        name,
        number: number === undefined ? undefined : Number(number),
        at: Date.parse(`${hour}:${minutes}:${seconds}.${rest}`),
        facts: facts === undefined ? undefined : Number(facts),
        bytes: stats.size,
      },
    ];
  });
  return found.sort((a, b) => (b.number ?? 0) - (a.number ?? 0) || b.at - a.at);
}

/** What is wrong with a copy: its structure and every row are checked. Undefined when it is sound. */
export function findCopyFault(file: string): string | undefined {
  try {
    const reader = openSqliteReader(file);
    try {
      return reader.check()[0];
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return error.message;
  }
}

/** The newest copy that is sound, with those before it that are not. */
export function findGoodCopy(dir: string): {
  readonly copy: CopyFile | undefined;
  readonly damaged: readonly CopyFile[];
} {
  const damaged: CopyFile[] = [];
  for (const copy of listCopies(dir)) {
    if (findCopyFault(copy.file) === undefined) return { copy, damaged };
    damaged.push(copy);
  }
  return { copy: undefined, damaged };
}

const WEEK = 7;
const WEEKLY = 4;
const MONTH = 28;
const MONTHLY = 3;

/**
 * The copies to delete when the newest `daily` are kept, and beside a week of them one of each of four weeks and of three
 * months. Weeks and months are counted in copies, one a day: a wrong date deletes nothing. The copy with the most facts
 * always stays: a store that was emptied or replaced must not push out the last copy of the full one.
 */
export function copiesToDelete(copies: readonly CopyFile[], daily: number): readonly CopyFile[] {
  const kept = new Set(copies.slice(0, daily));
  const keepEvery = (step: number, count: number): void => {
    const chosen = copies.filter(({ number }) => number !== undefined && number % step === 0);
    for (const copy of chosen.slice(0, count)) kept.add(copy);
  };
  if (daily >= WEEK) {
    keepEvery(WEEK, WEEKLY);
    keepEvery(MONTH, MONTHLY);
  }
  const most = Math.max(...copies.map(({ facts = 0 }) => facts));
  const fullest = copies.find(({ facts = 0 }) => facts === most);
  if (fullest !== undefined) kept.add(fullest);
  return copies.filter((copy) => !kept.has(copy));
}
