import path from 'node:path';
import { asArray, type Json, parseJson } from '../../../src/core/json.ts';
import { agrees, type Match, matchFields, matchValue, nearestOf } from './match-values.ts';
import type { FileEdit, Keys, NewDocument, Plan } from './plan.ts';
import { type FoundDocument, readDocument } from './read-document.ts';
import { pathOf } from './steps.ts';

/** What someone left of a task: the workspace's texts, seen through what the task asked for. */
export interface Work {
  readonly plan: Plan;
  /** By path; all that a rule or the task could be about. */
  readonly texts: ReadonlyMap<string, string>;
  /** One for each document that was to be created. */
  readonly created: readonly CreatedDocument[];
  /** One for each file that was to be changed. */
  readonly edited: readonly EditedFile[];
  /** Times that were written because some rule wants them, not the task. */
  readonly sideTimes: readonly string[];
}

export interface CreatedDocument {
  readonly wanted: NewDocument;
  /** The file that comes nearest to it. */
  readonly found?: FoundDocument;
  /** Every file that could be meant: all new ones of its format in its folder. */
  readonly candidates: readonly FoundDocument[];
  readonly matches: readonly Match[];
}

export interface EditedFile {
  readonly edit: FileEdit;
  readonly before: Json | undefined;
  readonly now: Json | undefined;
  readonly matches: readonly Match[];
}

export function observe(plan: Plan, texts: ReadonlyMap<string, string>): Work {
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
  if (best === undefined) return { wanted, candidates, matches: matchFields(wanted.fields, undefined) };
  return { wanted, found: best.found, candidates, matches: best.matches };
}

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
    const where = pathOf(change.at);
    if ('to' in change) return matchValue(change.to, valueAt(now, change.at), where);
    const added = addedTo(valueAt(before, change.at), valueAt(now, change.at));
    const best = nearestOf(change.adds, added);
    return matchValue(change.adds, best < 0 ? undefined : added[best], where);
  });
  return { edit, before, now, matches };
}

/** A record in each line; undefined when a line is none. */
function parseLines(text: string): Json | undefined {
  const records = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [parseJson(line)]));
  return records.every((record) => record !== undefined) ? records : undefined;
}

export function valueAt(json: Json | undefined, keys: Keys): Json | undefined {
  let at: unknown = json;
  for (const key of keys) at = (at as Record<string | number, unknown> | null | undefined)?.[key];
  return at as Json | undefined;
}

/** What a list has now that it did not have. */
function addedTo(before: Json | undefined, now: Json | undefined): readonly Json[] {
  const old = asArray(before).map((item) => JSON.stringify(item));
  return asArray(now).filter((item) => !old.includes(JSON.stringify(item)));
}
