import type { Moment } from '../world.ts';

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
const LATE = /\b(?:afternoon|evening|noon)\b/;

type Spoken = Pick<Moment, 'month' | 'day'> & Partial<Moment>;

/**
 * Whether a text, written however people write times, means this moment: a date, with the year or without, and the time of
 * day. The zone is left out of it: what a house wants there is a rule of its own.
 */
export function meansMoment(text: string, at: Moment): boolean {
  return readMoment(text).some(
    ({ hour, minute, ...date }) => isDate(date, at) && hour === at.hour && minute === at.minute,
  );
}

/** Whether it means some time on this day. */
export const meansDay = (text: string, at: Moment): boolean =>
  readMoment(text).some((spoken) => isDate(spoken, at));

const isDate = (spoken: Spoken, at: Moment): boolean =>
  spoken.month === at.month && spoken.day === at.day && (spoken.year ?? at.year) === at.year;

/** What it could mean: with figures alone nobody knows whether the day or the month comes first. */
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

type Clock = Partial<Pick<Moment, 'hour' | 'minute'>>;

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
