import { createHash } from 'node:crypto';
import { asArray, asObject, asString, compact, isObject, type JsonObject } from '../core/json.ts';
import {
  type Author,
  type Change,
  type ChangeResult,
  type ErasedText,
  type Evidence,
  LESSON_KINDS,
  LESSON_STATES,
  type Lesson,
  type LessonText,
  type Note,
  type Scope,
} from '../core/lesson.ts';
import { checkLessonText } from './check-lesson-text.ts';
import { copyOverlay, encodeOverlay } from './check-overlay.ts';
import { checkChoice, checkList, checkString } from './check-words.ts';
import { checkRuleCheck, copyCheck } from './checks/read-check.ts';

/**
 * A copy of a checked text: known fields only, no object shared with the caller, and equal to itself after a round trip
 * through JSON. Field by field, since a whole library is read through this function at start.
 */
function copyLessonText(text: LessonText): LessonText {
  const { name, description, content, category } = text;
  return {
    name,
    description,
    content,
    ...(category === undefined ? undefined : { category }),
    scope: copyScope(text.scope),
    note: copyNote(text.note),
    evidence: copyEvidence(text.evidence),
    taint: [...text.taint],
    ...(text.overlay === undefined ? undefined : { overlay: copyOverlay(text.overlay) }),
  };
}

const copyScope = ({ agent, project, runKind, domain, member }: Scope): Scope => ({
  ...(agent === undefined ? undefined : { agent }),
  ...(project === undefined ? undefined : { project }),
  ...(runKind === undefined ? undefined : { runKind }),
  ...(domain === undefined ? undefined : { domain }),
  ...(member === undefined ? undefined : { member }),
});

const copyNote = (note: Note): Note => ({
  ...(note.context === undefined ? undefined : { context: note.context }),
  keywords: [...note.keywords],
  tags: [...note.tags],
  importance: withoutSign(note.importance),
  confidence: withoutSign(note.confidence),
  source: note.source,
  visibility: note.visibility,
  halfLifeDays: note.halfLifeDays,
  links: [...note.links],
  ...(note.relations === undefined || note.relations.length === 0
    ? undefined
    : { relations: note.relations.map(({ type, to }) => ({ type, to })) }),
  ...(note.triggers === undefined ? undefined : { triggers: [...note.triggers] }),
  ...(note.isAlways === true ? { isAlways: true } : undefined),
  ...(note.tier === undefined ? undefined : { tier: note.tier }),
});

const copyEvidence = ({ turns, quotes, learner, model, prompt, team }: Evidence): Evidence => ({
  turns: [...turns],
  quotes: quotes.map(({ turn, block, start, length }) => ({
    turn,
    block,
    start: withoutSign(start),
    length,
  })),
  learner,
  ...(model === undefined ? undefined : { model }),
  ...(prompt === undefined ? undefined : { prompt }),
  ...(team === undefined ? undefined : { team: team.map(({ member, lesson }) => ({ member, lesson })) }),
});

/** JSON has no negative zero. */
const withoutSign = (value: number): number => value + 0;

export type RefusedChange = Extract<ChangeResult, { status: 'refused' }>;

const ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;
const MAX_IDS = 256;
const MAX_REASON = 2000;
const OPS = ['add', 'revise', 'merge', 'retire', 'move', 'mark', 'check', 'expire', 'restore'];

type Why = string | undefined;

/**
 * A validated copy of a change: the caller may modify their object afterwards. Total: a value that is not a change comes
 * back as a refusal.
 */
