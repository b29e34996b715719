import type { Json } from '../../../../src/core/json.ts';
import type { LocalTime } from '../world.ts';

/**
 * What a task asks for, independent of house rules. The task's text, the commands that solve it and its check are all made from it, so
 * they agree.
 */
export interface Plan {
  /** The id in the task's text: `t1007`. */
  readonly task: string;
  readonly today: LocalTime;
  /** The author's name, for metadata. */
  readonly author: string;
  /** A short summary of the work, for the log. */
  readonly summary: string;
  readonly creates: readonly NewDocument[];
  readonly edits: readonly FileEdit[];
  /** Files that are only read. */
  readonly given: Readonly<Record<string, string>>;
}

/** A file to create. */
export interface NewDocument {
  /** No other task writes into it. */
  readonly folder: string;
  readonly format: 'json' | 'md';
  /** Only if the task names the file. */
  readonly name?: string;
  /** Its subject in lower-case words, for its file name. */
  readonly about: readonly string[];
  readonly fields: Fields;
}

/** An existing file that belongs to this task alone. `jsonl`: one record per line. */
export interface FileEdit {
  readonly path: string;
  readonly format: 'json' | 'jsonl';
  readonly before: string;
  readonly changes: readonly ValueChange[];
}

export type Keys = readonly (string | number)[];

/** `to`: the value at a place afterwards. `adds`: a new element of a list. */
type ValueChange = { readonly at: Keys; readonly to: Value } | { readonly at: Keys; readonly adds: Value };

/** A value independent of its notation, which house rules decide. */
export type Value =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'time'; readonly at: LocalTime }
  /** A day without a time of day. */
  | { readonly is: 'date'; readonly at: LocalTime }
  | { readonly is: 'ticket'; readonly number: number }
  | { readonly is: 'amount'; readonly number: number; readonly unit: string }
  /** Of things. */
  | { readonly is: 'count'; readonly number: number }
  /** In per cent. */
  | { readonly is: 'share'; readonly number: number }
  | { readonly is: 'list'; readonly items: readonly Value[] }
  | { readonly is: 'record'; readonly fields: Fields };

export type Fields = readonly (readonly [key: string, value: Value])[];
export type Leaf = Exclude<Value, { readonly is: 'list' | 'record' }>;

export const text = (words: string): Value => ({ is: 'text', text: words });
export const date = (at: LocalTime): Value => ({ is: 'date', at });
export const countValue = (number: number): Value => ({ is: 'count', number });
export const share = (number: number): Value => ({ is: 'share', number });
export const time = (at: LocalTime): Value => ({ is: 'time', at });
export const ticket = (number: number): Value => ({ is: 'ticket', number });
export const amount = (number: number, unit: string): Value => ({ is: 'amount', number, unit });
export const list = (items: readonly Value[]): Value => ({ is: 'list', items });
export const record = (fields: Fields): Value => ({ is: 'record', fields });

/** All scalar values that a task creates or changes. */
export function leavesOf(plan: Plan): readonly Leaf[] {
  const created = plan.creates.flatMap(({ fields }) => fields.map(([, value]) => value));
  const changed = plan.edits.flatMap(({ changes }) => changes.map(changedValue));
  return [...created, ...changed].flatMap(flatten);
}

export const changedValue = (change: ValueChange): Value => ('to' in change ? change.to : change.adds);

function flatten(value: Value): readonly Leaf[] {
  if (value.is === 'list') return value.items.flatMap(flatten);
  if (value.is === 'record') return value.fields.flatMap(([, inner]) => flatten(inner));
  return [value];
}

/** The notation of a plan's values. */
export interface Style {
  time(at: LocalTime): string;
  date(at: LocalTime): Json;
  ticket(number: number): Json;
  amount(number: number, unit: string): Json;
}

export function styled(value: Value, style: Style): Json {
  switch (value.is) {
    case 'list':
      return value.items.map((item) => styled(item, style));
    case 'record':
      return Object.fromEntries(value.fields.map(([key, inner]) => [key, styled(inner, style)]));
    case 'text':
      return value.text;
    case 'time':
    case 'date':
      return style[value.is](value.at);
    case 'ticket':
      return style.ticket(value.number);
    case 'amount':
      return style.amount(value.number, value.unit);
    case 'count':
    case 'share':
      return value.number;
  }
}

/** The notation without any house rule, also that of the day's initial files. */
export const PLAIN_STYLE: Style = {
  time: ({ year, month, day, hour, minute }) =>
    `${year}-${twoDigits(month)}-${twoDigits(day)} ${twoDigits(hour)}:${twoDigits(minute)}`,
  date: ({ year, month, day }) => `${year}-${twoDigits(month)}-${twoDigits(day)}`,
  ticket: (number) => number,
  amount: (number) => number,
};

export const twoDigits = (number: number): string => String(number).padStart(2, '0');
