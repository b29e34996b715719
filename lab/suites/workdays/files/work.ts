import path from 'node:path';
import {
  asArray,
  asObject,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../../../../src/core/json.ts';
import { jsonPathOf } from './draft.ts';
import type { Fields, FileEdit, Keys, Leaf, NewDocument, Plan, Value } from './plan.ts';
import { meansDay, meansMoment } from './spoken-time.ts';

/** The state of a workspace after a task, matched with what the task asked for. */
export interface Work {
  readonly plan: Plan;
  /** By path; every file that a rule or the task could concern. */
  readonly texts: ReadonlyMap<string, string>;
  /** One for each document to create. */
  readonly created: readonly CreatedDocument[];
  /** One for each file to change. */
  readonly edited: readonly EditedFile[];
  /** Times that a rule required, not the task. */
  readonly sideTimes: readonly string[];
}

export interface CreatedDocument {
  readonly wanted: NewDocument;
  /** The best match among the candidates. */
  readonly found?: FoundDocument;
  /** All new files of its format in its folder. */
  readonly candidates: readonly FoundDocument[];
  readonly matches: readonly Match[];
}

export interface EditedFile {
  readonly edit: FileEdit;
  readonly before: Json | undefined;
  readonly now: Json | undefined;
  readonly matches: readonly Match[];
}

export function observeWork(plan: Plan, texts: ReadonlyMap<string, string>): Work {
  const known = new Set([...Object.keys(plan.given), ...plan.edits.map((edit) => edit.path)]);
  return {
    plan,
    texts,
    created: plan.creates.map((wanted) => findDocument(wanted, texts, known)),
    edited: plan.edits.map((edit) => readEdit(edit, texts.get(edit.path))),
    sideTimes: [],
  };
}

function findDocument(
  wanted: NewDocument,
  texts: ReadonlyMap<string, string>,
  known: ReadonlySet<string>,
): CreatedDocument {
  const candidates = [...texts]
    .filter(([file]) => (wanted.name === undefined ? isNewIn(wanted, file, known) : file === named(wanted)))
    .map(([file, text]) => readDocument(file, text, wanted.format));
  const scored = candidates.map((found) => {
    const matches = matchFields(wanted.fields, found.members);
    return { found, matches, score: matches.filter(agrees).length };
  });
  const best = scored.toSorted((a, b) => b.score - a.score)[0];
  return best === undefined
    ? { wanted, candidates, matches: matchFields(wanted.fields, undefined) }
    : { wanted, found: best.found, candidates, matches: best.matches };
}

const memberOf = (members: JsonObject, key: string): Json | undefined =>
  members[key] ?? members[labelOf(key)];

const named = ({ folder, name }: NewDocument): string => `${folder}/${name}`;

const isNewIn = ({ folder, format }: NewDocument, file: string, known: ReadonlySet<string>): boolean =>
  path.posix.dirname(file) === folder &&
  path.posix.extname(file).toLowerCase() === `.${format}` &&
  !known.has(file);

function readEdit(edit: FileEdit, text: string | undefined): EditedFile {
  const read = edit.format === 'json' ? parseJson : parseLines;
  const before = read(edit.before);
  const now = text === undefined ? undefined : read(text);
  const matches = edit.changes.flatMap((change) => {
    const where = jsonPathOf(change.at);
    if ('to' in change) return matchValue(change.to, valueAt(now, change.at), where);
    const added = addedTo(valueAt(before, change.at), valueAt(now, change.at));
    const best = nearestOf(change.adds, added);
    return matchValue(change.adds, best < 0 ? undefined : added[best], where);
  });
  return { edit, before, now, matches };
}

/** One JSON value per line; undefined if a line is not JSON. */
function parseLines(text: string): Json | undefined {
  const records = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [parseJson(line)]));
  return records.every((record) => record !== undefined) ? records : undefined;
}

export function valueAt(json: Json | undefined, keys: Keys): Json | undefined {
  let at: unknown = json;
  for (const key of keys) at = (at as Record<string | number, unknown> | null | undefined)?.[key];
  return at as Json | undefined;
}

/** The elements that were added to a list. */
function addedTo(before: Json | undefined, now: Json | undefined): readonly Json[] {
  const old = asArray(before).map((item) => JSON.stringify(item));
  return asArray(now).filter((item) => !old.includes(JSON.stringify(item)));
}

/** Longer than any value of a task; bounds the work of a check. */
const LONGEST = 2000;

