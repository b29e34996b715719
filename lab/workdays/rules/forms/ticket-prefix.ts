import { z } from 'zod';
import type { Json } from '../../../../src/core/json.ts';
import { withStyle } from '../../files/draft.ts';
import { leavesOf } from '../../files/plan.ts';
import { createForm, type Slip } from '../rule-form.ts';
import { fieldExcerpt, matchesOf } from './matches.ts';

/** A ticket is written with the letters of its board, never as a bare number. */
export const TICKET_PREFIX = createForm({
  name: 'ticket-prefix',
  parameters: z.strictObject({
    prefix: z.string().regex(/^[A-Z]{2,6}[-/:]$/, 'must be capital letters and a sign, such as OPS-'),
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
        slip('small letters', 'the letters are small', (number) => `${prefix.toLowerCase()}${number}`),
        slip(
          'no joint',
          'the sign between letters and number is missing',
          (number) => `${prefix.slice(0, -1)}${number}`,
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