export function decodeChange(value: unknown): Change | RefusedChange {
  const fields = asObject(value);
  const id = asString(fields.op === 'merge' ? fields.into : fields.id) ?? '';
  const whole = isErasure(fields.text) ? { ...fields, text: { ...erasedText(id, fields.text) } } : value;
  const why = checkChange(whole);
  // The check proves the type.
  return why === undefined ? copyChange(whole as Change) : { status: 'refused', id, why };
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
        (fields.check === undefined ? undefined : checkRuleCheck(fields.check)) ??
        checkOptionalReason(fields.reason) ??
        checkLessonText(fields.text)
      );
    case 'revise':
      return (
        checkRevision('from', fields.from) ??
        checkOptionalReason(fields.reason) ??
        checkLessonText(fields.text)
      );
    case 'merge':
      return (
        checkList('ids', fields.ids, MAX_IDS, checkId) ??
        checkRevision('from', fields.from) ??
        checkLessonText(fields.text)
      );
    case 'retire':
      return (
        checkReason(fields.reason) ??
        checkOptionalId('supersededBy', fields.supersededBy) ??
        (fields.turns === undefined ? undefined : checkList('turns', fields.turns, MAX_IDS, checkTurn))
      );
    case 'move':
      return (
        checkChoice('to', fields.to, ['proposed', 'trial', 'live', 'rejected']) ??
        checkOptionalReason(fields.reason)
      );
    case 'mark':
      return checkFlag('pinned', fields.pinned) ?? checkFlag('frozen', fields.frozen);
    case 'check':
      return fields.check === undefined ? undefined : checkRuleCheck(fields.check);
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
      const { id, kind, state, text, expiresAt, check, reason } = change;
      const rest = compact({ expiresAt, check: check && copyCheck(check), reason });
      return { op, id, kind, state, text: copyLessonText(text), ...rest };
    }
    case 'revise': {
      const { id, from, text, reason } = change;
      return { op, id, from, text: copyLessonText(text), ...(reason === undefined ? undefined : { reason }) };
    }
    case 'merge': {
      const { ids, into, from, text } = change;
      return { op, ids: [...ids], into, from, text: copyLessonText(text) };
    }
    case 'retire': {
      const { id, reason, supersededBy, turns } = change;
      return compact({ op, id, reason, supersededBy, turns: turns && [...turns] });
    }
    case 'move':
      return compact({ op, id: change.id, to: change.to, reason: change.reason });
    case 'mark':
      return compact({ op, id: change.id, pinned: change.pinned, frozen: change.frozen });
    case 'check':
      return compact({ op, id: change.id, check: change.check && copyCheck(change.check) });
    case 'expire':
      return compact({ op, id: change.id, expiresAt: change.expiresAt });
    case 'restore':
      return { op, id: change.id, revision: change.revision, state: change.state };
  }
}

/** The id of the lesson that a change is about. */
export const changedLessonId = (change: Change | RefusedChange): string =>
  'into' in change ? change.into : change.id;

const MAX_TURN_ID = 256;
const checkTurn = (label: string, value: unknown): Why => checkString(label, value, { max: MAX_TURN_ID });

const checkId = (label: string, value: unknown): Why =>
  typeof value === 'string' && ID.test(value)
    ? undefined
    : `${label} must be 1 to 64 letters, digits, _ . : and -, a letter or digit first`;

const checkOptionalId = (label: string, value: unknown): Why =>
  value === undefined ? undefined : checkId(label, value);

/** Reasons are for people and may be long; an empty one means that none was given. */
const checkReason = (value: unknown): Why =>
  checkString('the reason', value, { max: MAX_REASON, mayBeEmpty: true, mayHaveLines: true });

const checkOptionalReason = (value: unknown): Why => (value === undefined ? undefined : checkReason(value));

const checkRevision = (label: string, value: unknown): Why =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0
    ? undefined
    : `${label} must be the number of a revision, from 1`;

const checkFlag = (label: string, value: unknown): Why =>
  value === undefined || typeof value === 'boolean' ? undefined : `${label} must be true or false`;

const checkTime = (value: unknown): Why =>
  value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value > 0)
    ? undefined
    : 'expiresAt must be a time in whole milliseconds; leave it out for never';

/** A validated copy of a change set. */
export interface DecodedChangeSet {
  readonly id: string;
  readonly by: Author;
  readonly reason: string;
  readonly changes: readonly (Change | RefusedChange)[];
}

const AUTHORS: readonly string[] = ['person', 'learner', 'instar', 'file'];
const NOBODY: Author = { kind: 'instar', name: 'unknown' };
const MAX_ID = 200;
const MAX_NAME = 100;

/** Total: without a valid id, author and reason all of its changes are refused. */
export function decodeChangeSet(value: unknown): DecodedChangeSet {
  const fields = asObject(value);
  const { kind, name } = asObject(fields.by);
  const why =
    checkString('the id of the set', fields.id, { max: MAX_ID }) ??
    checkChoice('by.kind', kind, AUTHORS) ??
    checkString('by.name', name, { max: MAX_NAME }) ??
    checkReason(fields.reason);
  const changes = asArray(fields.changes).map(decodeChange);
  const id = asString(fields.id) ?? '';
  if (why === undefined)
    return { id, by: { kind, name } as Author, reason: asString(fields.reason) ?? '', changes };
  return {
    id,
    by: NOBODY,
    reason: '',
    changes: changes.map((change) => ({ status: 'refused', id: changedLessonId(change), why })),
  };
}

type DecodedLesson =
  | { readonly ok: true; readonly lesson: Lesson }
  | { readonly ok: false; readonly why: string };

