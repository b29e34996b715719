import { z } from 'zod';
import type { Json } from '../../../../src/core/json.ts';
import { type WorkDraft, withStyle } from '../files/draft.ts';
import { type Leaf, leavesOf, type Plan, twoDigits } from '../files/plan.ts';
import { tellClock, tellDate } from '../files/spoken-time.ts';
import type { Match, Work } from '../files/work.ts';
import type { LocalTime } from '../world.ts';
import { createForm, type Slip } from './rule-set.ts';

const PARTS = ['YYYY', 'MM', 'DD', 'HH', 'mm', 'ss'] as const;
type Part = (typeof PARTS)[number];

/** A time format such as `YYYY-MM-DDTHH:mm:ss+08:00`. */
interface TimeFormat {
  readonly pattern: string;
  write(at: LocalTime): string;
  /** Whether a text is a valid time in this format. */
  fits(text: string): boolean;
  /** Whether it is one, but with day and month of this time exchanged, as another order of the same figures would have them. */
  isTurned(text: string, at: LocalTime): boolean;
}

export function createTimeFormat(pattern: string): TimeFormat {
  const tokens = tokensOf(pattern);
  const write = (at: LocalTime): string =>
    tokens.map((token) => (isPart(token) ? writePart(token, at) : token)).join('');
  const read = (text: string): Readonly<Record<Part, number>> | undefined => {
    const parts: Record<Part, number> = { YYYY: 2000, MM: 1, DD: 1, HH: 0, mm: 0, ss: 0 };
    let at = 0;
    for (const token of tokens) {
      const piece = text.slice(at, at + token.length);
      at += token.length;
      if (!isPart(token) && piece !== token) return undefined;
      if (isPart(token) && !/^\d+$/.test(piece)) return undefined;
      if (isPart(token)) parts[token] = Number(piece);
    }
    return at === text.length && isOnCalendar(parts) ? parts : undefined;
  };
  return {
    pattern,
    write,
    fits: (text) => read(text) !== undefined,
    isTurned: (text, { month, day }) => {
      const parts = read(text);
      return month !== day && parts?.MM === day && parts.DD === month;
    },
  };
}

function tokensOf(pattern: string): readonly string[] {
  const tokens: string[] = [];
  for (let at = 0; at < pattern.length; ) {
    const token = PARTS.find((part) => pattern.startsWith(part, at)) ?? pattern.charAt(at);
    tokens.push(token);
    at += token.length;
  }
  return tokens;
}

const isPart = (token: string): token is Part => (PARTS as readonly string[]).includes(token);

function writePart(part: Part, { year, month, day, hour, minute }: LocalTime): string {
  const parts: Readonly<Record<Part, string>> = {
    YYYY: String(year),
    MM: twoDigits(month),
    DD: twoDigits(day),
    HH: twoDigits(hour),
    mm: twoDigits(minute),
    ss: '00',
  };
  return parts[part];
}

function isOnCalendar({ YYYY, MM, DD, HH, mm, ss }: Readonly<Record<Part, number>>): boolean {
  const date = new Date(Date.UTC(YYYY, MM - 1, DD));
  return date.getUTCMonth() === MM - 1 && date.getUTCDate() === DD && HH < 24 && mm < 60 && ss < 60;
}

/** The matches of all wanted values of a type. */
const matchesOf = (work: Work, is: Leaf['is']): readonly Match[] =>
  [...work.created, ...work.edited].flatMap(({ matches }) =>
    matches.filter(({ wanted }) => wanted.is === is),
  );

/** The first of them as it was written: `"due": "noon"`. */
function fieldExcerpt(work: Work, is: Leaf['is']): string {
  const match = matchesOf(work, is)[0];
  const key = match?.where
    .split(/[ .]/)
    .at(-1)
    ?.replace(/\[\d+\]$/, '');
  return `"${key ?? ''}": ${JSON.stringify(match?.found ?? null)}`;
}

const REQUIRED_PARTS = ['YYYY', 'MM', 'DD', 'HH', 'mm'];

