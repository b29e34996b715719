import { z } from 'zod';
import type { Draft } from '../../files/draft.ts';
import { commandOf, type Step } from '../../files/steps.ts';
import { createForm, type Slip } from '../rule-form.ts';

/** Before a file is changed there is a copy of it as it was. */
export const BACKUP = createForm({
  name: 'backup',
  parameters: z.strictObject({
    suffix: z.string().regex(/^[.~_-][\w.-]*$/, 'must be what is put behind a file name, such as .bak'),
  }),
  create: ({ suffix }) => {
    const copies = (draft: Draft, nameOf: (path: string) => string): readonly Step[] =>
      draft.plan.edits.map(({ path }) => ({ do: 'copy', from: path, to: nameOf(path) }));
    const early = (draft: Draft, nameOf: (path: string) => string): Draft => ({
      ...draft,
      before: [...draft.before, (last) => copies(last, nameOf)],
    });
    const behind = (path: string): string => path + suffix;
    const slips: readonly Slip[] = [
      {
        name: 'too late',
        why: 'the copy was made after the change',
        make: (draft) => ({ ...draft, after: [...draft.after, (last) => copies(last, behind)] }),
      },
      {
        name: 'another ending',
        why: `another ending than ${suffix}`,
        make: (draft) => early(draft, (path) => `${path}${suffix === '.orig' ? '.old' : '.orig'}`),
      },
      {
        name: 'in front',
        why: `${suffix.slice(1)} in front of the name`,
        make: (draft) => early(draft, (path) => path.replace(/([^/]+)$/, `${suffix.slice(1)}_$1`)),
      },
      {
        name: 'in place of the ending',
        why: 'the ending of the file is gone from the copy',
        make: (draft) => early(draft, (path) => path.replace(/\.\w+$/, '') + suffix),
      },
      {
        name: 'empty',
        why: 'the copy is empty',
        make: (draft) => ({
          ...draft,
          before: [
            ...draft.before,
            ({ plan }) => plan.edits.map(({ path }): Step => ({ do: 'write', path: behind(path), text: '' })),
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
          const copy = texts.get(path + suffix);
          if (copy === undefined) return [`there is no ${path}${suffix}`];
          return copy.trimEnd() === before.trimEnd() ? [] : [`${path}${suffix} is not ${path} as it was`];
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
        return { suffix, file, copy: file + suffix };
      },
    };
  },
});
