import path from 'node:path';
import { z } from 'zod';
import { asObject, asString, type JsonObject } from '../../../../src/core/json.ts';
import { type DraftDocument, type WorkDraft, withDocuments } from '../files/draft.ts';
import { type Fields, type NewDocument, type Plan, record, text, time, type Value } from '../files/plan.ts';
import { meansDay } from '../files/spoken-time.ts';
import { type CreatedDocument, labelOf, type Work } from '../files/work.ts';
import type { LocalTime } from '../world.ts';
import { createForm, type Slip } from './rule-set.ts';
import { createTimeFormat } from './value-forms.ts';

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The ways to join the words of a file name, each with the sign that joins them. */
export const NAME_CASES = {
  snake_case: '_',
  'kebab-case': '-',
  'dot.case': '.',
  'plus+case': '+',
  'tilde~case': '~',
  double__case: '__',
  'double--case': '--',
  'comma,case': ',',
  'equals=case': '=',
} as const;
const NAME_CASE = z.enum(Object.keys(NAME_CASES) as [keyof typeof NAME_CASES]);

/** The dates that a file name may have. */
export const NAME_DATES = [
  'YYYYMMDD',
  'YYYY-MM-DD',
  'YYYY_MM_DD',
  'YYYY.MM.DD',
  'DD-MM-YYYY',
  'DD.MM.YYYY',
  'DDMMYYYY',
  'MM-DD-YYYY',
  'MMDDYYYY',
  'MM-DD',
  'MMDD',
  'DD-MM',
  'DDMM',
  'YYYY-DD-MM',
] as const;

const isJoined = (name: string, joint: string): boolean =>
  name.split(joint).every((word, at) => (at === 0 ? /^[a-z][a-z0-9]*$/ : /^[a-z0-9]+$/).test(word));

/** A file without a given name is named by date and subject in one case. */
export const FILE_NAMES = createForm({
  name: 'file-names',
  parameters: z.strictObject({
    date: z.enum(NAME_DATES),
    place: z.enum(['front', 'end']),
    words: NAME_CASE,
  }),
  create: ({ date, place, words }) => {
    const format = createTimeFormat(date);
    const joint = NAME_CASES[words];
    const join = (day: string, name: string): string =>
      (place === 'front' ? [day, name] : [name, day]).join(joint);
    const nameOf = ({ about, format: ending }: NewDocument, today: LocalTime): string =>
      `${join(format.write(today), about.join(joint))}.${ending}`;
    const rename =
      (name: (wanted: NewDocument, today: LocalTime) => string) =>
      (draft: WorkDraft): WorkDraft =>
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
      const rest =
        place === 'front' ? name.slice(day.length + joint.length) : name.slice(0, -day.length - joint.length);
      return (
        isDated &&
        isJoined(rest, joint) &&
        path.posix.extname(base) === path.posix.extname(base).toLowerCase()
      );
    }
  },
});

const renamed = (document: DraftDocument, name: string): DraftDocument =>
  document.wanted.name === undefined ? { ...document, path: `${document.wanted.folder}/${name}` } : document;

const NAME = z.string().regex(/^[a-z][a-z0-9_]*$/, 'must be a key in small letters, such as created_at');

/** Every new file contains its creation time, author and state. */
export const METADATA = createForm({
  name: 'metadata',
  parameters: z.strictObject({
    /** JSON: the object that contains them. Markdown has them in its front matter. */
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
    const give = (draft: WorkDraft, fields: Fields): WorkDraft =>
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

/** A state that is not allowed. */
const foreignTo = (states: readonly string[]): string =>
  ['finished', 'Done', 'complete'].find((word) => !states.includes(word)) ?? `${states.join('')}?`;

const withBlock = (document: DraftDocument, under: string, fields: Fields): DraftDocument =>
  document.wanted.format === 'md'
    ? { ...document, front: [...document.front, ...fields] }
    : { ...document, fields: [...document.fields, [under, record(fields)]] };

const OTHER = 'Draft for our own use';

/** Every new file begins with the same remark: a first key in JSON, a first line in Markdown. */
export const HEADER_COMMENT = createForm({
  name: 'header-comment',
  parameters: z.strictObject({
    key: z.string().regex(/^_[a-z_]+$/, 'must be a key that begins with _, such as _comment'),
    text: z.string().regex(/^[A-Za-z][\w ,.:-]*$/, 'must be plain words'),
  }),
  create: ({ key, text: words }) => {
    const lineOf = (said: string): string => `<!-- ${said} -->`;
    const head = (draft: WorkDraft, name: string, said: string): WorkDraft =>
      withDocuments(draft, (document) => withHead(document, name, said, lineOf(said)));
    const slip = (name: string, why: string, said: string): Slip => ({
      name,
      why,
      make: (draft) => head(draft, key, said),
    });
    return {
      appliesTo: ({ creates }) => creates.length > 0,
      check: ({ created }) =>
        created.flatMap(({ wanted, found }) => {
          if (found === undefined) return [`there is no file in ${wanted.folder}`];
          if (wanted.format === 'md')
            return found.firstLine === lineOf(words)
              ? []
              : [`${found.path} does not begin with ${lineOf(words)}`];
          const [first] = Object.entries(found.members ?? {});
          return first?.[0] === key && first[1] === words
            ? []
            : [`${found.path} does not begin with ${key}: ${words}`];
        }),
      obey: (draft) => head(draft, key, words),
      slips: [
        {
          name: 'another key',
          why: `another key than ${key}`,
          make: (draft) =>
            draft.documents.some(({ wanted }) => wanted.format === 'md')
              ? undefined
              : head(draft, key === '_note' ? '_remark' : '_note', words),
        },
        slip('cut short', 'only a part of the remark', words.slice(0, Math.floor(words.length / 2))),
        slip(
          'capitals',
          'the remark is in capitals',
          words.toUpperCase() === words ? words.toLowerCase() : words.toUpperCase(),
        ),
        slip('own words', 'the remark says something else', words === OTHER ? `${OTHER}!` : OTHER),
        slip('empty', 'there is no remark', ''),
      ],
      excerpt: ({ created }) => created[0]?.found?.text.trim() ?? '',
      words: () => ({ key, text: words, line: lineOf(words), example: `"${key}": "${words}"` }),
    };
  },
});

const withHead = (document: DraftDocument, key: string, said: string, line: string): DraftDocument =>
  document.wanted.format === 'md'
    ? { ...document, headLine: line }
    : { ...document, fields: [[key, text(said)], ...document.fields] };
