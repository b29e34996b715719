import type { BySplit } from '../scene.ts';

/** Everything a short task is put together from: few words, regular, the same shapes again and again. */
export const LEAD = '{task}, {date}, {clock}, from {person}.';

export const CREATE: BySplit = {
  train: [
    'Write a JSON {type} in {folder}: {fields}.',
    'New JSON {type} in {folder}: {fields}.',
    'Put a JSON {type} into {folder}: {fields}.',
  ],
  gate: [
    'Make a JSON {type} in {folder} with {fields}.',
    'A JSON {type} for {folder}: {fields}.',
    'We want a JSON {type} in {folder}: {fields}.',
  ],
  report: [
    'Create a JSON {type} in {folder}: {fields}.',
    'Leave a JSON {type} in {folder} with {fields}.',
    'Into {folder} goes a JSON {type}: {fields}.',
  ],
};

export const UPDATE: BySplit = {
  train: ['In {path} set {changes}.', 'Set {changes} in {path}.', 'Change {path}: {changes}.'],
  gate: ['Update {path}: {changes}.', 'In {path} change {changes}.', 'Move {changes} in {path}.'],
  report: ['Edit {path}: {changes}.', 'For {path}: {changes}.', 'In {path} turn {changes}.'],
};

export const APPEND: BySplit = {
  train: [
    'Add a line to {path}: {fields}.',
    'One more line for {path}: {fields}.',
    'Append to {path}: {fields}.',
  ],
  gate: [
    'Extend {path} by a line: {fields}.',
    'The next line of {path}: {fields}.',
    '{path} gets a line: {fields}.',
  ],
  report: [
    'Log this in {path}: {fields}.',
    'A new line in {path}: {fields}.',
    'Continue {path} with {fields}.',
  ],
};

/** Kinds of documents and what stands in them, in the order in which it is said. */
export const DOCUMENTS: readonly (readonly [type: string, keys: readonly ShortKey[]])[] = [
  ['note', ['topic', 'owner', 'due']],
  ['card', ['topic', 'ticket', 'due']],
  ['quote', ['topic', 'cost', 'due']],
  ['memo', ['topic', 'owner', 'ticket', 'due']],
  ['plan', ['topic', 'effort', 'due']],
  ['review', ['topic', 'owner', 'effort']],
];

export type ShortKey =
  | 'topic'
  | 'owner'
  | 'due'
  | 'ticket'
  | 'cost'
  | 'effort'
  | 'state'
  | 'version'
  | 'by'
  | 'at';
export const KEYS: readonly ShortKey[] = [
  'topic',
  'owner',
  'due',
  'ticket',
  'cost',
  'effort',
  'state',
  'version',
  'by',
  'at',
];

export const STATES: readonly string[] = ['todo', 'doing', 'done', 'waiting', 'closed'];
export const UNITS = { cost: 'EUR', effort: 'hours' } as const;
export const BOARD_FILE = 'json';
export const LOG_FILE = 'jsonl';