/** Common time formats, as near misses. */
const HABITS: readonly (readonly [name: string, pattern: string, why: string])[] = [
  ['in UTC', 'YYYY-MM-DDTHH:mm:ssZ', 'it ends in Z'],
  ['no offset', 'YYYY-MM-DDTHH:mm:ss', 'the offset at the end is missing'],
  ['date only', 'YYYY-MM-DD', 'there is no time of day'],
  ['slashes', 'YYYY/MM/DD HH:mm', 'it is written with slashes'],
  ['day first', 'DD.MM.YYYY HH:mm', 'the day comes first'],
];

/** Every time is written in one format. */
export const TIMES = createForm({
  name: 'times',
  parameters: z.strictObject({
    format: z.string().refine((format) => REQUIRED_PARTS.every((part) => format.includes(part)), {
      error: `must hold ${REQUIRED_PARTS.join(', ')}: write a pattern such as YYYY-MM-DDTHH:mm:ss+08:00`,
    }),
  }),
  create: ({ format: pattern }) => {
    const format = createTimeFormat(pattern);
    const timesOf = (work: Work): readonly Match[] => matchesOf(work, 'time');
    const inPattern =
      (other: string) =>
      (draft: WorkDraft): WorkDraft | undefined =>
        timesFor(draft.plan).every((at) => createTimeFormat(other).write(at) === format.write(at))
          ? undefined
          : withStyle(draft, { time: createTimeFormat(other).write });
    const inWords: Slip = {
      name: 'in words',
      why: 'it is written in words',
      make: (draft) =>
        withStyle(draft, { time: (at) => `${tellDate(at, draft.plan.today)}, ${tellClock(at)}` }),
    };
    return {
      appliesTo: (plan) => leavesOf(plan).some(({ is }) => is === 'time'),
      check: (work) => [
        ...timesOf(work).flatMap(({ where, wanted, found }) =>
          typeof found === 'string' &&
          format.fits(found) &&
          !(wanted.is === 'time' && format.isTurned(found, wanted.at))
            ? []
            : [`${where} is ${shown(found)}, not ${pattern}`],
        ),
        ...work.sideTimes.flatMap((said) => (format.fits(said) ? [] : [`${shown(said)} is not ${pattern}`])),
      ],
      obey: (draft) => withStyle(draft, { time: format.write }),
      slips: [
        ...[
          ...HABITS,
          ['a space', pattern.replace(/(?<=D)T|T(?=[DMY])/, ' '), 'there is a space in the middle'] as const,
          ['no seconds', pattern.replace(/[:.]ss/, ''), 'the seconds are missing'] as const,
        ].map(([name, other, why]): Slip => ({ name, why, make: inPattern(other) })),
        inWords,
      ],
      excerpt: (work) => fieldExcerpt(work, 'time'),
      words: (plan) => {
        const first = leavesOf(plan).find((leaf) => leaf.is === 'time');
        return { format: pattern, example: format.write(first?.at ?? plan.today) };
      },
    };
  },
});

const timesFor = (plan: Plan): readonly LocalTime[] =>
  leavesOf(plan).flatMap((leaf) => (leaf.is === 'time' ? [leaf.at] : []));

const shown = (found: unknown): string =>
  found === undefined ? 'missing' : JSON.stringify(found).slice(0, 60);

