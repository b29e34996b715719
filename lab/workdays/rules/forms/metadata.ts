import { z } from 'zod';
import { asObject, asString, type JsonObject } from '../../../../src/core/json.ts';
import { type Draft, type DraftDocument, withDocuments } from '../../files/draft.ts';
import { type Fields, type Plan, record, text, time, type Value } from '../../files/plan.ts';
import { labelOf } from '../../files/read-document.ts';
import { meansDay } from '../../files/read-moment.ts';
import type { CreatedDocument, Work } from '../../files/work.ts';
import { createForm, type Slip } from '../rule-form.ts';

const NAME = z.string().regex(/^[a-z][a-z0-9_]*$/, 'must be a key in small letters, such as created_at');

/** Every new file says when it was made, by whom, and in which state it is. */
export const METADATA = createForm({
  name: 'metadata',
  parameters: z.strictObject({
    /** JSON: the object that holds them. Markdown has them at its top, between lines of `---`. */
    under: NAME,
    time: NAME,
    author: NAME,
    state: NAME,
    states: z.array(z.string().min(1)).min(1),
  }),
  create: ({ under, time: timeKey, author: authorKey, state: stateKey, states }) => {
    const state = states.at(-1) ?? '';
    const fieldsFor = (plan: Plan): Fields => [
      [timeKey, time(plan.today)],
      [authorKey, text(plan.author)],
      [stateKey, text(state)],
    ];
    const give = (draft: Draft, fields: Fields): Draft =>
      withDocuments(draft, (document) => withBlock(document, under, fields));
    const slip = (name: string, why: string, change: (fields: Fields) => Fields): Slip => ({
      name,
      why,
      make: (draft) => give(draft, change(fieldsFor(draft.plan))),
    });
    const without = (key: string): Slip =>
      slip(`no ${key}`, `${key} is missing`, (fields) => fields.filter(([name]) => name !== key));
    const swapped =
      (key: string, value: Value) =>
      (fields: Fields): Fields =>
        fields.map(([name, old]) => [name, name === key ? value : old]);
    return {
      appliesTo: ({ creates }) => creates.length > 0,
      timesIn: (work) =>
        blocksOf(work)
          .flatMap((block) => asString(block[timeKey]) ?? [])
          .filter((said) => meansDay(said, work.plan.today)),
      check: (work) => work.created.flatMap((document) => faultsIn(document, work.plan)),
      obey: (draft) => give(draft, fieldsFor(draft.plan)),
      slips: [
        without(timeKey),
        without(authorKey),
        without(stateKey),
        slip('own word', 'the state is a word of its own', swapped(stateKey, text(foreignTo(states)))),
        slip('nobody', 'the author is empty', swapped(authorKey, text(''))),
        {
          name: 'another name',
          why: `another name than ${under}`,
          make: (draft) =>
            draft.documents.some(({ wanted }) => wanted.format === 'md')
              ? undefined
              : withDocuments(draft, (document) =>
                  withBlock(document, under === 'info' ? 'about' : 'info', fieldsFor(draft.plan)),
                ),
        },
      ],
      excerpt: ({ created }) => created[0]?.found?.text.trim() ?? '',
      words: (plan) => ({
        under,
        time: timeKey,
        author: authorKey,
        state: stateKey,
        states: states.map((word) => `"${word}"`).join(', '),
        name: plan.author,
      }),
    };

    function blocksOf(work: Work): readonly JsonObject[] {
      return work.created.map(blockOf).filter((block) => block !== undefined);
    }

    function blockOf({ wanted, found }: CreatedDocument): JsonObject | undefined {
      if (wanted.format === 'json') return found && asObject(asObject(found.members)[under]);
      const keys = [timeKey, authorKey, stateKey];
      return found && Object.fromEntries(keys.map((key) => [key, found.front[labelOf(key)]]));
    }

    function faultsIn(document: CreatedDocument, plan: Plan): readonly string[] {
      const block = blockOf(document);
      if (block === undefined) return [`there is no file in ${document.wanted.folder}`];
      const where = `in ${document.found?.path ?? ''}`;
      const at = asString(block[timeKey]);
      const by = asString(block[authorKey])?.trim() ?? '';
      const now = asString(block[stateKey]) ?? '';
      return [
        ...(at === undefined ? [`${timeKey} is missing ${where}`] : []),
        ...(at !== undefined && !meansDay(at, plan.today) ? [`${timeKey} is not today ${where}`] : []),
        ...(by === '' ? [`${authorKey} is missing ${where}`] : []),
        ...(states.includes(now) ? [] : [`${stateKey} is none of ${states.join(', ')} ${where}`]),
      ];
    }
  },
});

/** A word for a state that a house does not have. */
const foreignTo = (states: readonly string[]): string =>
  ['finished', 'Done', 'complete'].find((word) => !states.includes(word)) ?? `${states.join('')}?`;

const withBlock = (document: DraftDocument, under: string, fields: Fields): DraftDocument =>
  document.wanted.format === 'md'
    ? { ...document, front: [...document.front, ...fields] }
    : { ...document, fields: [...document.fields, [under, record(fields)]] };
