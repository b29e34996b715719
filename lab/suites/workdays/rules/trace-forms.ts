import path from 'node:path';
import { z } from 'zod';
import { commandOf, type WorkDraft, type WorkStep, withDocuments } from '../files/draft.ts';
import type { NewDocument, Plan } from '../files/plan.ts';
import type { Work } from '../files/work.ts';
import { type AnyRuleForm, createForm, type Slip } from './rule-set.ts';
import { createLineFormat } from './task-record-forms.ts';

const NAME_MARK = z.string().regex(/^[\w.+~=,@-]{1,12}$/, 'must be some letters and a sign, such as new-');

/** A new file's name begins or ends with a mark; a name that the task gives stays. */
const createFileMarkForm = (name: string, side: 'prefix' | 'suffix'): AnyRuleForm =>
  createForm({
    name,
    parameters: z.strictObject({ mark: NAME_MARK }),
    create: ({ mark }) => {
      const put = (base: string, own: string, place: 'prefix' | 'suffix'): string => {
        const { name: stem, ext } = path.posix.parse(base);
        return place === 'prefix' ? own + base : `${stem}${own}${ext}`;
      };
      const rename = (draft: WorkDraft, change: (base: string) => string): WorkDraft =>
        withDocuments(draft, (document) =>
          document.wanted.name === undefined
            ? {
                ...document,
                path: `${path.posix.dirname(document.path)}/${change(path.posix.basename(document.path))}`,
              }
            : document,
        );
      const isMarked = (file: string): boolean => {
        const stem = path.posix.parse(file).name;
        const rest = side === 'prefix' ? stem.slice(mark.length) : stem.slice(0, -mark.length);
        return (
          (side === 'prefix' ? stem.startsWith(mark) : stem.endsWith(mark)) &&
          /^[A-Za-z0-9](?:.*[A-Za-z0-9])?$/.test(rest)
        );
      };
      const slip = (slipName: string, why: string, change: (base: string) => string): Slip => ({
        ...{ name: slipName, why },
        make: (draft) =>
          draft.documents.every(
            ({ wanted, path: file }) =>
              wanted.name !== undefined || isMarked(change(path.posix.basename(file))),
          )
            ? undefined
            : rename(draft, change),
      });
      const baseOf = ({ about, format }: NewDocument): string => `${about.join('-')}.${format}`;
      return {
        appliesTo: ({ creates }) =>
          creates.some((wanted) => wanted.name === undefined && !isMarked(baseOf(wanted))),
        check: ({ created }) =>
          created.flatMap(({ wanted, candidates }) => {
            if (wanted.name !== undefined) return [];
            if (candidates.length === 0) return [`there is no new file in ${wanted.folder}`];
            return candidates.flatMap(({ path: file }) => (isMarked(file) ? [] : [`${file} has no ${mark}`]));
          }),
        obey: (draft) => rename(draft, (base) => put(base, mark, side)),
        slips: [
          slip('as it comes', 'there is nothing in the name', (base) => base),
          slip('other side', 'it stands on the other side', (base) =>
            put(base, mark, side === 'prefix' ? 'suffix' : 'prefix'),
          ),
          slip('other sign', 'it is another mark', (base) =>
            put(base, side === 'prefix' ? 'z0-' : '-z0', side),
          ),
          slip('cut short', 'a part of it is missing', (base) =>
            put(base, side === 'prefix' ? mark.slice(0, -1) : mark.slice(1), side),
          ),
        ],
        excerpt: ({ created }) => path.posix.basename(created[0]?.found?.path ?? ''),
        words: ({ creates }) => {
          const wanted = creates.find(({ name: given }) => given === undefined);
          const plain = wanted === undefined ? 'heron-note.json' : baseOf(wanted);
          return { mark, plain, example: put(plain, mark, side) };
        },
      };
    },
  });

type Which = 'new' | 'edited';

/** What a draft, and what the work, has of new or of changed files. */
const draftPaths = ({ documents, plan }: WorkDraft, which: Which): readonly string[] =>
  which === 'new' ? documents.map((one) => one.path) : plan.edits.map((one) => one.path);
const workPaths = ({ created, plan }: Work, which: Which): readonly (string | undefined)[] =>
  which === 'new' ? created.map(({ found }) => found?.path) : plan.edits.map((one) => one.path);
const hasAny = ({ creates, edits }: Plan, which: Which): boolean =>
  (which === 'new' ? creates : edits).length > 0;

/** The path that a new file would have if nobody cared. */
const likelyPath = ({ creates: [wanted] }: Plan): string =>
  wanted === undefined
    ? 'notes/heron-note.json'
    : `${wanted.folder}/${wanted.name ?? `${wanted.about.join('-')}.${wanted.format}`}`;

const late = (draft: WorkDraft, steps: (last: WorkDraft) => readonly WorkStep[]): WorkDraft => ({
  ...draft,
  after: [...draft.after, steps],
});
const lastCommand = (_: Work, steps: readonly WorkStep[]): string => steps.slice(-1).map(commandOf).join('');

