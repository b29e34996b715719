import { z } from 'zod';
import type { Json } from '../../../../src/core/json.ts';
import type { WorkDraft } from '../files/draft.ts';
import { isItemList, type Plan } from '../files/plan.ts';
import type { ListMatch } from '../files/work.ts';
import { KEY_ORDERS } from './key-order-form.ts';
import { type AnyRuleForm, createForm } from './rule-set.ts';

/** What a list of items looks like in a new file. */
interface ListStyle {
  /** Whether it says anything about such a list. */
  concerns(items: readonly string[]): boolean;
  write(items: readonly string[]): Json;
  fits(found: Json, items: readonly string[]): boolean;
  readonly slips: readonly (readonly [
    name: string,
    why: string,
    write: (items: readonly string[]) => Json,
  ])[];
  readonly words: Readonly<Record<string, string>>;
  itemsOf?(found: Json): readonly Json[] | undefined;
  /** An item as it is in the list, without what the rule has added. */
  bare?(item: string): string;
}

const itemsOf = ({ wanted }: Pick<ListMatch, 'wanted'>): readonly string[] =>
  wanted.flatMap((leaf) => (leaf.is === 'text' ? [leaf.text] : []));
const listsOf = (plan: Plan): readonly (readonly string[])[] =>
  plan.creates.flatMap(({ format, fields }) =>
    (format === 'json' ? fields : []).flatMap(([, value]) =>
      isItemList(value) ? [value.items.flatMap((item) => (item.is === 'text' ? [item.text] : []))] : [],
    ),
  );
const asTexts = (items: readonly Json[]): readonly string[] => items.map(String);

function createListForm<P>(
  name: string,
  parameters: z.ZodType<P>,
  create: (parameters: P) => ListStyle,
): AnyRuleForm {
  return createForm({
    name,
    parameters,
    create: (given) => {
      const style = create(given);
      const write = (draft: WorkDraft, own: (items: readonly string[]) => Json): WorkDraft => ({
        ...draft,
        style: {
          ...draft.style,
          list: (items) => (style.concerns(asTexts(items)) ? own(asTexts(items)) : [...items]),
        },
      });
      const concerned = (plan: Plan): readonly (readonly string[])[] => listsOf(plan).filter(style.concerns);
      return {
        appliesTo: (plan) => concerned(plan).some((items) => !style.fits([...items], items)),
        check: ({ created }) =>
          created.flatMap(({ wanted, lists }) =>
            (wanted.format === 'json' ? lists : []).flatMap((one) => {
              const items = itemsOf(one);
              if (!style.concerns(items)) return [];
              return one.found !== undefined && style.fits(one.found, items)
                ? []
                : [`${one.where} is ${JSON.stringify(one.found ?? null).slice(0, 60)}`];
            }),
          ),
        reading: {
          ...(style.itemsOf !== undefined && { itemsOf: style.itemsOf }),
          means: (wanted, found) =>
            wanted.is === 'text' &&
            wanted.role === 'item' &&
            typeof found === 'string' &&
            style.bare?.(found) === wanted.text,
        },
        obey: (draft) => write(draft, style.write),
        slips: style.slips.map(([slipName, why, own]) => ({
          ...{ name: slipName, why },
          make: (draft) =>
            concerned(draft.plan).every((items) => style.fits(own(items), items))
              ? undefined
              : write(draft, own),
        })),
        excerpt: ({ created }) => JSON.stringify(created.flatMap(({ lists }) => lists)[0]?.found ?? null),
        words: (plan) => {
          const lists = concerned(plan);
          const items = lists.find((one) => !style.fits([...one], one)) ?? lists[0] ?? ['weekly', 'night'];
          return { ...style.words, plain: items.join(', '), example: JSON.stringify(style.write(items)) };
        },
      };
    },
  });
}

const isSeveral = (items: readonly string[]): boolean => items.length > 1;
const ORDER = z.strictObject({ order: z.enum(Object.keys(KEY_ORDERS) as [keyof typeof KEY_ORDERS]) });
const SIGN = z.string().regex(/^[^\w"'\\\n]{1,5}$/, 'must be signs');

/** Rules about lists in new files. */
export const LIST_FORMS: readonly AnyRuleForm[] = [
  createListForm('list-joined', z.strictObject({ separator: SIGN }), ({ separator }) => ({
    concerns: isSeveral,
    write: (items) => items.join(separator),
    fits: (found, items) =>
      typeof found === 'string' &&
      found.split(separator).length === items.length &&
      found.split(separator).every((item) => /^\w(?:.{0,60}\w)?$/.test(item)),
    itemsOf: (found) => (typeof found === 'string' ? found.split(separator) : undefined),
    slips: [
      ['a list', 'it is still a list', (items) => [...items]],
      [
        'other sign',
        'it has another sign between',
        (items) => items.join(separator === ' + ' ? ' - ' : ' + '),
      ],
      ['at the end', 'there is a sign at the end', (items) => `${items.join(separator)}${separator}`],
      ['in a list', 'the text is in a list', (items) => [items.join(separator)]],
    ],
    words: { separator },
  })),
  createListForm('list-sorted', ORDER, ({ order }) => {
    const { compare, said } = KEY_ORDERS[order];
    const sort = (items: readonly string[]): string[] => items.toSorted(compare);
    return {
      concerns: isSeveral,
      write: sort,
      fits: (found) =>
        Array.isArray(found) &&
        found.every((item, at) => at === 0 || compare(String(found[at - 1]), String(item)) <= 0),
      slips: [
        ['as it comes', 'the order is as it came', (items) => [...items]],
        ['backwards', 'the order is the other way round', (items) => sort(items).toReversed()],
        [
          'one off',
          'one of them is out of order',
          (items) => [...sort(items).slice(1), ...sort(items).slice(0, 1)],
        ],
      ],
      words: { order: said },
    };
  }),
  createListForm('list-numbered', z.strictObject({ sign: SIGN }), ({ sign }) => {
    const numbered = (items: readonly string[], first: number, joint: string): string[] =>
      items.map((item, at) => `${at + first}${joint}${item}`);
    return {
      concerns: isSeveral,
      write: (items) => numbered(items, 1, sign),
      fits: (found) =>
        Array.isArray(found) &&
        found.every(
          (item, at) =>
            typeof item === 'string' &&
            item.startsWith(`${at + 1}${sign}`) &&
            /\w/.test(item.slice(1 + sign.length, 2 + sign.length)),
        ),
      bare: (item) => item.replace(/^\d{1,3}/, '').slice(sign.length),
      slips: [
        ['as it comes', 'there are no numbers', (items) => [...items]],
        ['from zero', 'the numbers begin with 0', (items) => numbered(items, 0, sign)],
        [
          'other sign',
          'there is another sign behind the number',
          (items) => numbered(items, 1, sign === '_' ? '=' : '_'),
        ],
        ['behind', 'the number stands behind', (items) => items.map((item, at) => `${item}${sign}${at + 1}`)],
      ],
      words: { sign },
    };
  }),
  createListForm(
    'list-empty',
    z.strictObject({ word: z.string().regex(/^[\w/*.-]{1,16}$/, 'must be a word or signs') }),
    ({ word }) => ({
      concerns: (items) => items.length === 0,
      write: () => word,
      fits: (found) => found === word,
      itemsOf: (found) => (found === word ? [] : undefined),
      slips: [
        ['empty', 'the list is empty', () => []],
        ['empty text', 'it is an empty text', () => ''],
        ['in a list', 'the word is in a list', () => [word]],
        ['other letters', 'it is another word', () => `${word}s`],
      ],
      words: { word },
    }),
  ),
];
