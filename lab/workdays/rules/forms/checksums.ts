import { z } from 'zod';
import { type Draft, pathsOf } from '../../files/draft.ts';
import { checksumLine, commandOf, type Step, sha256Of } from '../../files/steps.ts';
import type { Work } from '../../files/work.ts';
import { createForm, type Slip } from '../rule-form.ts';

/** A file lists the SHA-256 of every file that a task wrote or changed. */
export const CHECKSUMS = createForm({
  name: 'checksums',
  parameters: z.strictObject({
    file: z.string().regex(/^[\w./-]+$/, 'must be a path, such as checksums.txt'),
  }),
  create: ({ file }) => {
    const sums = (draft: Draft, into: string): readonly Step[] =>
      pathsOf(draft).map((path) => ({ do: 'checksum', path, into }));
    const late = (draft: Draft, steps: (last: Draft) => readonly Step[]): Draft => ({
      ...draft,
      after: [...draft.after, steps],
    });
    const written =
      (line: (path: string) => string) =>
      (draft: Draft): Draft =>
        late(draft, (last) => pathsOf(last).map((path) => ({ do: 'append', path: file, line: line(path) })));
    const slips: readonly Slip[] = [
      {
        name: 'another file',
        why: `another file than ${file}`,
        make: (draft) => late(draft, (last) => sums(last, file === 'sums.txt' ? 'hashes.txt' : 'sums.txt')),
      },
      {
        name: 'no sum',
        why: 'only the path is listed',
        make: written((path) => path),
      },
      {
        name: 'wrong sum',
        why: 'the sum is that of something else',
        make: written((path) => checksumLine(path, path)),
      },
      {
        name: 'short sum',
        why: 'the sum is cut short',
        make: written((path) => `${sha256Of(path).slice(0, 12)}  ${path}`),
      },
      {
        name: 'too early',
        why: 'the sum was taken before the change',
        make: (draft) =>
          draft.documents.length > 0
            ? undefined
            : { ...draft, before: [...draft.before, (last) => sums(last, file)] },
      },
      {
        name: 'only one',
        why: 'only one of the files is listed',
        make: (draft) =>
          pathsOf(draft).length < 2 ? undefined : late(draft, (last) => sums(last, file).slice(0, 1)),
      },
    ];
    return {
      appliesTo: () => true,
      files: [file],
      check: (work) =>
        filesOf(work).flatMap(([path, text]) => {
          if (path === undefined) return ['there is no new file'];
          const line = work.texts
            .get(file)
            ?.split('\n')
            .findLast((one) => pathIn(one) === path);
          if (line === undefined) return [`${path} is not in ${file}`];
          return text !== undefined && line.split(/\s+/)[0]?.toLowerCase() === sha256Of(text)
            ? []
            : [`the sum of ${path} in ${file} is not its SHA-256`];
        }),
      obey: (draft) => late(draft, (last) => sums(last, file)),
      slips,
      excerpt: (_, steps) => steps.map(commandOf).join(' ; '),
      words: ({ creates, edits }) => ({
        file,
        path: edits[0]?.path ?? `${creates[0]?.folder ?? '.'}/${creates[0]?.name ?? `<new file>`}`,
      }),
    };
  },
});

const filesOf = ({
  created,
  edited,
  texts,
}: Work): readonly (readonly [string | undefined, string | undefined])[] => [
  ...created.map(({ found }) => [found?.path, found?.text] as const),
  ...edited.map(({ edit }) => [edit.path, texts.get(edit.path)] as const),
];

/** `<sum>  <path>`, as sha256sum prints it. */
const pathIn = (line: string): string | undefined => {
  const path = line.trim().split(/\s+/).slice(1).join(' ');
  return path === '' ? undefined : path.replace(/^\*?(?:\.\/)?/, '');
};
