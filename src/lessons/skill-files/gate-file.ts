import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Change, Lesson, LessonText } from '../../core/lesson.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { withRelation } from '../links.ts';

/** Reasons for a person to read a text before prompts may contain it; empty when there are none. */
export type LintWords = (words: string) => readonly string[];

const LONGEST_REASON = 1_900;
const NAME_ROOM = 50;
const MOST_NAMES = 100;

/** What the lint finds in everything that a lesson's text can put before a model. */
export const lintText = (text: LessonText, lint: LintWords): readonly string[] =>
  lint(
    [
      text.name.replaceAll('-', ' '),
      text.description,
      text.content,
      ...text.note.keywords,
      text.category ?? '',
    ].join('\n'),
  );

const PATHS = /(?<![\w/])(?:\.\/)?([\w.-]{1,60}(?:\/[\w.-]{1,60}){0,6})/g;
const DOCUMENT = /\.(?:md|txt|json|ya?ml|csv|html|css|png|jpe?g|svg|pdf|docx|xlsx|pptx|ttf)$/i;

/** Programs that came with a skill file and that its words name: they are not imported, and nobody has read them. */
export const findProgramsBeside = (content: string, beside: readonly string[]): readonly string[] => {
  const named = [...content.matchAll(PATHS)].map(([, path = '']) => path.replace(/[.,;:]+$/, ''));
  return [...new Set(named)]
    .filter((path) => beside.includes(path.split('/')[0] ?? '') && /[/.]/.test(path) && !DOCUMENT.test(path))
    .map((path) => `it names a program that came with it: ${path}`);
};

/** Findings as the reason for which a lesson waits. They quote the file; a reason that nobody can read would be refused. */
export const toReason = (findings: readonly string[]): string =>
  truncateEnd(oneLine(findings.join('; ')), LONGEST_REASON, 0);

/** Why an edit of a lesson in use by file waits for a person, besides what the lint finds. */
export const whyEditWaits = ({ frozen, pinned, text }: Lesson, edited: LessonText): readonly string[] => [
  ...(frozen ? ['the lesson is frozen: a person decides about changes'] : []),
  ...(pinned ? ['the lesson is pinned: a person decides about changes'] : []),
  ...(isDeepStrictEqual(text.scope, edited.scope) ? [] : ['it changes where the lesson applies']),
  ...(text.note.isAlways === edited.note.isAlways ? [] : ['it changes whether the lesson is for every task']),
];

/**
 * An edit that waits for a person becomes a lesson of its own beside the one in use, which stays as it is. The same edit
 * gives the same id. Undefined when it was proposed before.
 */
export function proposeBeside(
  old: Lesson,
  text: LessonText,
  findings: readonly string[],
  find: (idOrName: string) => Lesson | undefined,
): Extract<Change, { op: 'add' }> | undefined {
  const words = JSON.stringify([old.id, old.revision, text.name, text.description, text.content, text.scope]);
  const id = `rev_${createHash('sha256').update(words).digest('hex').slice(0, 20)}`;
  if (find(id) !== undefined) return undefined;
  const base = `${text.name.slice(0, NAME_ROOM).replace(/-+$/, '')}-revised`;
  let name = base;
  for (let number = 2; find(name) !== undefined && number < MOST_NAMES; number++) name = `${base}-${number}`;
  return {
    op: 'add',
    id,
    kind: old.kind,
    state: 'proposed',
    text: { ...text, name, note: withRelation(text.note, { type: 'revises', to: old.id }) },
    reason: toReason(findings),
  };
}
