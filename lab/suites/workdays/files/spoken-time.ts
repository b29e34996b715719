import type { Random } from '../../../../src/base/random.ts';
import { MONTH_NAMES } from '../../../../src/text/calendar-names.ts';
import { pick } from '../draw.ts';
import type { LocalTime } from '../world.ts';
import { twoDigits } from './plan.ts';

const HOURS = [
  'twelve',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
];

const monthOf = ({ month }: LocalTime): string => MONTH_NAMES[month - 1] ?? '';

/** `March 5`, or `5 March`; with the year if it is not this year. */
export function tellDate(at: LocalTime, today: LocalTime, isDayFirst = false): string {
  const date = isDayFirst ? `${at.day} ${monthOf(at)}` : `${monthOf(at)} ${at.day}`;
  return at.year === today.year ? date : `${date}${isDayFirst ? '' : ','} ${at.year}`;
}

/** `March 16, 2026` */
export const tellToday = (at: LocalTime, isDayFirst = false): string =>
  isDayFirst ? `${at.day} ${monthOf(at)} ${at.year}` : `${monthOf(at)} ${at.day}, ${at.year}`;

/** `14:05` */
export const tellClock = ({ hour, minute }: LocalTime): string => `${hour}:${twoDigits(minute)}`;

/** A spoken time, `March 5 at half past nine in the morning`: exact to the minute, unambiguous between morning and evening. */
export function tellMoment(at: LocalTime, today: LocalTime, random: Random): string {
  const ways = [
    inWords(at),
    `${at.hour % 12 || 12}:${twoDigits(at.minute)} ${at.hour < 12 ? 'am' : 'pm'}`,
    tellClock(at),
  ];
  const clock = pick(
    random,
    ways.filter((way) => way !== undefined),
  );
  const isDayFirst = random.below(2) === 0;
  return `${tellDate(at, today, isDayFirst)} at ${clock}`;
}

/** `half past nine in the morning`; only for quarters of an hour. */
function inWords({ hour, minute }: LocalTime): string | undefined {
  const lead: Readonly<Record<number, string>> = {
    0: '',
    15: 'a quarter past ',
    30: 'half past ',
    45: 'a quarter to ',
  };
  const said = lead[minute];
  const spoken = (minute === 45 ? hour + 1 : hour) % 24;
  if (said === undefined || hour < 6 || hour > 22) return undefined;
  const part = hour < 12 ? 'in the morning' : hour < 18 ? 'in the afternoon' : 'in the evening';
  return `${said}${HOURS[spoken % 12] ?? ''} ${part}`;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const LONGEST = 80;

const YEAR_FIRST = /\b(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?!\d)/;
const YEAR_LAST = /\b(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})\b/;
const MONTH_WORD = /\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\b/;
const DAY_WORD = /\b(\d{1,2})(?:st|nd|rd|th)?\b(?![:.]\d)/;
const CLOCK = /(?:^|[^\d:])(\d{1,2})[:.h](\d{2})(?::\d{2}(?:\.\d+)?)?(?:\s?([ap])\.?m\b)?/;
const HOUR = /\b(\d{1,2})\s?([ap])\.?m\b/;
const SPOKEN =
  /\b(?:(half past|quarter past|quarter to) )?(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/;
const LATE = /\b(?:afternoon|evening|noon)\b/;

type Spoken = Pick<LocalTime, 'month' | 'day'> & Partial<LocalTime>;

/**
 * Whether a text in any common notation means this time: the date, with or without the year, and the time of day. The zone is ignored:
 * it is the subject of a house rule.
 */
export function meansMoment(text: string, at: LocalTime): boolean {
  return readMoment(text).some(
    ({ hour, minute, ...date }) => isDate(date, at) && hour === at.hour && minute === at.minute,
  );
}

/** Whether a text means this date, at any time of day. */
export const meansDay = (text: string, at: LocalTime): boolean =>
  readMoment(text).some((spoken) => isDate(spoken, at));

const isDate = (spoken: Spoken, at: LocalTime): boolean =>
  spoken.month === at.month && spoken.day === at.day && (spoken.year ?? at.year) === at.year;

/** The possible readings: with digits alone, day and month cannot be told apart. */
function readMoment(text: string): readonly Spoken[] {
  if (text.length > LONGEST) return [];
  const said = text.toLowerCase();
  const figures = YEAR_FIRST.exec(said);
  if (figures !== null) {
    const [whole, year, month, day] = figures;
    const clock = readClock(said.replace(whole, ' '));
    return [{ year: Number(year), month: Number(month), day: Number(day), ...clock }];
  }
  const turned = YEAR_LAST.exec(said);
  if (turned !== null) {
    const [whole, one, other, year] = turned;
    const clock = { year: Number(year), ...readClock(said.replace(whole, ' ')) };
    return [
      { day: Number(one), month: Number(other), ...clock },
      { month: Number(one), day: Number(other), ...clock },
    ];
  }
  return readWords(said);
}

function readWords(said: string): readonly Spoken[] {
  const word = MONTH_WORD.exec(said);
  if (word === null) return [];
  const year = /\b(20\d{2})\b/.exec(said)?.[1];
  const clock = readClock(said);
  const rest = said
    .replace(CLOCK, ' ')
    .replace(HOUR, ' ')
    .replace(year ?? '\0', ' ');
  const day = DAY_WORD.exec(rest)?.[1];
  if (day === undefined) return [];
  const month = MONTHS.indexOf(word[1] ?? '') + 1;
  return [{ month, day: Number(day), ...(year === undefined ? {} : { year: Number(year) }), ...clock }];
}

type Clock = Partial<Pick<LocalTime, 'hour' | 'minute'>>;

function readClock(said: string): Clock {
  const [, hours, minutes = '0', half] = CLOCK.exec(said) ?? hourAlone(said) ?? [];
  if (hours === undefined) return readSpokenClock(said);
  const hour = Number(hours);
  const minute = Number(minutes);
  if (half === undefined) return { hour: hour < 12 && LATE.test(said) ? hour + 12 : hour, minute };
  return { hour: (hour % 12) + (half === 'p' ? 12 : 0), minute };
}

const hourAlone = (said: string): readonly string[] | undefined => {
  const found = HOUR.exec(said);
  return found === null ? undefined : ['', found[1] ?? '', '0', found[2] ?? ''];
};

/** `a quarter to four in the afternoon` */
function readSpokenClock(said: string): Clock {
  const found = SPOKEN.exec(said);
  if (found === null) return {};
  const [, part, word = ''] = found;
  const minute = part === undefined ? 0 : part === 'half past' ? 30 : part === 'quarter past' ? 15 : 45;
  const isLate = LATE.test(said);
  const spoken = HOURS.indexOf(word) + (part === 'quarter to' ? 11 : 0);
  return { hour: (spoken % 12) + (isLate ? 12 : 0), minute };
}
