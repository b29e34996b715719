import path from 'node:path';
import { z } from 'zod';
import { type Draft, type DraftDocument, withDocuments } from '../../files/draft.ts';
import type { NewDocument } from '../../files/plan.ts';
import type { Moment } from '../../world.ts';
import { createForm, type Slip } from '../rule-form.ts';
import { createTimeFormat } from '../time-format.ts';

const CASES = {
  snake_case: { joint: '_', fits: /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/ },
  'kebab-case': { joint: '-', fits: /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/ },
} as const;

/** A file that the task gives no name has a date and its words in one case. */
export const FILE_NAMES = createForm({
  name: 'file-names',
  parameters: z.strictObject({
    date: z.enum(['YYYYMMDD', 'YYYY-MM-DD']),
    place: z.enum(['front', 'end']),
    words: z.enum(['snake_case', 'kebab-case']),
  }),
  create: ({ date, place, words }) => {
    const format = createTimeFormat(date);
    const { joint, fits } = CASES[words];
    const join = (day: string, name: string): string =>
      (place === 'front' ? [day, name] : [name, day]).join(joint);
    const nameOf = ({ about, format: ending }: NewDocument, today: Moment): string =>
      `${join(format.write(today), about.join(joint))}.${ending}`;
    const rename =
      (name: (wanted: NewDocument, today: Moment) => string) =>
      (draft: Draft): Draft =>
        withDocuments(draft, (document) => renamed(document, name(document.wanted, draft.plan.today)));
    const slip = (name: string, why: string, make: (wanted: NewDocument, day: string) => string): Slip => ({
      name,
      why,
      make: rename((wanted, today) => make(wanted, format.write(today))),
    });
    const other = joint === '_' ? '-' : '_';
    return {
      appliesTo: ({ creates }) => creates.some(({ name }) => name === undefined),
      check: ({ created, plan }) =>
        created.flatMap(({ wanted, candidates }) => {
          if (wanted.name !== undefined) return [];
          if (candidates.length === 0) return [`there is no new file in ${wanted.folder}`];
          return candidates.flatMap(({ path: file }) =>
            isNamed(path.posix.basename(file), format.write(plan.today))
              ? []
              : [`${file} is not named as it should be`],
          );
        }),
      obey: rename(nameOf),
      slips: [
        slip('no date', 'there is no date', ({ about, format: end }) => `${about.join(joint)}.${end}`),
        slip(
          'date elsewhere',
          'the date is in the wrong place',
          ({ about, format: end }, day) =>
            `${(place === 'front' ? [about.join(joint), day] : [day, about.join(joint)]).join(joint)}.${end}`,
        ),
        slip(
          'other joints',
          `words in another case than ${words}`,
          ({ about, format: end }, day) => `${join(day, about.join(other))}.${end}`,
        ),
        slip(
          'capitals',
          'it has capital letters',
          ({ about, format: end }, day) => `${join(day, about.map(capital).join(joint))}.${end}`,
        ),
        slip(
          'short year',
          'the year is cut short',
          ({ about, format: end }, day) => `${join(day.slice(2), about.join(joint))}.${end}`,
        ),
        slip(
          'camel case',
          'the words run together',
          ({ about, format: end }, day) =>
            `${join(day, about.map((word, at) => (at === 0 ? word : capital(word))).join(''))}.${end}`,
        ),
      ],
      excerpt: ({ created }) => path.posix.basename(created[0]?.found?.path ?? ''),
      words: ({ creates, today }) => {
        const wanted = creates.find(({ name }) => name === undefined) ?? creates[0];
        return {
          date,
          words,
          today: format.write(today),
          example: wanted === undefined ? '' : nameOf(wanted, today),
          ending: wanted?.format ?? 'json',
        };
      },
    };

    function isNamed(base: string, day: string): boolean {
      const name = base.slice(0, base.length - path.posix.extname(base).length);
      const isDated = place === 'front' ? name.startsWith(day + joint) : name.endsWith(joint + day);
      const rest = place === 'front' ? name.slice(day.length + 1) : name.slice(0, -day.length - 1);
      return (
        isDated && fits.test(rest) && path.posix.extname(base) === path.posix.extname(base).toLowerCase()
      );
    }
  },
});

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const renamed = (document: DraftDocument, name: string): DraftDocument =>
  document.wanted.name === undefined ? { ...document, path: `${document.wanted.folder}/${name}` } : document;
