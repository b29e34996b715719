import type { Json } from '../../../src/core/json.ts';
import { parseJson } from '../../../src/core/json.ts';
import {
  changedValue,
  type Fields,
  type FileEdit,
  type NewDocument,
  PLAIN_STYLE,
  type Plan,
  record,
  type Style,
  styled,
  type Value,
} from './plan.ts';
import { put, type Step } from './steps.ts';

/**
 * A way to do a task. It begins as someone would do it who knows no rule; each rule that is obeyed changes it, in any order,
 * since everything is written only in the end.
 */
export interface Draft {
  readonly plan: Plan;
  readonly style: Style;
  readonly documents: readonly DraftDocument[];
  /** What is done before any file is changed, and after all of them are written. */
  readonly before: readonly Addition[];
  readonly after: readonly Addition[];
}

export interface DraftDocument {
  readonly wanted: NewDocument;
  readonly path: string;
  readonly fields: Fields;
  /** Markdown: what stands between two lines of `---` at its top. */
  readonly front: Fields;
  /** Markdown: a line above everything else. */
  readonly headLine?: string;
  /** In which order the members of an object are written. */
  readonly arrange: (fields: Fields) => Fields;
}

/** Steps that depend on what the draft has become in the end. */
export type Addition = (draft: Draft) => readonly Step[];

export const createDraft = (plan: Plan): Draft => ({
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

export const withDocuments = (draft: Draft, change: (document: DraftDocument) => DraftDocument): Draft => ({
  ...draft,
  documents: draft.documents.map(change),
});

export const withStyle = (draft: Draft, style: Partial<Style>): Draft => ({
  ...draft,
  style: { ...draft.style, ...style },
});

/** The paths of all files that the task is about, in the order in which they are written. */
export const pathsOf = (draft: Draft): readonly string[] => [
  ...draft.plan.edits.map(({ path }) => path),
  ...draft.documents.map(({ path }) => path),
];

export const stepsOf = (draft: Draft): readonly Step[] => [
  ...draft.before.flatMap((addition) => addition(draft)),
  ...draft.plan.edits.flatMap((edit) => editSteps(edit, draft.style)),
  ...draft.documents.map(
    (document): Step => ({
      do: 'write',
      path: document.path,
      text:
        document.wanted.format === 'json' ? jsonOf(document, draft.style) : markdownOf(document, draft.style),
    }),
  ),
  ...draft.after.flatMap((addition) => addition(draft)),
];

/** A single value is set in its place; a list that grows is written anew with the rest of its file. */
function editSteps({ path, format, before, changes }: FileEdit, style: Style): readonly Step[] {
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
  const after = changes.reduce<Json | undefined>((json, change) => {
    if ('to' in change) return put(json, change.at, styled(change.to, style));
    return put(json, [...change.at, lengthAt(json, change.at)], styled(change.adds, style));
  }, parseJson(before));
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
