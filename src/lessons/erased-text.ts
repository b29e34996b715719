import { createHash } from 'node:crypto';
import { isObject } from '../core/json.ts';
import type { ErasedText, LessonText } from '../core/lesson.ts';

const LEARNER = 'erased';
const NAME_DIGITS = 12;

/** Whether a recorded text was erased. */
export const isErasure = (value: unknown): value is ErasedText =>
  isObject(value) &&
  !('content' in value) &&
  typeof value.erased === 'number' &&
  Number.isSafeInteger(value.erased) &&
  value.erased > 0;

/**
 * Stands in the library for an erased text, so that the history of its lesson still folds: names stay unique, and erased
 * texts that differed still differ. Prompts never contain it.
 */
export const erasedText = (id: string, { erased }: ErasedText): LessonText => ({
  name: `erased-${createHash('sha256').update(id).digest('hex').slice(0, NAME_DIGITS)}`,
  description: 'Erased with the session that it was learned from.',
  content: `This text (number ${erased}) was erased.`,
  scope: {},
  note: {
    keywords: [],
    tags: [],
    importance: 0,
    confidence: 0,
    source: 'inferred',
    visibility: 'private',
    halfLifeDays: 1,
    links: [],
  },
  evidence: { turns: [], quotes: [], learner: LEARNER },
  taint: [],
});

/** Whether a lesson's text was erased. */
export const isErasedText = ({ evidence }: LessonText): boolean => evidence.learner === LEARNER;
