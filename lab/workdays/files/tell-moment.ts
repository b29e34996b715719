import type { Random } from '../../../src/base/random.ts';
import { MONTH_NAMES } from '../../../src/text/calendar-names.ts';
import { pick } from '../draw.ts';
import type { Moment } from '../world.ts';
import { two } from './plan.ts';

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

const monthOf = ({ month }: Moment): string => MONTH_NAMES[month - 1] ?? '';

/** `March 5`, or `5 March`; with the year where it is another one than today's. */
export function tellDate(at: Moment, today: Moment, isDayFirst = false): string {
  const date = isDayFirst ? `${at.day} ${monthOf(at)}` : `${monthOf(at)} ${at.day}`;
  return at.year === today.year ? date : `${date}${isDayFirst ? '' : ','} ${at.year}`;
}

/** `March 16, 2026` */
export const tellToday = (at: Moment, isDayFirst = false): string =>
  isDayFirst ? `${at.day} ${monthOf(at)} ${at.year}` : `${monthOf(at)} ${at.day}, ${at.year}`;

/** `14:05` */
export const tellClock = ({ hour, minute }: Moment): string => `${hour}:${two(minute)}`;

/** As people say it: `March 5 at half past nine in the morning`. Always to the minute, and never in doubt about the half of the day. */
export function tellMoment(at: Moment, today: Moment, random: Random): string {
  const ways = [
    inWords(at),
    `${at.hour % 12 || 12}:${two(at.minute)} ${at.hour < 12 ? 'am' : 'pm'}`,
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
function inWords({ hour, minute }: Moment): string | undefined {
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
