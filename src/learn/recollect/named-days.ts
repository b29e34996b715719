import type { NamedTime } from '../../core/recollection.ts';
import { writtenDay, writtenMonth } from '../../text/phrases.ts';
import { NUMBER_WORDS } from '../memory/write/claim-words.ts';

/** The words of these languages are taken from the platform, which knows them for every language; a year's worth is enough. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'ru', 'tr', 'zh', 'ja', 'ko'];
const FARTHEST = { day: 14, week: 8, month: 12, year: 5 } as const;
type Unit = keyof typeof FARTHEST;

interface Distance {
  readonly unit: Unit;
  readonly count: number;
}

/** A time that words name, and how people write it. */
export interface TimeSpan extends NamedTime {
  readonly from: number;
  /** The first moment behind it. */
  readonly to: number;
}

interface Calendar {
  /** "yesterday", "vor 2 wochen", "先月": every phrase with what it means. Shorter than two letters means too many things. */
  readonly phrases: ReadonlyMap<string, Distance>;
  /** By its name: 0 is Sunday, and January. */
  readonly weekdays: ReadonlyMap<string, number>;
  readonly months: ReadonlyMap<string, number>;
}

let calendar: Calendar | undefined;

const fold = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}+/gu, '');
const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

function readCalendar(): Calendar {
  if (calendar !== undefined) return calendar;
  const [phrases, weekdays, months] = [
    new Map<string, Distance>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  for (const language of LANGUAGES) {
    for (const numeric of ['auto', 'always'] as const) {
      const format = new Intl.RelativeTimeFormat(language, { numeric });
      for (const unit of Object.keys(FARTHEST) as Unit[])
        for (let count = -FARTHEST[unit]; count <= FARTHEST[unit]; count++) {
          const phrase = format.format(count, unit);
          const key = HAN.test(phrase) ? phrase : fold(phrase);
          if (key.length > 1 && (numeric === 'auto' || count !== 0)) phrases.set(key, { unit, count });
        }
    }
    const long = new Intl.DateTimeFormat(language, { weekday: 'long', month: 'long', day: 'numeric' });
    const alone = new Intl.DateTimeFormat(language, { month: 'long' });
    for (let nth = 0; nth < 12; nth++) {
      // The first of February 2026 is a Sunday.
      const [day, month] = [new Date(2026, 1, 1 + (nth % 7)), new Date(2026, nth, 1)];
      for (const { type, value } of long.formatToParts(day))
        if (type === 'weekday') weekdays.set(fold(value), nth % 7);
      for (const { type, value } of [...long.formatToParts(month), ...alone.formatToParts(month)])
        if (type === 'month' && /\p{L}/u.test(value)) months.set(fold(value), nth);
    }
  }
  calendar = { phrases, weekdays, months };
  return calendar;
}

/** A word, folded, with its place in the text. */
interface Token {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

const tokensIn = (text: string): readonly Token[] =>
  [...text.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)].map(({ 0: word, index }) => ({
    word: fold(word).replace('’', "'"),
    from: index,
    to: index + word.length,
  }));

/** A time that is named by `count` words. */
interface Found {
  readonly count: number;
  readonly span: Omit<TimeSpan, 'words'>;
}

type ReadAt = (tokens: readonly Token[], at: number, now: Date) => Found | undefined;

/** The times that a text names by their distance from the moment at which it was said; each phrase once. */
export const readTimeSpans = (text: string, at: number): readonly TimeSpan[] =>
  readSpans(text, at, [readRelative, readLast]);

/** The times that a question asks about: these, and days, weekdays and months by their names, the latest that are not to come. */
export const readAskedTimes = (text: string, now: number): readonly TimeSpan[] =>
  readSpans(text, now, [readRelative, readLast, readDate, readMonth, readWeekday]);

/** The same as they are written beside a quotation. */
export const readNamedTimes = (text: string, at: number): readonly NamedTime[] =>
  readTimeSpans(text, at).map(({ words, means }) => ({ words, means }));

function readSpans(text: string, at: number, readers: readonly ReadAt[]): readonly TimeSpan[] {
  const now = new Date(at);
  const spans = new Map<string, TimeSpan>();
  const add = (words: string, span: Found['span']): void => {
    if (!spans.has(words)) spans.set(words, { words, ...span });
  };
  const tokens = tokensIn(text);
  for (let nth = 0; nth < tokens.length; ) {
    const found = readers.reduce<Found | undefined>(
      (first, read) => first ?? read(tokens, nth, now),
      undefined,
    );
    if (found !== undefined)
      add(text.slice(tokens[nth]?.from, tokens[nth + found.count - 1]?.to).toLowerCase(), found.span);
    nth += found?.count ?? 1;
  }
  // Scripts without spaces.
  if (HAN.test(text))
    for (const [words, distance] of readCalendar().phrases)
      if (HAN.test(words) && text.includes(words)) add(words, spanOf(distance, now));
  return [...spans.values()];
}

const MOST_WORDS = 5;
const ONE: ReadonlySet<string> = new Set(['an', 'einem', 'einer', 'einen', 'un', 'une', 'una', 'um', 'uma']);

/** "two weeks ago", "a week ago" and "vor einer Woche" stand in the table with digits. */
const spellings = (words: readonly string[]): readonly string[] => {
  const numbered = words.map((word) => NUMBER_WORDS.get(word) ?? word);
  const one = numbered.map((word) => (ONE.has(word) ? '1' : word));
  return [words, numbered, one, one.map((word) => (word === 'a' ? '1' : word))].map((each) => each.join(' '));
};

const readRelative: ReadAt = (tokens, at, now) => {
  const { phrases } = readCalendar();
  for (let count = Math.min(MOST_WORDS, tokens.length - at); count > 0; count--) {
    const keys = spellings(tokens.slice(at, at + count).map(({ word }) => word));
    const distance = keys.flatMap((key) => phrases.get(key) ?? [])[0];
    if (distance !== undefined) return { count, span: spanOf(distance, now) };
  }
  return undefined;
};

const LAST = /^(?:last|letzt\w*|vergangen\w*|dernier|pasado|passado|scorso|vorige|afgelopen)$/;

/** "last Friday", "vendredi dernier", "last weekend", "last night". */
const readLast: ReadAt = (tokens, at, now) => {
  const pair = [tokens[at]?.word ?? '', tokens[at + 1]?.word ?? ''];
  const [other] = pair.filter((word) => !LAST.test(word));
  if (other === undefined || pair.every((word) => !LAST.test(word))) return undefined;
  if (other === 'night') return { count: 2, span: daySpan(dayBefore(now, 1)) };
  if (other === 'weekend') {
    const saturday = dayBefore(now, now.getDay() === 0 ? 8 : now.getDay() + 1);
    return { count: 2, span: { ...daysFrom(saturday, 2), means: `the weekend of ${writtenDay(saturday)}` } };
  }
  const weekday = readCalendar().weekdays.get(other);
  return weekday === undefined ? undefined : { count: 2, span: lastWeekday(weekday, now) };
};

const readWeekday: ReadAt = (tokens, at, now) => {
  const weekday = readCalendar().weekdays.get(tokens[at]?.word ?? '');
  return weekday === undefined ? undefined : { count: 1, span: lastWeekday(weekday, now) };
};

const ISO = /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?$/;
const DAY = /^(\d{1,2})(?:st|nd|rd|th|er)?$/;
const YEAR = /^(?:19|20)\d\d$/;
const OF: ReadonlySet<string> = new Set(['of', 'de', 'del']);

/** "2026-05-03", "3 May", "May 3rd, 2026". */
const readDate: ReadAt = (tokens, at, now) => {
  const [, isoYear, isoMonth, isoDay] = ISO.exec(tokens[at]?.word ?? '') ?? [];
  if (isoYear !== undefined) {
    const [year, month] = [Number(isoYear), Number(isoMonth) - 1];
    const span =
      isoDay === undefined ? monthSpan(year, month) : daySpan(new Date(year, month, Number(isoDay)));
    return { count: 1, span };
  }
  const isOf = OF.has(tokens[at + 1]?.word ?? '');
  const second = at + (isOf ? 2 : 1);
  const pair = [tokens[at]?.word ?? '', tokens[second]?.word ?? ''];
  const months = pair.map((word) => readCalendar().months.get(word));
  const days = pair.map((word) => DAY.exec(word)?.[1]);
  const [month, day] = [months[0] ?? months[1], Number(days[0] ?? days[1])];
  if (month === undefined || !(day >= 1 && day <= 31)) return undefined;
  const behind = second + (OF.has(tokens[second + 1]?.word ?? '') ? 2 : 1);
  const named = tokens[behind]?.word ?? '';
  const year = YEAR.test(named) ? Number(named) : now.getFullYear();
  const date = new Date(year, month, day);
  const count = (YEAR.test(named) ? behind : second) - at + 1;
  return { count, span: daySpan(date > now ? new Date(year - 1, month, day) : date) };
};

const BEFORE_MONTH: ReadonlySet<string> = new Set(
  'in im en em w в nel last of during since letzten'.split(' '),
);

/** "in March", "March 2026", "in 2025". A month's name alone may be another word. */
const readMonth: ReadAt = (tokens, at, now) => {
  const before = tokens[at - 1]?.word ?? '';
  const [word, next] = [tokens[at]?.word ?? '', tokens[at + 1]?.word ?? ''];
  if (YEAR.test(word) && BEFORE_MONTH.has(before)) return { count: 1, span: yearSpan(Number(word)) };
  const month = readCalendar().months.get(word);
  if (month === undefined) return undefined;
  if (YEAR.test(next)) return { count: 2, span: monthSpan(Number(next), month) };
  if (!BEFORE_MONTH.has(before)) return undefined;
  return { count: 1, span: monthSpan(now.getFullYear() - Number(month > now.getMonth()), month) };
};

const dayBefore = (now: Date, days: number): Date =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
const daysFrom = (first: Date, days: number): Pick<TimeSpan, 'from' | 'to'> => ({
  from: dayBefore(first, 0).getTime(),
  to: dayBefore(first, -days).getTime(),
});
const daySpan = (day: Date): Found['span'] => ({ ...daysFrom(day, 1), means: writtenDay(day) });
const lastWeekday = (weekday: number, now: Date): Found['span'] =>
  daySpan(dayBefore(now, ((now.getDay() - weekday + 6) % 7) + 1));
const monthSpan = (year: number, month: number): Found['span'] => ({
  from: new Date(year, month, 1).getTime(),
  to: new Date(year, month + 1, 1).getTime(),
  means: writtenMonth(new Date(year, month, 1)),
});
const yearSpan = (year: number): Found['span'] => ({
  from: new Date(year, 0, 1).getTime(),
  to: new Date(year + 1, 0, 1).getTime(),
  means: String(year),
});

function spanOf({ unit, count }: Distance, said: Date): Found['span'] {
  const [year, month] = [said.getFullYear(), said.getMonth()];
  if (unit === 'year') return yearSpan(year + count);
  if (unit === 'month')
    return monthSpan(new Date(year, month + count, 1).getFullYear(), (((month + count) % 12) + 12) % 12);
  const there = dayBefore(said, -count * (unit === 'week' ? 7 : 1));
  if (unit === 'day') return daySpan(there);
  // A week is the one that the day stands in, from its Monday.
  const monday = dayBefore(there, (there.getDay() + 6) % 7);
  return { ...daysFrom(monday, 7), means: `the week of ${writtenDay(there)}` };
}
