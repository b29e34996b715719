import { hash } from 'node:crypto';
import { withValueAt } from '../../../../src/agent/sandbox/plain/edit-commands.ts';
import { type Json, parseJson } from '../../../../src/core/json.ts';
import {
  changedValue,
  type Fields,
  type FileEdit,
  type Keys,
  type NewDocument,
  PLAIN_STYLE,
  type Plan,
  record,
  type Style,
  styled,
  type Value,
} from './plan.ts';

/** One change to a workspace, as data: it can be written as a command, and applied to texts in memory. */
export type WorkStep =
  | { readonly do: 'write'; readonly path: string; readonly text: string }
  | { readonly do: 'append'; readonly path: string; readonly line: string }
  | { readonly do: 'copy'; readonly from: string; readonly to: string }
  | { readonly do: 'set'; readonly path: string; readonly keys: Keys; readonly value: Json }
  | { readonly do: 'checksum'; readonly path: string; readonly into: string };

/** A line of the plain shell. */
export function commandOf(step: WorkStep): string {
  switch (step.do) {
    case 'write':
      return `write ${quoted(step.path)} ${quoted(step.text)}`;
    case 'append':
      return `append ${quoted(step.path)} ${quoted(step.line)}`;
    case 'copy':
      return `cp ${quoted(step.from)} ${quoted(step.to)}`;
    case 'set':
      return `set ${quoted(step.path)} ${quoted(jsonPathOf(step.keys))} ${quoted(settable(step.value))}`;
    case 'checksum':
      return `sha256sum ${quoted(step.path)} >> ${quoted(step.into)}`;
  }
}

