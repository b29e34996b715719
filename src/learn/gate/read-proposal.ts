import { isObject } from '../../core/json.ts';
import type { Proposal } from '../../core/learn.ts';
import { LESSON_KINDS, type LessonText } from '../../core/lesson.ts';
import { readQuotes } from '../evolver/find-quote.ts';

const MOST_QUOTES_READ = 256;

/**
 * Decodes a proposal into plain data that shares nothing with the learner's objects; or says why it is invalid. `checkText`
 * also checks the shape of the text.
 */
export function readProposal(
  value: unknown,
  checkText: (text: unknown) => string | undefined,
): { readonly ok: true; readonly proposal: Proposal } | Invalid {
  const copy: unknown = structuredClone(value);
  if (!isObject(copy) || !isObject(copy.change)) return invalid('it is not a proposal');
  const { op, id, kind, from, text, expiresAt } = copy.change;
  if (typeof id !== 'string' || id === '') return invalid('it names no lesson');
  const isText = (value: unknown): value is LessonText => checkText(value) === undefined;
  const words: unknown = text;
  if (!isText(words)) return invalid(checkText(words) ?? 'its text is invalid');
  const quotes = readQuotes(copy.quotes, MOST_QUOTES_READ);
  if (op === 'add') {
    const known = LESSON_KINDS.find((one) => one === kind);
    if (known === undefined) return invalid('its kind is unknown');
    const isTime = typeof expiresAt === 'number' && Number.isSafeInteger(expiresAt) && expiresAt > 0;
    if (expiresAt !== undefined && !isTime) return invalid('its expiry is not a valid time');
    const life = isTime ? { expiresAt } : {};
    const change = { op, id, kind: known, state: 'proposed', text: words, ...life } as const;
    return { ok: true, proposal: { change, quotes } };
  }
  if (op !== 'revise') return invalid('a learner may only add or revise');
  if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 1)
    return invalid('it names no revision to revise');
  return { ok: true, proposal: { change: { op, id, from, text: words }, quotes } };
}

interface Invalid {
  readonly ok: false;
  readonly why: string;
}

const invalid = (why: string): Invalid => ({ ok: false, why });
