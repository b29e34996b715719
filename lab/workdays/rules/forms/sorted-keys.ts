import { z } from 'zod';
import { isObject, type Json } from '../../../../src/core/json.ts';
import { type Draft, withDocuments } from '../../files/draft.ts';
import type { Fields } from '../../files/plan.ts';
import { createForm, type Slip } from '../rule-form.ts';

type Arrange = (fields: Fields) => Fields;

/** The keys of a new JSON file stand in the order of the alphabet, on every level. */
export const SORTED_KEYS = createForm({
  name: 'sorted-keys',
  parameters: z.strictObject({ order: z.enum(['ascending', 'descending']) }),
  create: ({ order }) => {
    const sign = order === 'ascending' ? 1 : -1;
    const sort: Arrange = (fields) => fields.toSorted(([a], [b]) => sign * (a < b ? -1 : 1));
    const isSorted = (keys: readonly string[]): boolean =>
      keys.every((key, at) => at === 0 || sign * ((keys[at - 1] ?? '') <= key ? 1 : -1) > 0);
    const arrange = (draft: Draft, arranged: Arrange): Draft =>
      withDocuments(draft, (document) => ({ ...document, arrange: arranged }));
    const slip = (name: string, why: string, arranged: Arrange): Slip => ({
      name,
      why,
      make: (draft) => arrange(draft, (fields) => belowComment(fields, (rest) => arranged(sort(rest)))),
    });
    return {
      appliesTo: ({ creates }) => creates.some(({ format }) => format === 'json'),
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
        return { example: keys.join(', '), first: keys[0] ?? '', last: keys.at(-1) ?? '' };
      },
    };
  },
});

/** A comment that has to stand on top stays there: where it belongs is another rule. */
function belowComment(fields: Fields, arranged: Arrange): Fields {
  const [first, ...rest] = fields;
  return first?.[0].startsWith('_') ? [first, ...arranged(rest)] : arranged(fields);
}

function objectsIn(json: Json | undefined): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(json)) return json.flatMap(objectsIn);
  return isObject(json) ? [json, ...Object.values(json).flatMap(objectsIn)] : [];
}
