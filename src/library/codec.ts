import { asArray, asObject, asString, compact, isObject, type JsonObject } from '../core/json.ts';
import {
  type Change,
  type Evidence,
  LESSON_KINDS,
  LESSON_STATES,
  type Lesson,
  type LessonText,
  type Note,
} from '../core/lesson.ts';
import { checkText } from './check-text.ts';
import { checkChoice } from './check-words.ts';
import { copyText } from './copy-text.ts';
import { checkFlag, checkId, checkReason, checkRevision, checkTime } from './read-change.ts';

type DecodedLesson =
  | { readonly ok: true; readonly lesson: Lesson }
  | { readonly ok: false; readonly why: string };

export const encodeNote = (note: Note): JsonObject => ({ ...note });

export const encodeEvidence = (evidence: Evidence): JsonObject => ({
  ...evidence,
  quotes: evidence.quotes.map((quote) => ({ ...quote })),
});

const encodeText = (text: LessonText): JsonObject => ({
  ...text,
  scope: { ...text.scope },
  note: encodeNote(text.note),
  evidence: encodeEvidence(text.evidence),
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
  const { reason, mergedInto } = value;
  return (
    checkId('id', value.id) ??
    checkChoice('kind', value.kind, LESSON_KINDS) ??
    checkChoice('state', value.state, LESSON_STATES) ??
    checkRevision('revision', value.revision) ??
    checkText(value.text) ??
    checkFlag('pinned', value.pinned ?? null) ??
    checkFlag('frozen', value.frozen ?? null) ??
    checkTime(value.expiresAt) ??
    checkMoment('createdAt', value.createdAt) ??
    checkMoment('changedAt', value.changedAt) ??
    (reason === undefined ? undefined : checkReason(reason)) ??
    (mergedInto === undefined ? undefined : checkId('mergedInto', mergedInto))
  );
}

const checkMoment = (label: string, value: unknown): string | undefined =>
  Number.isFinite(value) ? undefined : `${label} must be a time in milliseconds`;

function copyLesson(lesson: Lesson): Lesson {
  const { id, kind, state, revision, text, pinned, frozen, createdAt, changedAt } = lesson;
  const { expiresAt, reason, mergedInto } = lesson;
  const optional = compact({ expiresAt, reason, mergedInto });
  return {
    id,
    kind,
    state,
    revision,
    text: copyText(text),
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
