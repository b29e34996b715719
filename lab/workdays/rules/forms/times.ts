import { z } from 'zod';
import { type Draft, withStyle } from '../../files/draft.ts';
import type { Match } from '../../files/match-values.ts';
import { leavesOf } from '../../files/plan.ts';
import { tellClock, tellDate } from '../../files/tell-moment.ts';
import type { Work } from '../../files/work.ts';
import { createForm, type Slip } from '../rule-form.ts';
import { createTimeFormat } from '../time-format.ts';
import { fieldExcerpt, matchesOf } from './matches.ts';

const PARTS = ['YYYY', 'MM', 'DD', 'HH', 'mm'];

/** How nearly every house has written its times at some point. */
const HABITS: readonly (readonly [name: string, pattern: string, why: string])[] = [
  ['in UTC', 'YYYY-MM-DDTHH:mm:ssZ', 'it ends in Z'],
  ['no offset', 'YYYY-MM-DDTHH:mm:ss', 'the offset at the end is missing'],
  ['date only', 'YYYY-MM-DD', 'there is no time of day'],
  ['a space', 'YYYY-MM-DD HH:mm:ss+08:00', 'there is a space in the middle'],
  ['no seconds', 'YYYY-MM-DDTHH:mm+08:00', 'the seconds are missing'],
  ['slashes', 'YYYY/MM/DD HH:mm', 'it is written with slashes'],
  ['day first', 'DD.MM.YYYY HH:mm', 'the day comes first'],
];

/** Every time that is written has one form. */
export const TIMES = createForm({
  name: 'times',
  parameters: z.strictObject({
    format: z.string().refine((format) => PARTS.every((part) => format.includes(part)), {
      error: `must hold ${PARTS.join(', ')}: write a pattern such as YYYY-MM-DDTHH:mm:ss+08:00`,
    }),
  }),
  create: ({ format: pattern }) => {
    const format = createTimeFormat(pattern);
    const timesOf = (work: Work): readonly Match[] => matchesOf(work, 'time');
    const inPattern =
      (other: string) =>
      (draft: Draft): Draft | undefined =>
        other === pattern ? undefined : withStyle(draft, { time: createTimeFormat(other).write });
    const inWords: Slip = {
      name: 'in words',
      why: 'it is written in words',
      make: (draft) =>
        withStyle(draft, { time: (at) => `${tellDate(at, draft.plan.today)}, ${tellClock(at)}` }),
    };
    return {
      appliesTo: (plan) => leavesOf(plan).some(({ is }) => is === 'time'),
      check: (work) => [
        ...timesOf(work).flatMap(({ where, found }) =>
          typeof found === 'string' && format.fits(found)
            ? []
            : [`${where} is ${shown(found)}, not ${pattern}`],
        ),
        ...work.sideTimes.flatMap((said) => (format.fits(said) ? [] : [`${shown(said)} is not ${pattern}`])),
      ],
      obey: (draft) => withStyle(draft, { time: format.write }),
      slips: [...HABITS.map(([name, other, why]): Slip => ({ name, why, make: inPattern(other) })), inWords],
      excerpt: (work) => fieldExcerpt(work, 'time'),
      words: (plan) => {
        const first = leavesOf(plan).find((leaf) => leaf.is === 'time');
        return { format: pattern, example: format.write(first?.at ?? plan.today) };
      },
    };
  },
});

const shown = (found: unknown): string =>
  found === undefined ? 'missing' : JSON.stringify(found).slice(0, 60);
