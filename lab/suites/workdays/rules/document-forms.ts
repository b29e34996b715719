import path from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../../../src/core/json.ts';
import { type DraftDocument, type WorkDraft, withDocuments } from '../files/draft.ts';
import { type NewDocument, type Plan, text } from '../files/plan.ts';
import { type CreatedDocument, labelOf, type Work } from '../files/work.ts';
import { type AnyRuleForm, createForm, type Slip } from './rule-set.ts';

const KEY = z.string().regex(/^[a-z][a-z0-9_]*$/, 'must be a key in small letters, such as checked_by');

const jsonOf = ({ creates }: Plan): readonly NewDocument[] =>
  creates.filter(({ format }) => format === 'json');
const isJson = ({ wanted }: CreatedDocument): boolean => wanted.format === 'json';
const membersOf = ({ wanted, found }: CreatedDocument): JsonObject | undefined =>
  wanted.format === 'json' || found === undefined ? found?.members : { ...found.members, ...found.front };
const excerptOf = ({ created }: Work): string => created[0]?.found?.text.trim() ?? '';

/** What a field says that every new file must have. */
const SOURCES = {
  fixed: (_: WorkDraft, value: string): string => value,
  task: ({ plan }: WorkDraft): string => plan.task,
  person: ({ plan }: WorkDraft): string => plan.author,
  folder: ({ plan }: WorkDraft): string => path.posix.basename(plan.creates[0]?.folder ?? ''),
} as const;

/** Every new file has one more field, with a fixed or a derived value, anywhere or as the last one. */
function createFieldForm(name: string, source: keyof typeof SOURCES, isLast = false): AnyRuleForm {
  return createForm({
    name,
    parameters: z.strictObject({
      key: KEY,
      ...(source === 'fixed' && { value: z.string().regex(/^[\w][\w .+-]{0,30}$/, 'must be a word or two') }),
    }) as z.ZodType<{ readonly key: string; readonly value?: string }>,
    create: ({ key, value = '' }) => {
      const give = (draft: WorkDraft, under: string, said: string): WorkDraft =>
        withDocuments(draft, (document) =>
          isLast
            ? { ...document, foot: [...document.foot, [under, text(said)]] }
            : { ...document, fields: [...document.fields, [under, text(said)]] },
        );
      const saidIn = (draft: WorkDraft): string => SOURCES[source](draft, value);
      const slip = (slipName: string, why: string, make: Slip['make']): Slip => ({
        name: slipName,
        why,
        make,
      });
      return {
        appliesTo: ({ creates }) => creates.length > 0,
        check: (work) =>
          work.created.flatMap((document) => {
            const members = membersOf(document);
            if (members === undefined) return [`there is no file to read in ${document.wanted.folder}`];
            const found = members[key] ?? members[labelOf(key)];
            const wanted = expected(document, work.plan);
            if (found !== wanted) return [`${key} is ${JSON.stringify(found ?? null)}, not ${wanted}`];
            const isAtEnd = labelOf(Object.keys(members).at(-1) ?? '') === labelOf(key);
            return isLast && isJson(document) && !isAtEnd ? [`${key} is not the last key`] : [];
          }),
        obey: (draft) => give(draft, key, saidIn(draft)),
        slips: [
          slip('another key', `another key than ${key}`, (draft) => give(draft, `${key}_1`, saidIn(draft))),
          slip('empty', 'there is nothing in it', (draft) => give(draft, key, '')),
          slip('other words', 'it says something else', (draft) => give(draft, key, `not ${saidIn(draft)}`)),
          slip('capitals', 'the key is in capitals', (draft) =>
            draft.documents.some(({ wanted }) => wanted.format === 'md')
              ? undefined
              : give(draft, key.toUpperCase(), saidIn(draft)),
          ),
          slip('first', 'it stands in another place', (draft) =>
            isLast && draft.documents.every(({ wanted }) => wanted.format === 'json')
              ? withDocuments(draft, (one) => ({ ...one, fields: [[key, text(value)], ...one.fields] }))
              : undefined,
          ),
        ],
        excerpt: excerptOf,
        words: (plan) => {
          const said = expected({ wanted: plan.creates[0] ?? SAMPLE }, plan);
          return { key, value: said, example: `"${key}": "${said}"` };
        },
      };

      function expected({ wanted }: Pick<CreatedDocument, 'wanted'>, plan: Plan): string {
        if (source === 'folder') return path.posix.basename(wanted.folder);
        return source === 'fixed' ? value : source === 'task' ? plan.task : plan.author;
      }
    },
  });
}

const SAMPLE: NewDocument = {
  folder: 'notes',
  format: 'json',
  about: [],
  fields: [['topic', text('heron')]],
};