/** `tickets[2].state` */
export const jsonPathOf = (keys: Keys): string =>
  keys.reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`),
    '',
  );

/** Text that would parse as another JSON value is quoted. */
const settable = (value: Json): string =>
  typeof value === 'string' && parseJson(value) === undefined ? value : JSON.stringify(value);

const PLAIN_WORD = /^[\w./,:+@%-]+$/;
const quoted = (word: string): string =>
  PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Applies the steps to the texts of a workspace. Throws for a step that is impossible. */
export function applySteps(
  texts: ReadonlyMap<string, string>,
  steps: readonly WorkStep[],
): ReadonlyMap<string, string> {
  const now = new Map(texts);
  const read = (path: string): string => {
    const found = now.get(path);
    if (found === undefined) throw new Error(`${path} is not there`);
    return found;
  };
  for (const step of steps) {
    if (step.do === 'write') now.set(step.path, `${step.text}\n`);
    else if (step.do === 'append') now.set(step.path, `${now.get(step.path) ?? ''}${step.line}\n`);
    else if (step.do === 'copy') now.set(step.to, read(step.from));
    else if (step.do === 'checksum')
      now.set(step.into, `${now.get(step.into) ?? ''}${checksumLine(read(step.path), step.path)}\n`);
    else {
      const changed = withValueAt(parseJson(read(step.path)) ?? {}, step.keys, step.value);
      now.set(step.path, `${JSON.stringify(changed, null, 2)}\n`);
    }
  }
  return now;
}

export const sha256Of = (text: string): string => hash('sha256', text, 'hex');
export const checksumLine = (text: string, path: string): string => `${sha256Of(text)}  ${path}`;

/**
 * A way to do a task. It begins without any house rule; each rule that is obeyed changes it, in any order, since files are written only
 * at the end.
 */
export interface WorkDraft {
  readonly plan: Plan;
  readonly style: Style;
  readonly documents: readonly DraftDocument[];
  /** Steps before the first change, and after the last file is written. */
  readonly before: readonly StepsFor[];
  readonly after: readonly StepsFor[];
}

export interface DraftDocument {
  readonly wanted: NewDocument;
  readonly path: string;
  readonly fields: Fields;
  /** Markdown: the front matter. */
  readonly front: Fields;
  /** Markdown: the first line. */
  readonly headLine?: string;
  /** The order in which the members of an object are written. */
  readonly arrange: (fields: Fields) => Fields;
}

/** Steps that depend on the finished draft. */
type StepsFor = (draft: WorkDraft) => readonly WorkStep[];

export const createDraft = (plan: Plan): WorkDraft => ({
  plan,
  style: PLAIN_STYLE,
  documents: plan.creates.map((wanted) => ({
    wanted,
    path: `${wanted.folder}/${wanted.name ?? `${wanted.about.join('-')}.${wanted.format}`}`,
    fields: wanted.fields,
    front: [],
    arrange: (fields) => fields,
  })),
  before: [],
  after: [],
});

export const withDocuments = (
  draft: WorkDraft,
  change: (document: DraftDocument) => DraftDocument,
): WorkDraft => ({
  ...draft,
  documents: draft.documents.map(change),
});

export const withStyle = (draft: WorkDraft, style: Partial<Style>): WorkDraft => ({
  ...draft,
  style: { ...draft.style, ...style },
});

/** The paths of the task's files, in the order in which they are written. */
export const pathsOf = (draft: WorkDraft): readonly string[] => [
  ...draft.plan.edits.map(({ path }) => path),
  ...draft.documents.map(({ path }) => path),
];

export const stepsOf = (draft: WorkDraft): readonly WorkStep[] => [
  ...draft.before.flatMap((addition) => addition(draft)),
  ...draft.plan.edits.flatMap((edit) => editSteps(edit, draft.style)),
  ...draft.documents.map(
    (document): WorkStep => ({
      do: 'write',
      path: document.path,
      text:
        document.wanted.format === 'json' ? jsonOf(document, draft.style) : markdownOf(document, draft.style),
    }),
  ),
  ...draft.after.flatMap((addition) => addition(draft)),
];

/** A single value is set in place; when a list grows, the whole file is rewritten. */
function editSteps({ path, format, before, changes }: FileEdit, style: Style): readonly WorkStep[] {
  if (format === 'jsonl')
    return changes.map((change) => ({
      do: 'append',
      path,
      line: JSON.stringify(styled(changedValue(change), style)),
    }));
  if (changes.every((change) => 'to' in change))
    return changes.map((change) => ({
      do: 'set',
      path,
      keys: change.at,
      value: styled(change.to, style),
    }));
  const after = changes.reduce<Json>((json, change) => {
    if ('to' in change) return withValueAt(json, change.at, styled(change.to, style));
    return withValueAt(json, [...change.at, lengthAt(json, change.at)], styled(change.adds, style));
  }, parseJson(before) ?? {});
  return [{ do: 'write', path, text: JSON.stringify(after) }];
}

function lengthAt(json: Json | undefined, keys: readonly (string | number)[]): number {
  let at = json;
  for (const key of keys) at = (at as Record<string | number, Json> | undefined)?.[key];
  return Array.isArray(at) ? at.length : 0;
}

const jsonOf = ({ fields, arrange }: DraftDocument, style: Style): string =>
  JSON.stringify(styled(arranged(record(fields), arrange), style));

function arranged(value: Value, arrange: (fields: Fields) => Fields): Value {
  if (value.is === 'list') return { ...value, items: value.items.map((item) => arranged(item, arrange)) };
  if (value.is !== 'record') return value;
  return record(arrange(value.fields).map(([key, inner]) => [key, arranged(inner, arrange)]));
}

function markdownOf({ headLine, front, fields }: DraftDocument, style: Style): string {
  const lines = (of: Fields): readonly string[] =>
    of.map(([key, value]) => `${key}: ${String(styled(value, style))}`);
  return [
    ...(front.length === 0 ? [] : ['---', ...lines(front), '---']),
    ...(headLine === undefined ? [] : [headLine]),
    ...lines(fields),
  ].join('\n');
}
