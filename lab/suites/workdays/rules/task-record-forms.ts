import { z } from 'zod';
import { checksumLine, commandOf, pathsOf, sha256Of, type WorkDraft, type WorkStep } from '../files/draft.ts';
import type { Plan } from '../files/plan.ts';
import { meansDay } from '../files/spoken-time.ts';
import type { Work } from '../files/work.ts';
import { createForm, type Slip } from './rule-set.ts';

/** A line with named gaps, such as `[DONE] <timestamp> | <task id> | <summary>`. */
interface LineFormat {
  write(parts: Readonly<Record<string, string>>): string;
  /** The values of the gaps; undefined if the line does not match. */
  read(line: string): Readonly<Record<string, string>> | undefined;
}

export function createLineFormat(pattern: string): LineFormat {
  const pieces = pattern.split(/<([^<>]+)>/);
  const letters = pieces.filter((_, index) => index % 2 === 0);
  const names = pieces.filter((_, index) => index % 2 === 1);
  return {
    write: (parts) => pieces.map((piece, index) => (index % 2 === 0 ? piece : (parts[piece] ?? ''))).join(''),
    read: (line) => {
      if (!line.startsWith(letters[0] ?? '')) return undefined;
      const parts: Record<string, string> = {};
      let at = (letters[0] ?? '').length;
      for (const [index, name] of names.entries()) {
        const next = letters[index + 1] ?? '';
        const isLast = index === names.length - 1;
        const end = isLast ? line.length - next.length : line.indexOf(next, at);
        if (end < at || !line.startsWith(next, end)) return undefined;
        parts[name] = line.slice(at, end);
        at = end + next.length;
      }
      return parts;
    },
  };
}

/** A file is copied before it is changed. */
export const BACKUP = createForm({
  name: 'backup',
  parameters: z
    .strictObject({
      suffix: z
        .string()
        .regex(/^[.~_+=-][\w.~-]*$/, 'must be what is put behind a file name, such as .bak')
        .optional(),
      prefix: z
        .string()
        .regex(/^[\w.~-]*[.~_+=-]$/, 'must be what is put in front of a file name, such as old-')
        .optional(),
    })
    .refine(({ suffix, prefix }) => (suffix === undefined) !== (prefix === undefined), {
      error: 'must have either a suffix or a prefix',
    }),
  create: ({ suffix = '', prefix = '' }) => {
    const mark = suffix || prefix;
    const bare = mark.replaceAll(/^[.~_+=-]+|[.~_+=-]+$/g, '') || 'copy';
    const copies = (draft: WorkDraft, nameOf: (path: string) => string): readonly WorkStep[] =>
      draft.plan.edits.map(({ path }) => ({ do: 'copy', from: path, to: nameOf(path) }));
    const early = (draft: WorkDraft, nameOf: (path: string) => string): WorkDraft => ({
      ...draft,
      before: [...draft.before, (last) => copies(last, nameOf)],
    });
    const named = (path: string, front: string, end: string): string =>
      path.replace(/([^/]+)$/, (name) => front + name + end);
    const behind = (path: string): string => named(path, prefix, suffix);
    const slips: readonly Slip[] = [
      {
        name: 'too late',
        why: 'the copy was made after the change',
        make: (draft) => ({ ...draft, after: [...draft.after, (last) => copies(last, behind)] }),
      },
      {
        name: 'another ending',
        why: `another mark than ${mark}`,
        make: (draft) => early(draft, (path) => `${path}${suffix === '.orig' ? '.old' : '.orig'}`),
      },
      {
        name: 'other side',
        why: `${bare} on the other side of the name`,
        make: (draft) =>
          early(draft, (path) => (suffix === '' ? named(path, '', `_${bare}`) : named(path, `${bare}_`, ''))),
      },
      {
        name: 'in place of the ending',
        why: 'the ending of the file is gone from the copy',
        make: (draft) => early(draft, (path) => behind(path.replace(/\.\w+$/, ''))),
      },
      {
        name: 'empty',
        why: 'the copy is empty',
        make: (draft) => ({
          ...draft,
          before: [
            ...draft.before,
            ({ plan }) =>
              plan.edits.map(({ path }): WorkStep => ({ do: 'write', path: behind(path), text: '' })),
          ],
        }),
      },
      {
        name: 'only one',
        why: 'only one of the files was copied',
        make: (draft) =>
          draft.plan.edits.length < 2
            ? undefined
            : { ...draft, before: [...draft.before, (last) => copies(last, behind).slice(0, 1)] },
      },
    ];
    return {
      appliesTo: ({ edits }) => edits.length > 0,
      check: ({ texts, edited }) =>
        edited.flatMap(({ edit: { path, before } }) => {
          const copy = texts.get(behind(path));
          if (copy === undefined) return [`there is no ${behind(path)}`];
          return copy.trimEnd() === before.trimEnd() ? [] : [`${behind(path)} is not ${path} as it was`];
        }),
      obey: (draft) => early(draft, behind),
      slips,
      excerpt: ({ plan }, steps) =>
        steps
          .filter((step) => !('path' in step) || plan.edits.some(({ path }) => step.path.includes(path)))
          .map(commandOf)
          .join(' ; '),
      words: ({ edits }) => {
        const file = edits[0]?.path ?? 'notes.json';
        return { suffix: mark, side: suffix === '' ? 'in front of' : 'behind', file, copy: behind(file) };
      },
    };
  },
});

const TIME = 'timestamp';
const TASK = 'task id';
const SUMMARY = 'summary';
const LONG = 'with all that was said about it on the way and everything that is left to do some other day';

