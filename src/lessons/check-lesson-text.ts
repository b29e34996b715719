import { Buffer } from 'node:buffer';
import { isObject, type JsonObject } from '../core/json.ts';
import {
  IDENTITY_TIERS,
  type LessonSource,
  RELATION_TYPES,
  type Taint,
  type Visibility,
} from '../core/lesson.ts';
import { isScopeMember } from '../core/principal.ts';
import { checkOverlay } from './check-overlay.ts';
import { checkChoice, checkList, checkString } from './check-words.ts';

const NAME = /^[a-z][a-z0-9-]{1,62}$/;
const CATEGORY = /^[a-z][a-z0-9_-]{0,39}$/;
const MAX_LINE = 500;
const MAX_CONTENT_BYTES = 8192;
const MAX_WORDS = 32;
const MAX_WORD = 64;
const MAX_TRIGGERS = 16;
const MAX_TRIGGER = 200;
const MAX_EVIDENCE = 64;
const MAX_PATTERN = 200;
const MAX_REFERENCE = 200;

const SOURCES: readonly LessonSource[] = ['experience', 'told', 'inferred', 'practice'];
const VISIBILITIES: readonly Visibility[] = ['private', 'scoped', 'shared'];
const TAINTS: readonly Taint[] = ['tool', 'web'];
const SCOPE_FIELDS = ['agent', 'project', 'runKind', 'domain'];

type Why = string | undefined;

/** Why a value is not the text of a lesson, and how to fix it; undefined when it is one. Total. */
export function checkLessonText(value: unknown): Why {
  if (!isObject(value)) return 'the text must be an object';
  const { name, category } = value;
  return (
    (typeof name === 'string' && NAME.test(name)
      ? undefined
      : 'the name must be 2 to 63 lower-case letters, digits and hyphens, a letter first') ??
    checkString('the description', value.description, { max: MAX_LINE }) ??
    checkContent(value.content) ??
    (category === undefined || (typeof category === 'string' && CATEGORY.test(category))
      ? undefined
      : 'the category must be one word of at most 40 lower-case letters, digits, _ and -, a letter first') ??
    checkScope(value.scope) ??
    checkNote(value.note) ??
    checkEvidence(value.evidence) ??
    checkList('taint', value.taint, TAINTS.length, (label, taint) => checkChoice(label, taint, TAINTS)) ??
    (value.overlay === undefined ? undefined : checkOverlay(value.overlay))
  );
}

function checkContent(content: unknown): Why {
  const why = checkString('the content', content, { max: MAX_CONTENT_BYTES, mayHaveLines: true });
  if (why !== undefined) return why;
  const bytes = Buffer.byteLength(String(content));
  return bytes > MAX_CONTENT_BYTES
    ? `the content has ${bytes} bytes: shorten it to ${MAX_CONTENT_BYTES} or fewer`
    : undefined;
}

function checkScope(scope: unknown): Why {
  if (!isObject(scope)) return 'the scope must be an object; an empty one means anywhere';
  for (const field of SCOPE_FIELDS) {
    const pattern = scope[field];
    const why =
      pattern === undefined ? undefined : checkString(`scope.${field}`, pattern, { max: MAX_PATTERN });
    if (why !== undefined) return `${why}; leave it out to mean any`;
  }
  const { member } = scope;
  return member === undefined || (typeof member === 'string' && isScopeMember(member))
    ? undefined
    : 'scope.member must be the id of a member, or * for the team; leave it out for the home’s own person';
}

/** Why a value is not the metadata of a lesson; undefined when it is. Total. */
export function checkNote(note: unknown): Why {
  if (!isObject(note)) return 'the note must be an object';
  const { halfLifeDays } = note;
  return (
    checkOptional('note.context', note.context, MAX_LINE) ??
    checkList('note.keywords', note.keywords, MAX_WORDS, checkWord) ??
    checkList('note.tags', note.tags, MAX_WORDS, checkWord) ??
    checkList('note.links', note.links, MAX_WORDS, checkWord) ??
    (note.relations === undefined
      ? undefined
      : checkList('note.relations', note.relations, MAX_WORDS, checkRelation)) ??
    (note.triggers === undefined
      ? undefined
      : checkList('note.triggers', note.triggers, MAX_TRIGGERS, checkTrigger)) ??
    (note.isAlways === undefined || note.isAlways === true
      ? undefined
      : 'note.isAlways must be true or absent') ??
    (note.tier === undefined ? undefined : checkChoice('note.tier', note.tier, IDENTITY_TIERS)) ??
    checkShare(note, 'importance') ??
    checkShare(note, 'confidence') ??
    checkChoice('note.source', note.source, SOURCES) ??
    checkChoice('note.visibility', note.visibility, VISIBILITIES) ??
    (typeof halfLifeDays === 'number' && halfLifeDays > 0 && Number.isFinite(halfLifeDays)
      ? undefined
      : 'note.halfLifeDays must be a number of days above 0')
  );
}

function checkRelation(label: string, value: unknown): Why {
  if (!isObject(value)) return `${label} must be an object with a type and the id of a lesson`;
  return checkChoice(`${label}.type`, value.type, RELATION_TYPES) ?? checkWord(`${label}.to`, value.to);
}

function checkEvidence(evidence: unknown): Why {
  if (!isObject(evidence)) return 'the evidence must be an object';
  return (
    checkList('evidence.turns', evidence.turns, MAX_EVIDENCE, checkReference) ??
    checkList('evidence.quotes', evidence.quotes, MAX_EVIDENCE, checkQuote) ??
    checkWord('evidence.learner', evidence.learner) ??
    checkOptional('evidence.model', evidence.model, MAX_REFERENCE) ??
    checkOptional('evidence.prompt', evidence.prompt, MAX_REFERENCE) ??
    (evidence.team === undefined
      ? undefined
      : checkList('evidence.team', evidence.team, MAX_EVIDENCE, checkTeamOrigin))
  );
}

function checkTeamOrigin(label: string, origin: unknown): Why {
  if (!isObject(origin)) return `${label} must be an object with a member and the id of a lesson`;
  const { member } = origin;
  return member === '' || (typeof member === 'string' && isScopeMember(member))
    ? checkReference(`${label}.lesson`, origin.lesson)
    : `${label}.member must be the id of a member`;
}

function checkQuote(label: string, quote: unknown): Why {
  if (!isObject(quote)) return `${label} must be an object`;
  const { start, length } = quote;
  return (
    checkReference(`${label}.turn`, quote.turn) ??
    checkReference(`${label}.block`, quote.block) ??
    (isCount(start, 0) ? undefined : `${label}.start must be a whole number, 0 or more`) ??
    (isCount(length, 1) ? undefined : `${label}.length must be a whole number, 1 or more`)
  );
}

const isCount = (value: unknown, least: number): boolean =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least;

const checkWord = (label: string, value: unknown): Why => checkString(label, value, { max: MAX_WORD });

const checkTrigger = (label: string, value: unknown): Why => checkString(label, value, { max: MAX_TRIGGER });

const checkReference = (label: string, value: unknown): Why =>
  checkString(label, value, { max: MAX_REFERENCE });

const checkOptional = (label: string, value: unknown, max: number): Why =>
  value === undefined ? undefined : checkString(label, value, { max });

function checkShare(note: JsonObject, field: string): Why {
  const value = note[field];
  return typeof value === 'number' && value >= 0 && value <= 1
    ? undefined
    : `note.${field} must be a number from 0 to 1`;
}