/** A ticket is written with the prefix of its board, never as a bare number. */
export const TICKET_PREFIX = createForm({
  name: 'ticket-prefix',
  parameters: z.strictObject({
    prefix: z.string().regex(/^[A-Za-z]{1,8}[-/:.#_~+=]{0,3}$/, 'must be letters and a sign, such as OPS-'),
  }),
  create: ({ prefix }) => {
    const slip = (name: string, why: string, ticket: (number: number) => Json): Slip => ({
      name,
      why,
      make: (draft) => withStyle(draft, { ticket }),
    });
    return {
      appliesTo: (plan) => leavesOf(plan).some(({ is }) => is === 'ticket'),
      check: (work) =>
        matchesOf(work, 'ticket').flatMap(({ where, wanted, found }) => {
          const right = wanted.is === 'ticket' ? `${prefix}${wanted.number}` : '';
          const isWritten =
            typeof found === 'string' && found.startsWith(prefix) && /^\d+$/.test(found.slice(prefix.length));
          return isWritten ? [] : [`${where} is ${JSON.stringify(found ?? null)}, not like ${right}`];
        }),
      obey: (draft) => withStyle(draft, { ticket: (number) => `${prefix}${number}` }),
      slips: [
        slip('as text', 'it is the bare number', (number) => String(number)),
        slip('hash', 'it has a # in front', (number) => `#${number}`),
        slip(
          'small letters',
          'small and capital letters mixed up',
          (number) => `${swapCase(prefix)}${number}`,
        ),
        slip('no joint', 'the sign between letters and number is another one', (number) =>
          /\W$|_$/.test(prefix) ? `${prefix.replace(/[\W_]+$/, '')}${number}` : `${prefix}-${number}`,
        ),
        slip('a space', 'there is a space in it', (number) => `${prefix} ${number}`),
        slip(
          'other letters',
          'those are the letters of another board',
          (number) => `${prefix === 'T-' ? 'X-' : 'T-'}${number}`,
        ),
      ],
      excerpt: (work) => fieldExcerpt(work, 'ticket'),
      words: (plan) => {
        const leaf = leavesOf(plan).find((one) => one.is === 'ticket');
        const number = String(leaf?.number ?? 412);
        return { prefix, number, example: prefix + number };
      },
    };
  },
});

const swapCase = (letters: string): string =>
  letters === letters.toLowerCase() ? letters.toUpperCase() : letters.toLowerCase();

/** An amount is followed by its unit. */
export const UNITS = createForm({
  name: 'units',
  parameters: z.strictObject({
    separator: z
      .string()
      .regex(/^[^\d\n()]{0,8}$/, 'must be what stands between number and unit, such as a space'),
  }),
  create: ({ separator }) => {
    const write = (number: number, unit: string): string => `${number}${separator}${unit}`;
    const slip = (name: string, why: string, amount: (number: number, unit: string) => Json): Slip => ({
      name,
      why,
      make: (draft) => withStyle(draft, { amount }),
    });
    const other = separator === ' ' ? '' : ' ';
    return {
      appliesTo: (plan) => leavesOf(plan).some(({ is }) => is === 'amount'),
      check: (work) =>
        matchesOf(work, 'amount').flatMap(({ where, wanted, found }) => {
          if (wanted.is !== 'amount') return [];
          const isWritten =
            typeof found === 'string' &&
            found.endsWith(separator + wanted.unit) &&
            /^\d+(?:\.\d+)?$/.test(found.slice(0, -(separator + wanted.unit).length));
          return isWritten
            ? []
            : [`${where} is ${JSON.stringify(found ?? null)}, not like ${write(wanted.number, wanted.unit)}`];
        }),
      obey: (draft) => withStyle(draft, { amount: write }),
      slips: [
        slip('as text', 'the unit is missing', (number) => String(number)),
        slip('unit first', 'the unit stands in front', (number, unit) => `${unit} ${number}`),
        slip('in brackets', 'the unit is in brackets', (number, unit) => `${number}${separator}(${unit})`),
        slip(
          'other joint',
          'number and unit joined in another way',
          (number, unit) => `${number}${other}${unit}`,
        ),
        slip('capitals', 'the unit is spelt in another way', (number, unit) =>
          write(number, unit === unit.toUpperCase() ? unit.toLowerCase() : unit.toUpperCase()),
        ),
      ],
      excerpt: (work) => fieldExcerpt(work, 'amount'),
      words: (plan) => {
        const leaf = leavesOf(plan).find((one) => one.is === 'amount');
        const { number, unit } = leaf ?? { number: 350, unit: 'EUR' };
        return { number: String(number), unit, example: write(number, unit) };
      },
    };
  },
});
