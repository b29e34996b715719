/** Hours of the day, on the days on which they begin. */
export interface SleepRule {
  /** 0 is Sunday. The day on which it begins: `fri 23:00-07:00` ends on Saturday. */
  readonly days: readonly number[];
  /** Minutes after midnight, 0 to 1439. */
  readonly start: number;
  /** 1 to 1440; not after `start` when it ends on the next day. */
  readonly end: number;
}

type ParsedSleep =
  | { readonly ok: true; readonly rules: readonly SleepRule[] }
  | { readonly ok: false; readonly why: string };

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
const GROUPS: Readonly<Record<string, readonly number[]>> = {
  daily: EVERY_DAY,
  weekdays: [1, 2, 3, 4, 5],
  weekends: [6, 0],
};
const MAX_CHARACTERS = 1000;
const MAX_RULES = 100;
const CLOCK = /^([0-9]{1,2}):([0-9]{2})$/;

/**
 * Parses hours such as `23:00-07:00`, `mon-fri 23:00-07:00, sat,sun 01:00-09:00` or `off`. Times after a comma share the
 * days before them (`mon-fri 12:00-13:00,23:00-07:00`); a day name, a semicolon or the next entry of a list starts
 * over, and hours without days apply to every day. `24:00` is the end of a day. Hours that end when they begin are
 * rejected as a probable mistake; the whole day is `00:00-24:00`.
 */
export function parseSleep(given: string | readonly string[]): ParsedSleep {
  const entries = typeof given === 'string' ? given.split(';') : given.flatMap((entry) => entry.split(';'));
  if (entries.reduce((sum, entry) => sum + entry.length, 0) > MAX_CHARACTERS) {
    return { ok: false, why: `quiet hours are longer than ${MAX_CHARACTERS} characters` };
  }
  const rules: SleepRule[] = [];
  let isOff = false;
  for (const entry of entries) {
    const words = wordsOf(entry);
    if (words.length === 0) continue;
    if (words.length === 1 && words[0] === 'off') {
      isOff = true;
      continue;
    }
    const read = readEntry(words);
    if (!read.ok) return read;
    rules.push(...read.rules);
  }
  if (isOff && rules.length > 0) return { ok: false, why: '"off" cannot be combined with hours' };
  if (!isOff && rules.length === 0) return { ok: false, why: 'no hours are given; use "off" for none' };
  if (rules.length > MAX_RULES) return { ok: false, why: `more than ${MAX_RULES} entries` };
  return { ok: true, rules };
}

const wordsOf = (entry: string): readonly string[] =>
  entry
    .toLowerCase()
    .replaceAll('\u2013', '-')
    .replace(/\s+/g, ' ')
    .replace(/ ?- ?/g, '-')
    .split(/[ ,]/)
    .filter((word) => word !== '');

function readEntry(words: readonly string[]): ParsedSleep {
  const rules: SleepRule[] = [];
  let days: readonly number[] = [];
  let hasTimes = false;
  for (const word of words) {
    const named = readDays(word);
    if (named !== undefined) {
      days = hasTimes ? named : [...days, ...named];
      hasTimes = false;
      continue;
    }
    const stretch = readStretch(word);
    if (stretch === undefined) {
      return { ok: false, why: `${quote(word)} is neither a day nor hours such as 23:00-07:00` };
    }
    if (stretch.start === stretch.end) {
      return { ok: false, why: `${quote(word)} ends when it begins; the whole day is 00:00-24:00` };
    }
    rules.push({ ...stretch, days: days.length === 0 ? EVERY_DAY : [...new Set(days)] });
    hasTimes = true;
  }
  if (!hasTimes) return { ok: false, why: `no hours after ${quote(words.at(-1) ?? '')}` };
  return { ok: true, rules };
}

const quote = (word: string): string => JSON.stringify(word.slice(0, 40));

function readDays(word: string): readonly number[] | undefined {
  const group = Object.hasOwn(GROUPS, word) ? GROUPS[word] : undefined;
  if (group !== undefined) return group;
  const ends = word.split('-').map(readDay);
  const [first, last = first] = ends;
  if (ends.length > 2 || first === undefined || last === undefined) return undefined;
  const count = ((last - first + 7) % 7) + 1;
  return Array.from({ length: count }, (_, index) => (first + index) % 7);
}

const FULL_NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

function readDay(word: string): number | undefined {
  const index = FULL_NAMES.findIndex((name) => word.length >= 3 && name.startsWith(word));
  return index < 0 ? undefined : index;
}

function readStretch(word: string): Pick<SleepRule, 'start' | 'end'> | undefined {
  const [from, to, more] = word.split('-');
  const start = readClock(from);
  const end = readClock(to);
  if (more !== undefined || start === undefined || end === undefined || start === 1440) return undefined;
  return { start, end: end === 0 && start !== 0 ? 1440 : end };
}

function readClock(text: string | undefined): number | undefined {
  const match = CLOCK.exec(text ?? '');
  if (match === null) return undefined;
  const minutes = Number(match[1]) * 60 + Number(match[2]);
  return Number(match[2]) < 60 && minutes <= 1440 ? minutes : undefined;
}