/** Each finished task adds a line to a log. */
export const DONE_LOG = createForm({
  name: 'done-log',
  parameters: z.strictObject({
    file: z.string().min(1),
    line: z.string().refine((line) => [TIME, TASK, SUMMARY].every((part) => line.includes(`<${part}>`)), {
      error:
        'must hold <timestamp>, <task id> and <summary>, as in: [DONE] <timestamp> | <task id> | <summary>',
    }),
    /** The most characters of a summary. */
    longest: z.int().min(10),
  }),
  create: ({ file, line, longest }) => {
    const format = createLineFormat(line);
    const tell = (draft: WorkDraft, over: Readonly<Record<string, string>> = {}): string =>
      format.write({
        [TIME]: draft.style.time(draft.plan.today),
        [TASK]: draft.plan.task,
        [SUMMARY]: cut(draft.plan.summary, longest),
        ...over,
      });
    const append = (draft: WorkDraft, said: (draft: WorkDraft) => string, into = file): WorkDraft => ({
      ...draft,
      after: [
        ...draft.after,
        (last): readonly WorkStep[] => [{ do: 'append', path: into, line: said(last) }],
      ],
    });
    const slip = (name: string, why: string, said: (draft: WorkDraft) => string): Slip => ({
      name,
      why,
      make: (draft) => append(draft, said),
    });
    const head = line.slice(0, line.indexOf('<'));
    const swapped = head === head.toLowerCase() ? head.toUpperCase() : head.toLowerCase();
    const slips: readonly Slip[] = [
      slip('too long', 'a very long summary', (draft) =>
        tell(draft, { [SUMMARY]: `${draft.plan.summary} ${LONG}`.padEnd(longest + 1, '.') }),
      ),
      slip('no summary', 'there is no summary', (draft) => tell(draft, { [SUMMARY]: '' }).trimEnd()),
      slip('no task', 'no word of which task', (draft) => tell(draft, { [TASK]: 'task' })),
      slip('no time', 'there is no time', (draft) => tell(draft, { [TIME]: 'now' })),
      slip('other signs', 'a form of its own', (draft) => `- ${tell(draft)}`),
      {
        name: 'other letters',
        why: 'small and capital letters mixed up',
        make: (draft) =>
          /[A-Za-z]/.test(head)
            ? append(draft, (last) => swapped + tell(last).slice(head.length))
            : undefined,
      },
      {
        name: 'another file',
        why: `another file than ${file}`,
        make: (draft) => append(draft, tell, file === 'log.txt' ? 'notes.txt' : 'log.txt'),
      },
    ];
    return {
      appliesTo: () => true,
      files: [file],
      timesIn: (work) =>
        linesAbout(work)
          .flatMap((said) => format.read(said)?.[TIME] ?? [])
          .filter((said) => /^\w/.test(said) && meansDay(said, work.plan.today)),
      check: (work) => {
        const said = linesAbout(work);
        if (said.length === 0) return [`there is no line about ${work.plan.task} in ${file}`];
        return said.flatMap((one) => faultOf(one, work.plan) ?? []);
      },
      obey: (draft) => append(draft, tell),
      slips,
      excerpt: (_, steps) =>
        steps
          .filter((step) => step.do === 'append')
          .slice(-1)
          .map(commandOf)
          .join(''),
      words: (plan) => ({
        file,
        line,
        longest: String(longest),
        task: plan.task,
        example: format.write({
          [TIME]: '<timestamp>',
          [TASK]: plan.task,
          [SUMMARY]: cut(plan.summary, longest),
        }),
      }),
    };

    function linesAbout({ texts, plan }: Work): readonly string[] {
      const lines = texts.get(file)?.split('\n') ?? [];
      return lines.filter((one) => one.split(/[^\w-]+/).includes(plan.task)).map((one) => one.trimEnd());
    }

    function faultOf(said: string, { task, today }: Plan): string | undefined {
      const read = format.read(said);
      if (read === undefined) return `${JSON.stringify(said.slice(0, 80))} in ${file} is not ${line}`;
      const summary = read[SUMMARY]?.trim() ?? '';
      if (read[TASK]?.trim() !== task) return `the line in ${file} names another task than ${task}`;
      if (!/^\w/.test(read[TIME] ?? '') || !meansDay(read[TIME] ?? '', today))
        return `the line about ${task} in ${file} does not say when`;
      if (summary !== '' && !/^\w/.test(summary))
        return `the line about ${task} in ${file} has signs of its own`;
      if (summary === '') return `the line about ${task} in ${file} has no summary`;
      return summary.length > longest ? `the summary of ${task} in ${file} is too long` : undefined;
    }
  },
});

const cut = (summary: string, longest: number): string => summary.slice(0, longest).trimEnd();

/** A file lists the SHA-256 of every file that a task wrote or changed. */
export const CHECKSUMS = createForm({
  name: 'checksums',
  parameters: z.strictObject({
    file: z.string().regex(/^[\w./-]+$/, 'must be a path, such as checksums.txt'),
  }),
  create: ({ file }) => {
    const sums = (draft: WorkDraft, into: string): readonly WorkStep[] =>
      pathsOf(draft).map((path) => ({ do: 'checksum', path, into }));
    const late = (draft: WorkDraft, steps: (last: WorkDraft) => readonly WorkStep[]): WorkDraft => ({
      ...draft,
      after: [...draft.after, steps],
    });
    const written =
      (line: (path: string) => string) =>
      (draft: WorkDraft): WorkDraft =>
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
