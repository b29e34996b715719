import { asArray, isObject } from '../../core/json.ts';
import type { Proposal } from '../../core/learn.ts';
import { LESSON_KINDS, type LessonText } from '../../core/lesson.ts';

const MOST_QUOTES = 256;

/**
 * A proposal as plain data, with nothing of its giver's kept; or why it is none. A text that `checkText` lets through has
 * the shape that its type says.
 */
export function readProposal(
  value: unknown,
  checkText: (text: LessonText) => string | undefined,
): Proposal | string {
  const copy: unknown = structuredClone(value);
  if (!isObject(copy) || !isObject(copy.change)) return 'it is no proposal';
  const { op, id, kind, from, text, expiresAt } = copy.change;
  if (typeof id !== 'string' || id === '') return 'it names no lesson';
  const words = text as unknown as LessonText;
  const why = checkText(words);
  if (why !== undefined) return why;
  const quotes = readQuotes(copy.quotes);
  if (op === 'add') {
    const known = LESSON_KINDS.find((one) => one === kind);
    if (known === undefined) return 'it is of no kind that there is';
    const isTime = typeof expiresAt === 'number' && Number.isSafeInteger(expiresAt) && expiresAt > 0;
    if (expiresAt !== undefined && !isTime) return 'it expires at no time that there is';
    const life = isTime ? { expiresAt } : {};
    return { change: { op, id, kind: known, state: 'proposed', text: words, ...life }, quotes };
  }
  if (op !== 'revise') return 'a learner may only add or revise';
  if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 1) return 'it revises no revision';
  return { change: { op, id, from, text: words }, quotes };
}

const readQuotes = (value: unknown): Proposal['quotes'] =>
  asArray(value)
    .slice(0, MOST_QUOTES)
    .flatMap((quote) => {
      if (!isObject(quote)) return [];
      const { turn, text } = quote;
      return typeof turn === 'string' && typeof text === 'string' ? [{ turn, text }] : [];
    });