/** Each new, or each changed, file gets a line in another file. */
const createLineForm = (name: string, which: Which): AnyRuleForm =>
  createForm({
    name,
    parameters: z.strictObject({
      file: z.string().regex(/^[\w./-]+$/, 'must be a path, such as index.txt'),
      line: z
        .string()
        .refine((line) => line.includes('<path>'), { error: 'must hold <path>, as in: <task id>: <path>' }),
    }),
    create: ({ file, line }) => {
      const format = createLineFormat(line);
      const lineFor = ({ task, author }: Plan, of: string): string =>
        format.write({ path: of, 'task id': task, person: author });
      const tell = (draft: WorkDraft, into: string, said: (plan: Plan, of: string) => string): WorkDraft =>
        late(draft, (last) =>
          draftPaths(last, which).map(
            (of): WorkStep => ({ do: 'append', path: into, line: said(last.plan, of) }),
          ),
        );
      const slip = (slipName: string, why: string, said: (plan: Plan, of: string) => string): Slip => ({
        ...{ name: slipName, why },
        make: (draft) => tell(draft, file, said),
      });
      return {
        appliesTo: (plan) => hasAny(plan, which),
        files: [file],
        check: (work) => {
          const lines =
            work.texts
              .get(file)
              ?.split('\n')
              .map((one) => one.trimEnd()) ?? [];
          return workPaths(work, which).flatMap((of) => {
            if (of === undefined) return ['there is no new file'];
            return lines.includes(lineFor(work.plan, of)) ? [] : [`${file} has no line on ${of}`];
          });
        },
        obey: (draft) => tell(draft, file, lineFor),
        slips: [
          slip('name only', 'only the name of the file, not its path', (plan, of) =>
            lineFor(plan, path.posix.basename(of)),
          ),
          slip('other signs', 'a form of its own', (plan, of) => `* ${lineFor(plan, of)} *`),
          slip('no path', 'no word of which file', (plan) => lineFor(plan, 'the file')),
          {
            name: 'another file',
            why: `another file than ${file}`,
            make: (draft) => tell(draft, `${file}.1`, lineFor),
          },
        ],
        excerpt: lastCommand,
        words: (plan) => {
          const of = which === 'edited' ? (plan.edits[0]?.path ?? 'notes/heron.json') : likelyPath(plan);
          return { file, line, path: of, example: lineFor(plan, of) };
        },
      };
    },
  });

const COPY_NEW = createForm({
  name: 'copy-new',
  parameters: z.strictObject({
    suffix: z
      .string()
      .regex(/^[.~_+=-][\w.~-]{1,10}$/, 'must be what is put behind a file name, such as .copy'),
  }),
  create: ({ suffix }) => {
    const copy = (draft: WorkDraft, nameOf: (of: string) => string): WorkDraft =>
      late(draft, (last) =>
        draftPaths(last, 'new').map((of): WorkStep => ({ do: 'copy', from: of, to: nameOf(of) })),
      );
    const slip = (name: string, why: string, nameOf: (of: string) => string): Slip => ({
      ...{ name, why },
      make: (draft) => copy(draft, nameOf),
    });
    return {
      appliesTo: (plan) => hasAny(plan, 'new'),
      check: ({ created, texts }) =>
        created.flatMap(({ found }) => {
          if (found === undefined) return ['there is no new file'];
          return texts.get(found.path + suffix) === found.text
            ? []
            : [`there is no ${found.path}${suffix} like it`];
        }),
      obey: (draft) => copy(draft, (of) => of + suffix),
      slips: [
        slip('another ending', `another ending than ${suffix}`, (of) => `${of}${suffix}1`),
        slip(
          'in place of the ending',
          'the ending of the file is gone',
          (of) => of.replace(/\.\w+$/, '') + suffix,
        ),
        {
          name: 'empty',
          why: 'the copy is empty',
          make: (draft) =>
            late(draft, (last) =>
              draftPaths(last, 'new').map((of): WorkStep => ({ do: 'write', path: of + suffix, text: '' })),
            ),
        },
      ],
      excerpt: lastCommand,
      words: (plan) => ({ suffix, path: likelyPath(plan), example: likelyPath(plan) + suffix }),
    };
  },
});

const FLAG_FILE = createForm({
  name: 'flag-file',
  parameters: z.strictObject({
    folder: z.string().regex(/^[a-z]+$/, 'must be a folder in small letters'),
    ending: z.string().regex(/^\.[a-z]{1,6}$/, 'must be an ending, such as .ok'),
    word: z.string().regex(/^\w{1,12}$/, 'must be a word'),
  }),
  create: ({ folder, ending, word }) => {
    const put = (draft: WorkDraft, at: (task: string) => string, said: string): WorkDraft =>
      late(draft, ({ plan }) => [{ do: 'write', path: at(plan.task), text: said }]);
    const at = (task: string): string => `${folder}/${task}${ending}`;
    const slip = (name: string, why: string, where: (task: string) => string, said = word): Slip => ({
      ...{ name, why },
      make: (draft) => put(draft, where, said),
    });
    return {
      appliesTo: () => true,
      files: [`${folder}/flag`],
      check: ({ texts, plan }) =>
        texts.get(at(plan.task))?.trim() === word ? [] : [`there is no ${at(plan.task)} that says ${word}`],
      obey: (draft) => put(draft, at, word),
      slips: [
        slip('another folder', `another folder than ${folder}`, (task) => `${folder}s/${task}${ending}`),
        slip('another ending', `another ending than ${ending}`, (task) => `${folder}/${task}${ending}x`),
        slip('another word', `another word than ${word}`, at, `not ${word}`),
        slip('no task', 'no word of which task', () => `${folder}/task${ending}`),
      ],
      excerpt: lastCommand,
      words: ({ task }) => ({ folder, ending, word, example: at(task), task }),
    };
  },
});

/** Rules about the names of new files, and about what is left in other files. */
export const TRACE_FORMS: readonly AnyRuleForm[] = [
  createFileMarkForm('file-prefix', 'prefix'),
  createFileMarkForm('file-suffix', 'suffix'),
  createLineForm('new-line', 'new'),
  createLineForm('edit-line', 'edited'),
  COPY_NEW,
  FLAG_FILE,
];
