import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Json } from '../../../../src/core/json.ts';
import { type WorkDraft, withStyle } from '../files/draft.ts';
import { type Leaf, leavesOf, PLAIN_STYLE, type Plan, type TextRole, writeLeaf } from '../files/plan.ts';
import type { Match, Work } from '../files/work.ts';
import { type AnyRuleForm, createForm, type Slip } from './rule-set.ts';
import { createTimeFormat } from './value-forms.ts';

/** A type of value that a notation can be prescribed for. */
interface Target {
  is(leaf: Leaf): boolean;
  /** Whether a text can be such a value as it comes, without anything around it. */
  isPlain(said: string): boolean;
  /** For wordings about a task that has none. */
  readonly sample: Leaf;
}

const isFigure = (said: string): boolean => /^\d+(?:\.\d+)?$/.test(said);
const isWords = (said: string): boolean => /^[\p{L}\d](?:.{0,200}[\p{L}\d])?$/u.test(said);
const textTarget = (role: TextRole, sample: string): Target => ({
  is: (leaf) => leaf.is === 'text' && leaf.role === role,
  isPlain: isWords,
  sample: { is: 'text', text: sample, role },
});
const numberTarget = (is: 'ticket' | 'count' | 'share', number: number): Target => ({
  is: (leaf) => leaf.is === is,
  isPlain: isFigure,
  sample: { is, number },
});

export const TARGETS = {
  ticket: numberTarget('ticket', 412),
  count: numberTarget('count', 27),
  share: numberTarget('share', 35),
  amount: {
    is: (leaf) => leaf.is === 'amount',
    isPlain: isFigure,
    sample: { is: 'amount', number: 350, unit: 'EUR' },
  },
  date: {
    is: (leaf) => leaf.is === 'date',
    isPlain: (said) => /^\d.{6,20}$/.test(said),
    sample: { is: 'date', at: { year: 2026, month: 3, day: 16, hour: 12, minute: 0 } },
  },
  person: textTarget('person', 'Ada'),
  title: textTarget('title', 'heron'),
  state: textTarget('state', 'todo'),
  item: textTarget('item', 'weekly'),
} as const satisfies Readonly<Record<string, Target>>;
export type TargetName = keyof typeof TARGETS;

/** What is done with a value; one implementation for all targets. */
interface Operation<P> {
  readonly parameters: z.ZodType<P>;
  create(parameters: P): Notation;
}

interface Notation {
  write(plain: string, leaf: Leaf): Json;
  /** Whether a value has this notation, whatever it says. */
  fits(found: Json, leaf: Leaf, target: Target): boolean;
  readonly slips: readonly (readonly [
    name: string,
    why: string,
    write: (plain: string, leaf: Leaf) => Json,
  ])[];
  readonly words: Readonly<Record<string, string>>;
}

