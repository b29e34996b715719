import type { LessonText, Note, Scope } from '../../../core/lesson.ts';
import { keywordsOf } from '../../../text/topic-words.ts';
import { oneLine } from '../../../text/visible-text.ts';
import { writeLesson } from '../../distiller/write-lesson.ts';
import { draftLesson } from '../../draft-lesson.ts';
import { standsInEveryTask } from '../../rule-reach.ts';
import type { Statement } from './read-statements.ts';

/** The name of this learner in the evidence of its notes. */
export const NOTES = 'notes';
/** The reason of a retirement that the user's own words asked for: told again, it is learned again. */
export const FORGOTTEN = 'the user asked to forget it';

/** Less than a correction has: nothing went wrong without it. */
const CONFIDENCE = { fact: 0.5, rule: 0.6 } as const;
const IMPORTANCE = { fact: 0.4, rule: 0.5 } as const;
const HALF_LIFE_DAYS = 90;

/** What a note says: the person's sentence, quoted. */
export function writeNote(
  { quote, kind }: Statement,
  scope: Scope,
  turn: string,
  links: readonly string[],
): LessonText {
  const words = writeLesson({ speaker: 'user', count: 1, quotes: [quote], tasks: [] });
  const sort = kind === 'rule' ? 'rule' : 'fact';
  return draftLesson({
    name: words.name,
    // Whole, also where a lesson would begin with its rule: a note must not lose a "not" before it.
    description: `"${oneLine(quote)}"`,
    content: words.content,
    scope,
    keywords: keywordsOf(quote),
    tags: [sort],
    importance: IMPORTANCE[sort],
    confidence: CONFIDENCE[sort],
    source: 'experience',
    halfLifeDays: HALF_LIFE_DAYS,
    links,
    ...(kind === 'rule' && standsInEveryTask(quote) ? { isAlways: true } : {}),
    learner: NOTES,
    turns: [turn],
  });
}

const MOST_LINKS = 8;
const MOST_TAGS = 6;
const MOST_KEYWORDS = 16;

/** The same words with another context: links, tags, keywords, confidence. Undefined when nothing changes. */
export function withContext(
  text: LessonText,
  change: Partial<Pick<Note, 'links' | 'tags' | 'keywords' | 'confidence'>>,
): LessonText | undefined {
  const { note } = text;
  const links = [...new Set([...note.links, ...(change.links ?? [])])].slice(-MOST_LINKS);
  const tags = [...new Set([...note.tags, ...(change.tags ?? [])])].slice(0, MOST_TAGS);
  const keywords = [...new Set([...note.keywords, ...(change.keywords ?? [])])].slice(0, MOST_KEYWORDS);
  const confidence = change.confidence ?? note.confidence;
  const isSame =
    links.join() === note.links.join() &&
    tags.join() === note.tags.join() &&
    keywords.join() === note.keywords.join() &&
    confidence === note.confidence;
  return isSame ? undefined : { ...text, note: { ...note, links, tags, keywords, confidence } };
}