/** A wanted value and the value found in its place; undefined if nothing was found. */
export interface Match {
  /** `decisions[0].review_at` */
  readonly where: string;
  readonly wanted: Leaf;
  readonly found: Json | undefined;
}

/** Matches the values of fields with the members of an object. Records of a list may be in any order. */
function matchFields(fields: Fields, found: Json | undefined, where = ''): readonly Match[] {
  const members = asObject(found);
  return fields.flatMap(([key, value]) =>
    matchValue(value, memberOf(members, key), where === '' ? key : `${where}.${key}`),
  );
}

function matchValue(wanted: Value, found: Json | undefined, where: string): readonly Match[] {
  if (wanted.is === 'record') return matchFields(wanted.fields, found, where);
  if (wanted.is !== 'list') return [{ where, wanted, found }];
  const left = [...asArray(found)];
  return wanted.items.flatMap((item, index) => {
    const at = `${where}[${index}]`;
    const best = nearestOf(item, left);
    if (best < 0) return matchValue(item, undefined, at);
    return matchValue(item, left.splice(best, 1)[0], at);
  });
}

/** The index of the candidate that agrees most with the wanted value, the first of equal ones; -1 without candidates. */
function nearestOf(wanted: Value, candidates: readonly Json[]): number {
  let best = -1;
  let most = -1;
  for (const [index, candidate] of candidates.entries()) {
    const matches = matchValue(wanted, candidate, '');
    const score = matches.filter(agrees).length;
    if (score <= most) continue;
    best = index;
    most = score;
  }
  return best;
}

/** Whether the found value means the same, in any notation. */
export function agrees({ wanted, found }: Match): boolean {
  if (found === undefined || found === null || isObject(found) || Array.isArray(found)) return false;
  const said = String(found);
  if (said.length > LONGEST) return false;
  switch (wanted.is) {
    case 'text':
      return plain(said) === plain(wanted.text);
    case 'time':
      return meansMoment(said, wanted.at);
    case 'date':
      return meansDay(said, wanted.at);
    case 'ticket':
    case 'count':
    case 'share':
      return onlyNumber(said) === wanted.number;
    case 'amount':
      return onlyNumber(said.replaceAll(/(\d)[,_ '](?=\d{3}\b)/g, '$1')) === wanted.number;
  }
}

const plain = (said: string): string =>
  said
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/[.!]+$/, '');

/** The only number in a text; undefined if there are none or several. */
function onlyNumber(said: string): number | undefined {
  const numbers = said.match(/\d+(?:\.\d+)?/g) ?? [];
  return numbers.length === 1 ? Number(numbers[0]) : undefined;
}

/** A parsed file. */
interface FoundDocument {
  readonly path: string;
  readonly text: string;
  /** Markdown: its lines `label: value`, labels in lower case. Undefined if it cannot be read as an object. */
  readonly members: JsonObject | undefined;
  /** Markdown: the front matter. */
  readonly front: JsonObject;
  /** The first line after the front matter. */
  readonly firstLine: string;
}

function readDocument(path: string, text: string, format: 'json' | 'md'): FoundDocument {
  if (format === 'md') return readMarkdown(path, text);
  const json = parseJson(text);
  return { path, text, members: isObject(json) ? json : undefined, front: {}, firstLine: firstOf(text) };
}

function readMarkdown(path: string, text: string): FoundDocument {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const opens = lines.findIndex((line) => line.trim() !== '');
  const closes = lines[opens] === '---' ? lines.indexOf('---', opens + 1) : -1;
  const front = closes < 0 ? [] : lines.slice(opens + 1, closes);
  const body = closes < 0 ? lines : lines.slice(closes + 1);
  return {
    path,
    text,
    members: labelled(body),
    front: labelled(front),
    firstLine: firstOf(body.join('\n')),
  };
}

const firstOf = (text: string): string =>
  text
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim() ?? '';

/** Lines such as `- **Held at**: noon`; the first of a label counts. */
function labelled(lines: readonly string[]): JsonObject {
  const members: Record<string, Json> = {};
  for (const line of lines) {
    const bare = line
      .replaceAll('**', '')
      .replaceAll('__', '')
      .replace(/^[\s>#*+-]+/, '');
    const at = bare.indexOf(':');
    if (at <= 0) continue;
    const label = labelOf(bare.slice(0, at));
    members[label] ??= bare
      .slice(at + 1)
      .trim()
      .replace(/^["'`](.*)["'`]$/, '$1');
  }
  return members;
}

/** The normal form of a label: `Held at`, `held_at` and `HELD AT` are the same. */
export const labelOf = (label: string): string =>
  label
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ');
