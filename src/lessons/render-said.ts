import type { Lesson, LessonPlace, PlacedLessons } from '../core/lesson.ts';
import { oneLine } from '../text/visible-text.ts';
import { byPlaceInBlock } from './identity-tier.ts';
import { contentOf } from './overlay-lessons.ts';
import { renderBlock } from './render-block.ts';

/*
 * Lessons for models of a few billion parameters. They answer a block with headings instead of following it, and follow the same
 * words where a user would have said them: in the user's message (docs/local-models.md).
 */

const LEAD = 'As I said before: ';

/** What was written by a model or by a person, as it was written; then the user's own words, a line each. By id; empty for none. */
export function renderSaid(lessons: readonly Lesson[]): string {
  const said = lessons.toSorted(byPlaceInBlock).map(readWords);
  const written = said.flatMap(({ words, isUser }) => (isUser || words === '' ? [] : [words]));
  const own = [...new Set(said.flatMap(({ words, isUser }) => (isUser ? [words] : [])))];
  return [...written, ...(own.length === 0 ? [] : [`${LEAD}${own.join('\n')}`])].join('\n\n');
}

const AGAIN = '## Said earlier in this conversation';
const AGAIN_FRAMING =
  'The beginning of this conversation was shortened. Before, the user said, word for word (what the user says now comes first):';

/** Sentences of the user that the conversation has lost. */
export const renderQuotes = (quotes: readonly string[], place: LessonPlace): string =>
  place === 'message'
    ? `${LEAD}${quotes.map(oneLine).join('\n')}`
    : [AGAIN, AGAIN_FRAMING, quotes.map((quote) => `- "${oneLine(quote)}"`).join('\n')].join('\n\n');

/** A lesson that quotes has its rule in its description. */
function readWords({ text }: Lesson) {
  const { description } = text;
  const content = contentOf(text);
  const [, quoted] = /^"(.+)"$/s.exec(description.trim()) ?? [];
  if (quoted === undefined) return { words: content.trim() || oneLine(description), isUser: false };
  const isUser = content.startsWith('The user said');
  return { words: isUser ? oneLine(quoted) : `A check said: ${oneLine(quoted)}`, isUser };
}

/** What a new session is shown: lessons with their text, and others by a line each. A recall for messages finds no lines. */
export function placeLessons(
  place: LessonPlace,
  lessons: readonly Lesson[],
  index: readonly Lesson[],
): PlacedLessons {
  if (place === 'system') return { text: renderBlock(lessons, index) };
  return { text: renderSaid(lessons), place };
}