const MARK = z.string().regex(/^[^\n"'\\{}]{1,16}$/, 'must be some signs or a short word');

/** The text between two marks; undefined if it has not both. */
const between = (found: Json, left: string, right: string): string | undefined =>
  typeof found === 'string' &&
  found.length > left.length + right.length &&
  found.startsWith(left) &&
  found.endsWith(right)
    ? found.slice(left.length, found.length - right.length)
    : undefined;

function surrounded(left: string, right: string): Notation {
  const both = left + right;
  const other = both.includes('*') ? '=' : '*';
  const write = (plain: string): string => left + plain + right;
  return {
    write,
    fits: (found, _, { isPlain }) => isPlain(between(found, left, right) ?? ''),
    slips: [
      ['as it comes', 'nothing stands around it', (plain) => plain],
      ['other side', 'it stands on the other side', (plain) => right + plain + left],
      [
        'a space',
        'there is a space too many',
        (plain) => `${left}${left === '' ? '' : ' '}${plain}${right === '' ? '' : ' '}${right}`,
      ],
      [
        'other sign',
        'those are other signs',
        (plain) => (left === '' ? plain + other : other + plain + (right && other)),
      ],
      ['cut short', 'a part of it is missing', (plain) => left.slice(0, -1) + plain + right.slice(1)],
      [
        'other letters',
        'small and capital letters mixed up',
        (plain) => swapCase(left) + plain + swapCase(right),
      ],
    ],
    words: { mark: both, left, right },
  };
}

const swapCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();

const CASES = {
  upper: { write: (plain: string) => plain.toUpperCase(), said: 'in capital letters' },
  lower: { write: (plain: string) => plain.toLowerCase(), said: 'in small letters' },
  capital: {
    write: (plain: string) => plain.charAt(0).toUpperCase() + plain.slice(1),
    said: 'with a capital first letter',
  },
} as const;
/** The letters of a text in one case. */
const LETTER_CASES = Object.keys(CASES) as [keyof typeof CASES];

const numberOf = (leaf: Leaf): number => ('number' in leaf ? leaf.number : 0);
const padded = (leaf: Leaf, width: number): string => String(numberOf(leaf)).padStart(width, '0');

const operation = <P>(one: Operation<P>): Operation<P> => one;

export const OPERATIONS = {
  prefix: operation({
    parameters: z.strictObject({ mark: MARK }),
    create: ({ mark }) => surrounded(mark, ''),
  }),
  suffix: operation({
    parameters: z.strictObject({ mark: MARK }),
    create: ({ mark }) => surrounded('', mark),
  }),
  surround: operation({
    parameters: z.strictObject({ left: MARK, right: MARK }),
    create: ({ left, right }) => surrounded(left, right),
  }),
  case: operation({
    parameters: z.strictObject({ case: z.enum(LETTER_CASES) }),
    create: ({ case: name }): Notation => {
      const { write, said } = CASES[name];
      return {
        write,
        fits: (found) => typeof found === 'string' && /\p{L}/u.test(found) && write(found) === found,
        slips: [
          ['as it comes', 'it is left as it came', (plain) => plain],
          ['upper', 'it is all in capitals', (plain) => plain.toUpperCase()],
          ['lower', 'it is all in small letters', (plain) => plain.toLowerCase()],
          [
            'last letter',
            'the wrong letter is a capital',
            (plain) => plain.slice(0, -1).toLowerCase() + plain.slice(-1).toUpperCase(),
          ],
        ],
        words: { case: said },
      };
    },
  }),
  pad: operation({
    parameters: z.strictObject({ width: z.int().min(2).max(12) }),
    create: ({ width }): Notation => ({
      write: (_, leaf) => padded(leaf, width),
      fits: (found) => typeof found === 'string' && /^\d+$/.test(found) && found.length === width,
      slips: [
        ['as it comes', 'it is as short as it came', (plain) => plain],
        ['one short', 'a zero is missing', (_, leaf) => padded(leaf, width - 1)],
        ['one more', 'there is a zero too many', (_, leaf) => padded(leaf, width + 1)],
        ['behind', 'the zeros are on the wrong side', (plain) => `${plain}${'0'.repeat(width)}`],
      ],
      words: { width: String(width) },
    }),
  }),
  decimals: operation({
    parameters: z.strictObject({ places: z.int().min(1).max(6), sign: z.enum(['.', ',']) }),
    create: ({ places, sign }): Notation => {
      const write = (leaf: Leaf, digits: number, point: string): string =>
        `${numberOf(leaf)}${point}${'0'.repeat(digits)}`;
      return {
        write: (_, leaf) => write(leaf, places, sign),
        fits: (found) => {
          const [whole = '', rest = '', ...more] = typeof found === 'string' ? found.split(sign) : [];
          return /^\d+$/.test(whole) && /^\d+$/.test(rest) && rest.length === places && more.length === 0;
        },
        slips: [
          ['as it comes', 'it has no decimal places', (plain) => plain],
          [
            'one less',
            'a decimal place is missing',
            (_, leaf) => (places === 1 ? write(leaf, 0, '') : write(leaf, places - 1, sign)),
          ],
          ['one more', 'there is a decimal place too many', (_, leaf) => write(leaf, places + 1, sign)],
          [
            'other sign',
            'it has the other sign in it',
            (_, leaf) => write(leaf, places, sign === '.' ? ',' : '.'),
          ],
        ],
        words: { places: String(places), sign },
      };
    },
  }),
  'unit-first': operation({
    parameters: z.strictObject({
      separator: z.string().regex(/^[^\d\n()"'\\]{0,8}$/, 'must be what stands between unit and number'),
    }),
    create: ({ separator }): Notation => {
      const unitOf = (leaf: Leaf): string => (leaf.is === 'amount' ? leaf.unit : '');
      return {
        write: (plain, leaf) => unitOf(leaf) + separator + plain,
        fits: (found, leaf) => isFigure(between(found, unitOf(leaf) + separator, '') ?? ''),
        slips: [
          ['as it comes', 'there is no unit', (plain) => plain],
          ['unit last', 'the unit stands behind', (plain, leaf) => plain + separator + unitOf(leaf)],
          [
            'other joint',
            'they are joined in another way',
            (plain, leaf) => unitOf(leaf) + (separator === ' ' ? '' : ' ') + plain,
          ],
          [
            'capitals',
            'the unit is spelt in another way',
            (plain, leaf) => swapCase(unitOf(leaf)) + separator + plain,
          ],
        ],
        words: { separator },
      };
    },
  }),
  format: operation({
    parameters: z.strictObject({
      format: z.string().refine((format) => ['YYYY', 'MM', 'DD'].every((part) => format.includes(part)), {
        error: 'must hold YYYY, MM and DD: write a pattern such as DD.MM.YYYY',
      }),
    }),
    create: ({ format: pattern }): Notation => {
      const format = createTimeFormat(pattern);
      const inPattern = (other: string) => (_: string, leaf: Leaf) =>
        'at' in leaf ? createTimeFormat(other).write(leaf.at) : '';
      return {
        write: inPattern(pattern),
        fits: (found, leaf) =>
          typeof found === 'string' &&
          format.fits(found) &&
          !('at' in leaf && format.isTurned(found, leaf.at)),
        slips: [
          ['as it comes', 'it is left as it came', inPattern('YYYY-MM-DD')],
          ['slashes', 'it is written with slashes', inPattern('YYYY/MM/DD')],
          ['dots', 'it is written with dots', inPattern('DD.MM.YYYY')],
          ['month first', 'the month comes first', inPattern('MM/DD/YYYY')],
          ['no year', 'there is no year', inPattern('DD.MM.')],
        ],
        words: { format: pattern },
      };
    },
  }),
  replace: operation({
    parameters: z.strictObject({ names: z.record(z.string(), z.string().min(1)) }),
    create: ({ names }): Notation => {
      const pairs = Object.entries(names);
      return {
        write: (plain) => names[plain] ?? plain,
        fits: (found, leaf) =>
          leaf.is !== 'text' || names[leaf.text] === undefined
            ? typeof found === 'string' && !(found in names)
            : found === names[leaf.text],
        slips: [
          ['as it comes', 'the word is still there', (plain) => plain],
          ['another word', 'it is another word', (plain) => (plain in names ? `${plain} now` : plain)],
          ['capitals', 'the word is in capitals', (plain) => (names[plain] ?? plain).toUpperCase()],
        ],
        words: { pairs: pairs.map(([from, to]) => `"${to}" for "${from}"`).join(', ') },
      };
    },
  }),
  shorten: operation({
    parameters: z.strictObject({ length: z.int().min(1).max(12) }),
    create: ({ length }): Notation => ({
      write: (plain) => plain.slice(0, length).trimEnd(),
      fits: (found) => typeof found === 'string' && found !== '' && found.length <= length,
      slips: [
        ['as it comes', 'it is as long as it came', (plain) => plain],
        ['one more', 'it is a letter too long', (plain) => plain.slice(0, length + 1)],
        ['dots', 'there are dots behind it', (plain) => `${plain.slice(0, length)}...`],
      ],
      words: { length: String(length) },
    }),
  }),
  fraction: operation({
    parameters: z.strictObject({ lead: MARK }),
    create: ({ lead }): Notation => ({
      write: (_, leaf) => `${lead}${padded(leaf, 2)}`,
      fits: (found) => /^\d{2}$/.test(between(found, lead, '') ?? ''),
      slips: [
        ['as it comes', 'it is still in per cent', (plain) => plain],
        ['per cent', 'it is still in per cent', (plain) => `${plain} %`],
        ['one digit more', 'there is a digit too many', (_, leaf) => `${lead}${padded(leaf, 2)}0`],
        [
          'other lead',
          'it begins in another way',
          (_, leaf) => `${lead === '1:' ? '2:' : '1:'}${padded(leaf, 2)}`,
        ],
      ],
      words: { lead },
    }),
  }),
} as const;
export type OperationName = keyof typeof OPERATIONS;

const plainOf = (leaf: Leaf): string => String(writeLeaf(leaf, PLAIN_STYLE));

/** The form of a rule that one operation is done with every value of one type in JSON; signs have a meaning of their own in Markdown. */
export function createNotationForm(targetName: TargetName, operationName: OperationName): AnyRuleForm {
  const target: Target = TARGETS[targetName];
  const { parameters, create } = OPERATIONS[operationName] as Operation<unknown>;
  return createForm({
    name: `${targetName}-${operationName}`,
    parameters,
    create: (given) => {
      const notation = create(given);
      const ownOf = (plan: Plan): readonly Leaf[] =>
        leavesOf({ ...plan, creates: plan.creates.filter(({ format }) => format === 'json') }).filter(
          target.is,
        );
      const fits = (found: Json, leaf: Leaf): boolean => notation.fits(found, leaf, target);
      const written = (leaf: Leaf): Json => notation.write(plainOf(leaf), leaf);
      const isOpen = (leaf: Leaf): boolean => !fits(writeLeaf(leaf, PLAIN_STYLE), leaf);
      const matchesOf = ({ created, edited }: Work): readonly Match[] =>
        [...created.filter(({ wanted }) => wanted.format === 'json'), ...edited].flatMap(({ matches }) =>
          matches.filter(({ wanted }) => target.is(wanted)),
        );
      const slip = ([name, why, write]: Notation['slips'][number]): Slip => ({
        ...{ name, why },
        make: (draft) =>
          ownOf(draft.plan).every((leaf) => fits(write(plainOf(leaf), leaf), leaf))
            ? undefined
            : restyled(draft, target, (leaf) => write(plainOf(leaf), leaf)),
      });
      return {
        appliesTo: (plan) => ownOf(plan).some(isOpen),
        check: (work) =>
          matchesOf(work).flatMap(({ where, wanted, found }) =>
            found !== undefined && fits(found, wanted)
              ? []
              : [
                  `${where} is ${JSON.stringify(found ?? null).slice(0, 60)}, not like ${JSON.stringify(written(wanted))}`,
                ],
          ),
        reading: { means: (wanted, found) => target.is(wanted) && isDeepStrictEqual(found, written(wanted)) },
        obey: (draft) => restyled(draft, target, written),
        slips: notation.slips.map(slip),
        excerpt: (work) => {
          const all = matchesOf(work);
          const match = all.find(({ wanted }) => isOpen(wanted)) ?? all[0];
          return `"${match?.where.split('.').at(-1) ?? ''}": ${JSON.stringify(match?.found ?? null)}`;
        },
        words: (plan) => {
          const own = ownOf(plan);
          const leaf = own.find(isOpen) ?? own[0] ?? target.sample;
          return { ...notation.words, plain: plainOf(leaf), example: String(written(leaf)) };
        },
      };
    },
  });
}

/** The same work with the values of a target written in another way. */
function restyled(draft: WorkDraft, target: Target, write: (leaf: Leaf) => Json): WorkDraft {
  const { style } = draft;
  const own = (leaf: Leaf): Json => (target.is(leaf) ? write(leaf) : writeLeaf(leaf, style));
  return withStyle(draft, {
    date: (at) => own({ is: 'date', at }),
    ticket: (number) => own({ is: 'ticket', number }),
    amount: (number, unit) => own({ is: 'amount', number, unit }),
    count: (number) => own({ is: 'count', number }),
    share: (number) => own({ is: 'share', number }),
    text: (words, role) => own({ is: 'text', text: words, ...(role !== undefined && { role }) }),
  });
}