export const encodeNote = ({ relations, ...note }: Note): JsonObject => ({
  ...note,
  ...(relations === undefined ? {} : { relations: relations.map((one) => ({ ...one })) }),
});

const encodeEvidence = ({ team, ...evidence }: Evidence): JsonObject => ({
  ...evidence,
  quotes: evidence.quotes.map((quote) => ({ ...quote })),
  ...(team === undefined ? {} : { team: team.map((one) => ({ ...one })) }),
});

const encodeText = ({ overlay, ...text }: LessonText): JsonObject => ({
  ...text,
  scope: { ...text.scope },
  note: encodeNote(text.note),
  evidence: encodeEvidence(text.evidence),
  ...(overlay === undefined ? {} : { overlay: encodeOverlay(overlay) }),
});

/** A lesson as the API sends it; `decodeLesson` reads it back. */
export const encodeLesson = (lesson: Lesson): JsonObject => ({ ...lesson, text: encodeText(lesson.text) });

/** A change as the API takes it; `decodeChange` reads it back. */
export const encodeChange = (change: Change): JsonObject =>
  'text' in change ? { ...change, text: encodeText(change.text) } : { ...change };

/** Total: a value that is not a lesson, or is one of a newer version, is refused. */
export function decodeLesson(value: unknown): DecodedLesson {
  const why = checkLesson(value);
  // The check proves the type.
  return why === undefined ? { ok: true, lesson: copyLesson(value as Lesson) } : { ok: false, why };
}

/** The lessons of a list that this version can read. */
export const decodeLessons = (values: unknown): readonly Lesson[] =>
  asArray(values).flatMap((value) => {
    const decoded = decodeLesson(value);
    return decoded.ok ? [decoded.lesson] : [];
  });

function checkLesson(value: unknown): string | undefined {
  if (!isObject(value)) return 'a lesson must be an object';
  const { reason } = value;
  return (
    checkId('id', value.id) ??
    checkChoice('kind', value.kind, LESSON_KINDS) ??
    checkChoice('state', value.state, LESSON_STATES) ??
    checkRevision('revision', value.revision) ??
    checkLessonText(value.text) ??
    checkFlag('pinned', value.pinned ?? null) ??
    checkFlag('frozen', value.frozen ?? null) ??
    checkTime(value.expiresAt) ??
    (value.check === undefined ? undefined : checkRuleCheck(value.check)) ??
    checkMoment('createdAt', value.createdAt) ??
    checkMoment('changedAt', value.changedAt) ??
    (reason === undefined ? undefined : checkReason(reason)) ??
    checkOptionalId('mergedInto', value.mergedInto) ??
    checkOptionalId('supersededBy', value.supersededBy)
  );
}

const checkMoment = (label: string, value: unknown): string | undefined =>
  Number.isFinite(value) ? undefined : `${label} must be a time in milliseconds`;

function copyLesson(lesson: Lesson): Lesson {
  const { id, kind, state, revision, text, pinned, frozen, createdAt, changedAt } = lesson;
  const { expiresAt, reason, mergedInto, supersededBy } = lesson;
  const check = lesson.check && copyCheck(lesson.check);
  const optional = compact({ check, expiresAt, reason, mergedInto, supersededBy });
  return {
    id,
    kind,
    state,
    revision,
    text: copyLessonText(text),
    pinned,
    frozen,
    createdAt,
    changedAt,
    ...optional,
  };
}

/** What became of the changes that were sent to the API: which were refused, by lesson, and how many were applied. */
export function decodeResults(published: JsonObject): {
  readonly refused: ReadonlyMap<string, string>;
  readonly applied: number;
} {
  const results = asArray(published.results).map(asObject);
  return {
    refused: new Map(
      results
        .filter(({ status }) => status === 'refused')
        .map(({ id, why }) => [asString(id) ?? '', asString(why) ?? '']),
    ),
    applied: results.filter(({ status }) => status === 'applied').length,
  };
}

const LEARNER = 'erased';
const NAME_DIGITS = 12;

/** Whether a recorded text was erased. */
const isErasure = (value: unknown): value is ErasedText =>
  isObject(value) &&
  !('content' in value) &&
  typeof value.erased === 'number' &&
  Number.isSafeInteger(value.erased) &&
  value.erased > 0;

/**
 * Stands in the library for an erased text, so that the history of its lesson still folds: names stay unique, and erased
 * texts that differed still differ. Prompts never contain it.
 */
const erasedText = (id: string, { erased }: ErasedText): LessonText => ({
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
