import { z } from 'zod';
import type { Json } from '../../../../src/core/json.ts';
import { withStyle } from '../../files/draft.ts';
import { leavesOf } from '../../files/plan.ts';
import { createForm, type Slip } from '../rule-form.ts';
import { fieldExcerpt, matchesOf } from './matches.ts';

/** An amount is written with its unit behind it. */
export const UNITS = createForm({
  name: 'units',
  parameters: z.strictObject({ separator: z.enum([' ', '_', '-', '']) }),
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
