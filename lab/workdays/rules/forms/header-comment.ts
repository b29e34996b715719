import { z } from 'zod';
import { type Draft, type DraftDocument, withDocuments } from '../../files/draft.ts';
import { text } from '../../files/plan.ts';
import { createForm, type Slip } from '../rule-form.ts';

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
    const head = (draft: Draft, name: string, said: string): Draft =>
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
