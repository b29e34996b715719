import { asArray, isObject, type JsonObject } from '../../core/json.ts';
import type { Proposal } from '../../core/learn.ts';
import { LESSON_KINDS, type LessonText } from '../../core/lesson.ts';
import { whyNotOfKind } from '../../lessons/check-overlay.ts';
import { clip } from '../../text/truncate.ts';
import { readQuotes } from '../draft-lesson.ts';

const MOST_QUOTES_READ = 256;
const LONGEST_REASON = 400;

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
  const { op, kind, from, text, expiresAt } = copy.change;
  const id = op === 'merge' ? copy.change.into : copy.change.id;
  if (op === 'retire') return readRetirement(copy.change, copy.turns);
  if (typeof id !== 'string' || id === '') return invalid('it names no lesson');
  const isText = (value: unknown): value is LessonText => checkText(value) === undefined;
  const words: unknown = text;
  if (!isText(words)) return invalid(checkText(words) ?? 'its text is invalid');
  const quotes = readQuotes(copy.quotes, MOST_QUOTES_READ);
  if (op === 'add') {
    const known = LESSON_KINDS.find((one) => one === kind);
    if (known === undefined) return invalid('its kind is unknown');
    const unused = whyNotOfKind(known, words);
    if (unused !== undefined) return invalid(unused);
    const isTime = typeof expiresAt === 'number' && Number.isSafeInteger(expiresAt) && expiresAt > 0;
    if (expiresAt !== undefined && !isTime) return invalid('its expiry is not a valid time');
    const life = isTime ? { expiresAt } : {};
    const change = { op, id, kind: known, state: 'proposed', text: words, ...life } as const;
    return { ok: true, proposal: { change, quotes } };
  }
  if (op === 'merge') {
    const ids = asArray(copy.change.ids).filter((one) => typeof one === 'string');
    if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 1)
      return invalid('it names no revision to merge into');
    if (ids.length < 2 || !ids.includes(id))
      return invalid('a merge names two lessons, and one of them to keep');
    return { ok: true, proposal: { change: { op, ids, into: id, from, text: words }, quotes } };
  }
  if (op !== 'revise') return invalid('a learner may only add, revise, merge or retire');
  if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 1)
    return invalid('it names no revision to revise');
  return { ok: true, proposal: { change: { op, id, from, text: words }, quotes } };
}

function readRetirement(
  { id, reason, supersededBy }: JsonObject,
  turns: unknown,
): { readonly ok: true; readonly proposal: Proposal } | Invalid {
  if (typeof id !== 'string' || id === '') return invalid('it names no lesson');
  if (typeof reason !== 'string' || reason.trim() === '')
    return invalid('it gives no reason to retire a lesson');
  const by = typeof supersededBy === 'string' ? { supersededBy } : {};
  const cited = asArray(turns).filter((turn) => typeof turn === 'string');
  const change = { op: 'retire', id, reason: clip(reason, LONGEST_REASON), ...by } as const;
  return { ok: true, proposal: { change, quotes: [], turns: cited } };
}

interface Invalid {
  readonly ok: false;
  readonly why: string;
}

const invalid = (why: string): Invalid => ({ ok: false, why });
