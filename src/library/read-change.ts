import { asObject, asString, compact, isObject, type JsonObject } from '../core/json.ts';
import { type Change, type ChangeResult, LESSON_KINDS, LESSON_STATES } from '../core/lesson.ts';
import { checkText } from './check-text.ts';
import { checkChoice, checkList, checkWords } from './check-words.ts';
import { copyText } from './copy-text.ts';

export type Refused = Extract<ChangeResult, { status: 'refused' }>;

const ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;
const MAX_IDS = 256;
const MAX_REASON = 2000;
const OPS = ['add', 'revise', 'merge', 'retire', 'move', 'mark', 'expire', 'restore'];

type Why = string | undefined;

/**
 * A validated copy of a change: the caller may modify their object afterwards. Total: a value that is not a change comes
 * back as a refusal.
 */
export function readChange(value: unknown): Change | Refused {
  const fields = asObject(value);
  const id = asString(fields.op === 'merge' ? fields.into : fields.id) ?? '';
  const why = checkChange(value);
  // The check proves the type.
  return why === undefined ? copyChange(value as Change) : { status: 'refused', id, why };
}

function checkChange(value: unknown): Why {
  if (!isObject(value)) return 'a change must be an object';
  return checkChoice('op', value.op, OPS) ?? checkTarget(value) ?? checkFields(value);
}

const checkTarget = (fields: JsonObject): Why =>
  fields.op === 'merge' ? checkId('into', fields.into) : checkId('id', fields.id);

function checkFields(fields: JsonObject): Why {
  switch (fields.op) {
    case 'add':
      return (
        checkChoice('kind', fields.kind, LESSON_KINDS) ??
        checkChoice('state', fields.state, ['proposed', 'trial', 'live']) ??
        checkTime(fields.expiresAt) ??
        checkText(fields.text)
      );
    case 'revise':
      return checkRevision('from', fields.from) ?? checkText(fields.text);
    case 'merge':
      return (
        checkList('ids', fields.ids, MAX_IDS, checkId) ??
        checkRevision('from', fields.from) ??
        checkText(fields.text)
      );
    case 'retire':
      return checkReason(fields.reason);
    case 'move':
      return (
        checkChoice('to', fields.to, ['proposed', 'trial', 'live', 'rejected']) ??
        (fields.reason === undefined ? undefined : checkReason(fields.reason))
      );
    case 'mark':
      return checkFlag('pinned', fields.pinned) ?? checkFlag('frozen', fields.frozen);
    case 'expire':
      return checkTime(fields.expiresAt);
    default:
      return checkRevision('revision', fields.revision) ?? checkChoice('state', fields.state, LESSON_STATES);
  }
}

function copyChange(change: Change): Change {
  const { op } = change;
  switch (op) {
    case 'add': {
      const { id, kind, state, text, expiresAt } = change;
      const life = expiresAt === undefined ? undefined : { expiresAt };
      return { op, id, kind, state, text: copyText(text), ...life };
    }
    case 'revise':
      return { op, id: change.id, from: change.from, text: copyText(change.text) };
    case 'merge': {
      const { ids, into, from, text } = change;
      return { op, ids: [...ids], into, from, text: copyText(text) };
    }
    case 'retire':
      return { op, id: change.id, reason: change.reason };
    case 'move':
      return compact({ op, id: change.id, to: change.to, reason: change.reason });
    case 'mark':
      return compact({ op, id: change.id, pinned: change.pinned, frozen: change.frozen });
    case 'expire':
      return compact({ op, id: change.id, expiresAt: change.expiresAt });
    case 'restore':
      return { op, id: change.id, revision: change.revision, state: change.state };
  }
}

/** The id of the lesson that a change is about. */
export const targetOf = (change: Change | Refused): string => ('into' in change ? change.into : change.id);

export const checkId = (label: string, value: unknown): Why =>
  typeof value === 'string' && ID.test(value)
    ? undefined
    : `${label} must be 1 to 64 letters, digits, _ . : and -, a letter or digit first`;

/** Reasons are for people and may be long; an empty one means that none was given. */
export const checkReason = (value: unknown): Why =>
  checkWords('the reason', value, { max: MAX_REASON, mayBeEmpty: true, mayHaveLines: true });

export const checkRevision = (label: string, value: unknown): Why =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0
    ? undefined
    : `${label} must be the number of a revision, from 1`;

export const checkFlag = (label: string, value: unknown): Why =>
  value === undefined || typeof value === 'boolean' ? undefined : `${label} must be true or false`;

export const checkTime = (value: unknown): Why =>
  value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value > 0)
    ? undefined
    : 'expiresAt must be a time in whole milliseconds; leave it out for never';
