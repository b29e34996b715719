import type { Lesson } from '../core/lesson.ts';

/*
 * The one place where lessons become text: production, practice and the gate show the same bytes. The text depends on
 * the lessons' words alone, never on dates, scores or the order of recall, so that it can be in a provider's cache.
 */

const HEADING = '## Active Skills';
const UPDATE_HEADING = '## Active Skills (update)';
const REPLACES = 'A skill below replaces the earlier one of its name.';
const WITHDRAWN = 'No longer valid, to be disregarded: ';

/** What a thread begins with. Empty for no lessons. */
export function renderBlock(lessons: readonly Lesson[]): string {
  return lessons.length === 0 ? '' : [HEADING, ...renderEach(lessons)].join('\n\n');
}

/** What is added in the middle: lessons that are new or were revised, and the names of those that hold no more. */
export function renderDelta(lessons: readonly Lesson[], withdrawn: readonly string[]): string {
  if (lessons.length === 0 && withdrawn.length === 0) return '';
  const names = [...withdrawn].map(oneLine).sort();
  return [
    UPDATE_HEADING,
    ...(names.length === 0 ? [] : [`${WITHDRAWN}${names.join(', ')}`]),
    ...(lessons.length === 0 ? [] : [REPLACES, ...renderEach(lessons)]),
  ].join('\n\n');
}

/** The names that a delta's text takes back: they stand in its second paragraph, which no lesson can write. */
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

/** Names and descriptions are a line each, whatever was imported: a line more could be a heading. */
const oneLine = (text: string): string => text.split(/\s/).filter(Boolean).join(' ');

/**
 * A body cannot end its own section: a line that would be one of our headings moves in by four spaces, which makes it
 * plain text to Markdown and leaves a comment in a script what it was, and a code fence that is left open is closed.
 * Nothing else is changed but line ends and the white space around it.
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

/** The fence of a code block that has no end. */
function openFence(body: string): string | undefined {
  let open: string | undefined;
  for (const [, fence = '', rest = ''] of body.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (open === undefined) open = fence;
    else if (fence.startsWith(open) && rest.trim() === '') open = undefined;
  }
  return open;
}
