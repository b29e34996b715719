import type { Lesson } from '../core/lesson.ts';

/*
 * The only place where lessons are rendered: production, practice and the gate show the same bytes. The text depends only
 * on the lessons' texts, never on dates, scores or the order of recall, so that a provider's prompt cache can hold it.
 */

const HEADING = '## Active Skills';
const UPDATE_HEADING = '## Active Skills (update)';
const REPLACES = 'A skill below replaces the earlier one of its name.';
const WITHDRAWN = 'No longer valid, to be disregarded: ';

/** The block at the beginning of a thread. Empty for no lessons. */
export function renderBlock(lessons: readonly Lesson[]): string {
  return lessons.length === 0 ? '' : [HEADING, ...renderEach(lessons)].join('\n\n');
}

/** The text that is added later in a thread: new and revised lessons, and the names of withdrawn ones. */
export function renderDelta(lessons: readonly Lesson[], withdrawn: readonly string[]): string {
  if (lessons.length === 0 && withdrawn.length === 0) return '';
  const names = [...withdrawn].map(oneLine).sort();
  return [
    UPDATE_HEADING,
    ...(names.length === 0 ? [] : [`${WITHDRAWN}${names.join(', ')}`]),
    ...(lessons.length === 0 ? [] : [REPLACES, ...renderEach(lessons)]),
  ].join('\n\n');
}

/** The names of the lessons that a delta withdraws, from its second paragraph; no lesson's text can stand there. */
export function withdrawnIn(delta: string): readonly string[] {
  const paragraph = delta.split('\n\n', 2)[1] ?? '';
  return paragraph.startsWith(WITHDRAWN) ? paragraph.slice(WITHDRAWN.length).split(', ') : [];
}

const renderEach = (lessons: readonly Lesson[]): readonly string[] =>
  [...lessons].sort((a, b) => (a.id < b.id ? -1 : 1)).map(renderLesson);

function renderLesson({ text }: Lesson): string {
  const description = oneLine(text.description);
  const heading = `### ${oneLine(text.name)}${description === '' ? '' : `\n_${description}_`}`;
  const body = keepInside(text.content);
  return body === '' ? heading : `${heading}\n\n${body}`;
}

/** Names and descriptions are one line each, also imported ones: a second line could be a heading. */
const oneLine = (text: string): string => text.split(/\s/).filter(Boolean).join(' ');

/**
 * A body cannot end its own section: a line that looks like one of our headings is indented by four spaces, which makes it
 * plain text in Markdown and leaves a comment in a script valid, and an open code fence is closed. Besides, only line ends
 * and the white space around the body change.
 */
function keepInside(content: string): string {
  const body = content
    .replace(/\r\n?|[\u0085\u2028\u2029\v\f]/g, '\n')
    .replace(/^(?=(?: |\p{Cf}){0,3}(?:###(?!#)|##[ \t]*active skills))/gimu, '    ')
    .trimEnd()
    .replace(/^\n+/, '');
  const fence = openFence(body);
  return fence === undefined ? body : `${body}\n${fence}`;
}

/** The fence of an unclosed code block. */
function openFence(body: string): string | undefined {
  let open: string | undefined;
  for (const [, fence = '', rest = ''] of body.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (open === undefined) open = fence;
    else if (fence.startsWith(open) && rest.trim() === '') open = undefined;
  }
  return open;
}
