import type { LessonText, Scope } from '../../../core/lesson.ts';
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
export function writeNote({ quote, kind }: Statement, scope: Scope, turn: string): LessonText {
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
    ...(kind === 'rule' && standsInEveryTask(quote) ? { isAlways: true } : {}),
    learner: NOTES,
    turns: [turn],
  });
}
