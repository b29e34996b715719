import { z } from 'zod';
import { isObject, type Json } from '../../../../src/core/json.ts';
import { type WorkDraft, withDocuments } from '../files/draft.ts';
import type { Fields } from '../files/plan.ts';
import { createForm, type Slip } from './rule-set.ts';

type Arrange = (fields: Fields) => Fields;

const alphabetically = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const lastLetter = (key: string): string => key.slice(-1);

/** Orders of keys. `said` is the order in words. */
export const KEY_ORDERS = {
  ascending: { compare: alphabetically, said: 'alphabetical' },
  descending: { compare: (a, b) => alphabetically(b, a), said: 'reverse alphabetical' },
  'shortest first': { compare: (a, b) => a.length - b.length, said: 'from the shortest to the longest' },
  'longest first': { compare: (a, b) => b.length - a.length, said: 'from the longest to the shortest' },
  'by last letter': {
    compare: (a, b) => alphabetically(lastLetter(a), lastLetter(b)),
    said: 'by their last letter',
  },
  'by second letter': {
    compare: (a, b) => alphabetically(a.slice(1, 2), b.slice(1, 2)),
    said: 'by their second letter',
  },
} as const satisfies Readonly<
  Record<string, { readonly compare: (a: string, b: string) => number; readonly said: string }>
>;

/** The keys of a new JSON file are sorted, on every level. */
export const SORTED_KEYS = createForm({
  name: 'sorted-keys',
  parameters: z.strictObject({ order: z.enum(Object.keys(KEY_ORDERS) as [keyof typeof KEY_ORDERS]) }),
  create: ({ order }) => {
    const { compare, said } = KEY_ORDERS[order];
    const sort: Arrange = (fields) => fields.toSorted(([a], [b]) => compare(a, b));
    const isSorted = (keys: readonly string[]): boolean =>
      keys.every((key, at) => at === 0 || compare(keys[at - 1] ?? '', key) <= 0);
    const arrange = (draft: WorkDraft, arranged: Arrange): WorkDraft =>
      withDocuments(draft, (document) => ({ ...document, arrange: arranged }));
    const slip = (name: string, why: string, arranged: Arrange): Slip => ({
      name,
      why,
      make: (draft) => {
        const slipped: Arrange = (fields) => belowComment(fields, (rest) => arranged(sort(rest)));
        const isStill = draft.documents.every(({ fields }) => isSorted(slipped(fields).map(([key]) => key)));
        return isStill ? undefined : arrange(draft, slipped);
      },
    });
    return {
      appliesTo: ({ creates }) =>
        creates.some(({ format, fields }) => format === 'json' && !isSorted(fields.map(([key]) => key))),
      check: ({ created }) =>
        created.flatMap(({ wanted, found }) => {
          if (wanted.format !== 'json') return [];
          if (found?.members === undefined) return [`there is no file to read in ${wanted.folder}`];
          const wrong = objectsIn(found.members).find((object) => !isSorted(Object.keys(object)));
          return wrong === undefined
            ? []
            : [`the keys ${Object.keys(wrong).join(', ')} in ${found.path} are not sorted`];
        }),
      obey: (draft) => arrange(draft, sort),
      slips: [
        slip('backwards', 'the keys run backwards', (fields) => fields.toReversed()),
        slip('first one last', 'the last key is out of order', ([first, ...rest]) =>
          first === undefined ? rest : [...rest, first],
        ),
        slip('last one first', 'the first key is out of order', (fields) => [
          ...fields.slice(-1),
          ...fields.slice(0, -1),
        ]),
        slip('two swapped', 'two keys are out of order', ([first, second, ...rest]) =>
          first === undefined || second === undefined ? [] : [second, first, ...rest],
        ),
      ],
      excerpt: ({ created }) => created[0]?.found?.text.trim() ?? '',
      words: ({ creates }) => {
        const json = creates.find(({ format }) => format === 'json');
        const keys = sort(json?.fields ?? []).map(([key]) => key);
        return { order: said, example: keys.join(', '), first: keys[0] ?? '', last: keys.at(-1) ?? '' };
      },
    };
  },
});

/** A header comment stays first: its place is another rule's subject. */
function belowComment(fields: Fields, arranged: Arrange): Fields {
  const [first, ...rest] = fields;
  return first?.[0].startsWith('_') ? [first, ...arranged(rest)] : arranged(fields);
}

function objectsIn(json: Json | undefined): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(json)) return json.flatMap(objectsIn);
  return isObject(json) ? [json, ...Object.values(json).flatMap(objectsIn)] : [];
}
