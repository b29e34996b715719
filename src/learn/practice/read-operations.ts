import { asArray, isObject, type Json, type JsonObject } from '../../core/json.ts';
import type { ReplyFault } from '../../core/learn.ts';
import { fieldOf, markdownOf } from '../reply-fields.ts';

/** What a group wants to do to the library. `ids` are stable ids of lessons. */
export type LessonOperation =
  | { readonly op: 'ADD'; readonly content?: string }
  | { readonly op: 'UPDATE'; readonly ids: readonly [string]; readonly content?: string }
  | { readonly op: 'MERGE'; readonly ids: readonly string[]; readonly content?: string }
  | { readonly op: 'DELETE'; readonly ids: readonly [string]; readonly reason?: string }
  | { readonly op: 'NONE' };

export interface ReadOperations {
  readonly operations: readonly LessonOperation[];
  /** Operations that are not carried out, and why: they name no lesson that was shown, or one that may not be changed. */
  readonly quarantined: readonly string[];
}

/** The lessons that a model was shown, by the alias that it saw. */
export interface ShownLessons {
  readonly ids: ReadonlyMap<string, string>;
  /** Those that no learner may change. */
  readonly fixed: ReadonlySet<string>;
}

const MOST_OPERATIONS = 4;
const MOST_LISTED = 64;
const SHORTEST_CONTENT = 20;
const LONGEST_CONTENT = 1500;

const OPERATIONS: readonly (readonly [LessonOperation['op'], RegExp])[] = [
  ['MERGE', /^(?:merge|combine|unite|join|consolidate)/],
  ['UPDATE', /^(?:update|modify|revise|edit|change|refine|replace|improve)/],
  ['DELETE', /^(?:delete|remove|retire|drop|discard)/],
  ['ADD', /^(?:add|insert|create|new|append)/],
  ['NONE', /^(?:none|noop|nothing|skip|keep|ignore|unchanged|pass)/],
];

/**
 * The operations in a reply. Form is repaired: another case, an object instead of a list, `[E1]` for `E1`, a `DELETE` without content.
 * Meaning is not: an id that names no lesson is quarantined, never dropped and never turned into something else. Never throws.
 */
export function readOperations(value: Json, shown: ShownLessons): ReadOperations | ReplyFault {
  const list = listOf(value);
  const operations: LessonOperation[] = [];
  const quarantined: string[] = [];
  for (const one of list.slice(0, MOST_LISTED)) {
    if (!isObject(one)) continue;
    const op = operationOf(one);
    if (op === undefined) continue;
    const read = readOperation(op, one, shown);
    if ('why' in read) quarantined.push(read.why);
    else operations.push(read);
  }
  if (operations.length + quarantined.length === 0) {
    if (Array.isArray(value) && value.length === 0) return { operations: [{ op: 'NONE' }], quarantined: [] };
    return { fault: 'it must be a list of objects with "operation": ADD, UPDATE, MERGE, DELETE or NONE' };
  }
  return { operations: operations.slice(0, MOST_OPERATIONS), quarantined };
}

const LISTS = ['operations', 'plan', 'changes', 'actions', 'updates', 'result'];

function listOf(value: Json, depth = 0): readonly Json[] {
  if (Array.isArray(value)) return value.flatMap((one: Json) => (Array.isArray(one) ? one : [one]));
  if (typeof value === 'string') return [{ operation: value }];
  if (!isObject(value) || depth > 2) return [];
  if (operationOf(value) !== undefined) return [value];
  const inner = fieldOf(value, LISTS);
  if (inner !== undefined) return listOf(inner, depth + 1);
  // {"E1": {"operation": "UPDATE"}}: the ids as keys.
  return Object.entries(value).flatMap(([id, one]) => (isObject(one) ? [{ id, ...one }] : []));
}

function operationOf(one: JsonObject): LessonOperation['op'] | undefined {
  const said = fieldOf(one, ['operation', 'op', 'action', 'type', 'option']);
  if (typeof said !== 'string') return undefined;
  const word = said
    .trim()
    .toLowerCase()
    .replace(/^[^a-z]+/, '');
  return OPERATIONS.find(([, pattern]) => pattern.test(word))?.[0];
}

function readOperation(
  op: LessonOperation['op'],
  one: JsonObject,
  { ids, fixed }: ShownLessons,
): LessonOperation | { readonly why: string } {
  if (op === 'NONE') return { op };
  const content = contentOf(one);
  if (op === 'ADD') return { op, ...content };
  const named = namesIn(one);
  const known = [...new Set(named.map((name) => idOf(name, ids)))];
  const at = known.indexOf(undefined);
  if (named.length === 0) return { why: `${op} names no lesson` };
  if (at >= 0) return { why: `${op} names ${clipped(named[at] ?? '')}, which is no lesson that was shown` };
  const lessons = known.flatMap((id) => (id === undefined ? [] : [id]));
  const shut = lessons.find((id) => fixed.has(id));
  if (shut !== undefined) return { why: `${op} names ${shut}, which only a person may change` };
  const [first] = lessons;
  if (first === undefined) return { why: `${op} names no lesson` };
  if (op === 'DELETE') return { op, ids: [first], ...reasonOf(one) };
  if (op === 'MERGE' && lessons.length > 1) return { op, ids: lessons, ...content };
  // A merge of one lesson is a new text for it.
  return { op: 'UPDATE', ids: [first], ...content };
}

function namesIn(one: JsonObject): readonly string[] {
  const fields = [
    'ids',
    'id',
    'lessons',
    'lesson',
    'experience_id',
    'target',
    'targets',
    'merged_ids',
    'alias',
  ];
  const given = fieldOf(one, fields);
  const list =
    typeof given === 'string'
      ? given.split(/[\s,;+&]+/)
      : asArray(Array.isArray(given) ? given : [given ?? null]);
  return list
    .flatMap((name) => (typeof name === 'string' || typeof name === 'number' ? [String(name)] : []))
    .filter((name) => bareAlias(name) !== '' && !/^(?:and|null|none)$/i.test(name.trim()))
    .slice(0, MOST_LISTED);
}

const bareAlias = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

function idOf(name: string, ids: ReadonlyMap<string, string>): string | undefined {
  const bare = bareAlias(name);
  for (const [alias, id] of ids) if (bareAlias(alias) === bare || bareAlias(id) === bare) return id;
  return undefined;
}

function contentOf(one: JsonObject): { readonly content?: string } {
  const text = markdownOf(fieldOf(one, ['content', 'insight', 'text', 'experience', 'new_content']));
  return text.length < SHORTEST_CONTENT || text.length > LONGEST_CONTENT ? {} : { content: text };
}

function reasonOf(one: JsonObject): { readonly reason?: string } {
  const reason = markdownOf(fieldOf(one, ['reason', 'why', 'rationale']));
  return reason === '' ? {} : { reason: reason.slice(0, 200) };
}

const clipped = (name: string): string => JSON.stringify(name.slice(0, 40));