/** How keys are written, the same for all keys of the task or for one of them. */
interface KeyStyle {
  keyFor(key: string): string;
  /** Keys that it leaves alone do not count. */
  readonly slips: readonly (readonly [name: string, why: string, keyFor: (key: string) => string])[];
  readonly words: Readonly<Record<string, string>>;
}

const KEY_MARK = z.string().regex(/^[\w.+~-]{1,8}$/, 'must be some letters and a sign, such as x_');

function createKeyForm<P>(
  name: string,
  parameters: z.ZodType<P>,
  create: (parameters: P) => KeyStyle,
): AnyRuleForm {
  return createForm({
    name,
    parameters,
    create: (given) => {
      const { keyFor, slips, words } = create(given);
      const write = (draft: WorkDraft, own: DraftDocument['keyFor']): WorkDraft =>
        withDocuments(draft, (document) => ({ ...document, keyFor: own }));
      const changes = (documents: readonly NewDocument[], own: (key: string) => string): readonly string[] =>
        documents.flatMap(({ fields }) => fields.map(([key]) => key).filter((key) => own(key) !== key));
      return {
        appliesTo: (plan) => changes(jsonOf(plan), keyFor).length > 0,
        check: ({ created }) =>
          created.filter(isJson).flatMap(({ wanted, found }) => {
            const members = found?.members;
            if (members === undefined) return [`there is no file to read in ${wanted.folder}`];
            return changes([wanted], keyFor).flatMap((key) =>
              members[keyFor(key)] === undefined || members[key] !== undefined
                ? [`${key} is not called ${keyFor(key)} in ${found?.path ?? ''}`]
                : [],
            );
          }),
        reading: { keysFor: (key) => [keyFor(key), ...slips.map(([, , own]) => own(key))] },
        obey: (draft) => write(draft, keyFor),
        slips: slips.map(([slipName, why, own]) => ({
          ...{ name: slipName, why },
          make: (draft) =>
            changes(jsonOf(draft.plan), keyFor).every((key) => own(key) === keyFor(key))
              ? undefined
              : write(draft, own),
        })),
        excerpt: excerptOf,
        words: ({ creates }) => {
          const keys = changes([creates.find(({ format }) => format === 'json') ?? SAMPLE], keyFor);
          const [plain = 'topic'] = keys;
          return { ...words, plain, example: keyFor(plain) };
        },
      };
    },
  });
}

const marked = (keyFor: (key: string) => string, other: (key: string) => string, mark: string): KeyStyle => ({
  keyFor,
  slips: [
    ['as it comes', 'the keys are as they came', (key) => key],
    ['other side', 'it stands on the other side', other],
    ['capitals', 'the keys are in capitals', (key) => keyFor(key.toUpperCase())],
    ['twice', 'it is there twice', (key) => keyFor(keyFor(key))],
  ],
  words: { mark },
});

/** Rules about the fields and keys of new files. */
export const DOCUMENT_FORMS: readonly AnyRuleForm[] = [
  createFieldForm('field-fixed', 'fixed'),
  createFieldForm('field-task', 'task'),
  createFieldForm('field-person', 'person'),
  createFieldForm('field-folder', 'folder'),
  createFieldForm('field-last', 'fixed', true),
  createKeyForm('key-rename', z.strictObject({ from: z.string().min(1), to: KEY }), ({ from, to }) => ({
    keyFor: (key) => (key === from ? to : key),
    slips: [
      ['as it comes', 'it has its old name', (key) => key],
      ['capitals', 'the name is in capitals', (key) => (key === from ? to.toUpperCase() : key)],
      ['cut short', 'the name is cut short', (key) => (key === from ? to.slice(0, -1) : key)],
    ],
    words: { from, to },
  })),
  createKeyForm('key-prefix', z.strictObject({ mark: KEY_MARK }), ({ mark }) =>
    marked(
      (key) => mark + key,
      (key) => key + mark,
      mark,
    ),
  ),
  createKeyForm('key-suffix', z.strictObject({ mark: KEY_MARK }), ({ mark }) =>
    marked(
      (key) => key + mark,
      (key) => mark + key,
      mark,
    ),
  ),
  createKeyForm('key-case', z.strictObject({ case: z.enum(['upper', 'capital']) }), ({ case: name }) => {
    const capital = (key: string): string => key.charAt(0).toUpperCase() + key.slice(1);
    const upper = (key: string): string => key.toUpperCase();
    return {
      keyFor: name === 'upper' ? upper : capital,
      slips: [
        ['as it comes', 'the keys are as they came', (key) => key],
        ['other case', 'the letters are in another case', name === 'upper' ? capital : upper],
      ],
      words: { case: name === 'upper' ? 'in capital letters' : 'with a capital first letter' },
    };
  }),
];
