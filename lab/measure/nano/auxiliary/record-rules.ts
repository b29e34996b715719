import type { Random } from '../../../../src/base/random.ts';
import type { JsonObject } from '../../../../src/core/json.ts';
import { fill, pick, shuffled } from '../../../workdays/draw.ts';
import { newWord } from '../placeholders.ts';
import { type AuxiliaryRule, mapRecords, newRecord, type TaskSteps } from './task-steps.ts';
import { drawKey, drawWord, KEYS } from './value-rules.ts';

type Rewrite = (record: JsonObject, task: TaskSteps) => JsonObject;

interface RecordOperation {
  readonly name: string;
  readonly aspect: 'keys' | 'order' | 'fields';
  draw(random: Random): { readonly change: Rewrite; readonly words: Readonly<Record<string, string>> };
  readonly says: readonly string[];
}

const entries = (record: JsonObject) => Object.entries(record);
const renamed =
  (name: (key: string) => string): Rewrite =>
  (record) =>
    Object.fromEntries(entries(record).map(([key, value]) => [name(key), value]));
/** Values of the task that a new field may repeat. */
const SOURCES: readonly (readonly [string, (task: TaskSteps) => string])[] = [
  ['the id of the task', ({ plan }) => plan.task],
  ['the name of whoever asked', ({ plan }) => plan.author],
  ['the kind of document', ({ plan }) => plan.creates[0]?.about.at(-1) ?? ''],
];

const RECORD_OPERATIONS: readonly RecordOperation[] = [
  {
    name: 'rename',
    aspect: 'keys',
    draw: (random) => {
      const [key, a] = [drawKey(random), newWord(random)];
      return { change: renamed((name) => (name === key ? a : name)), words: { key, a } };
    },
    says: [
      'In new files the key {key} is called {a}.',
      'Use the key {a} instead of {key}.',
      'Write "{a}" where you would write "{key}" as a key.',
      'Name the field {a}, not {key}.',
      'What the task calls {key} is {a} in our files.',
    ],
  },
  {
    name: 'begin-keys',
    aspect: 'keys',
    draw: (random) => {
      const a = `${newWord(random)}${pick(random, ['_', '-', '.', ':'])}`;
      return { change: renamed((name) => a + name), words: { a } };
    },
    says: [
      'All keys of a new file begin with {a}: {keys}.',
      'Put {a} in front of each key, as in {keys}.',
      'Keys carry {a} before their name.',
    ],
  },
  {
    name: 'move',
    aspect: 'order',
    draw: (random) => {
      const key = drawKey(random);
      return {
        change: (record) => {
          const own = entries(record).filter(([name]) => name === key);
          const rest = entries(record).filter(([name]) => name !== key);
          return Object.fromEntries([...own, ...rest]);
        },
        words: { key },
      };
    },
    says: [
      'The {key} comes first in a new file: {keys}.',
      'Put {key} first, as in {keys}.',
      '{key} is the first key of a file.',
      'Move the {key} to the top.',
    ],
  },
  {
    name: 'turn',
    aspect: 'order',
    draw: () => ({ change: (record) => Object.fromEntries(entries(record).toReversed()), words: {} }),
    says: [
      'Write the fields in the opposite order: {keys}.',
      'The last field of the task comes first, the first one last.',
      'Reverse the keys of what you are told, so {keys}.',
    ],
  },
  {
    name: 'add',
    aspect: 'fields',
    draw: (random) => {
      const a = newWord(random);
      const b = random.next() < 0.7 ? drawWord(random) : `${drawWord(random)} ${newWord(random)}`;
      const isFirst = random.next() < 0.4;
      return {
        change: (record) => (isFirst ? { [a]: b, ...record } : { ...record, [a]: b }),
        words: { a, b, place: isFirst ? ' at the top' : '', nth: isFirst ? 'first' : 'further' },
      };
    },
    says: [
      'Every new file says "{a}": "{b}"{place}.',
      'Add {a} with the value {b}{place} to each JSON file you make.',
      'New files have {a}: {b} as a {nth} field.',
      'I miss "{a}": "{b}" in the new file{place}.',
      'A {nth} key is {a}, and it says "{b}".',
    ],
  },
  {
    name: 'add-known',
    aspect: 'fields',
    draw: (random) => {
      const [a, [what, read]] = [newWord(random), pick(random, SOURCES)];
      return { change: (record, task) => ({ ...record, [a]: read(task) }), words: { a, what } };
    },
    says: [
      'New files have {what} under "{a}".',
      'Add {a}, which is {what}.',
      'A further key is {a}: {what}.',
      'Put {what} into each new file as {a}.',
    ],
  },
  {
    name: 'leave-out',
    aspect: 'fields',
    draw: (random) => {
      const key = drawKey(random);
      return {
        change: (record) => Object.fromEntries(entries(record).filter(([name]) => name !== key)),
        words: { key },
      };
    },
    says: [
      'Leave the {key} out of new files.',
      'A new file has no {key}.',
      'Do not write down the {key}.',
      'We never keep the {key}: {keys} is all there is.',
    ],
  },
  {
    name: 'repeat',
    aspect: 'fields',
    draw: (random) => {
      const [key, a] = [drawKey(random), newWord(random)];
      return {
        change: (record) => (key in record ? { ...record, [a]: record[key] } : record),
        words: { key, a },
      };
    },
    says: [
      'Repeat the {key} as {a}.',
      'The {key} is written twice, the second time under "{a}".',
      'Add {a}, the same as {key}.',
      'What is the {key} also goes under {a}.',
    ],
  },
  {
    name: 'wrap',
    aspect: 'fields',
    draw: (random) => {
      const a = newWord(random);
      return { change: (record) => ({ [a]: record }), words: { a } };
    },
    says: [
      'All fields of a new file go under one key, "{a}".',
      'Put everything into an object called {a}.',
      'A new file has a single key {a}, and in it the rest.',
    ],
  },
];

/** A rule on the keys and fields of new documents. */
export function drawRecordRule(random: Random): AuxiliaryRule {
  const operation = pick(random, RECORD_OPERATIONS);
  const { change, words } = operation.draw(random);
  return {
    form: `record ${operation.name}`,
    aspect: operation.aspect,
    apply: (task) => mapRecords(task, (record) => change(record, task), 'new'),
    tell: (example, own) => {
      const record = newRecord(example) ?? {};
      const keys = Object.keys(change(record, example)).join(', ');
      return fill(pick(own, operation.says), { keys, ...words });
    },
  };
}

/** A rule that gives the whole order of the keys. */
export function drawOrderRule(random: Random): AuxiliaryRule {
  const order = shuffled(random, KEYS);
  const place = (key: string): number => {
    const at = order.indexOf(key);
    return at < 0 ? order.length : at;
  };
  const change: Rewrite = (record) =>
    Object.fromEntries(entries(record).toSorted(([a], [b]) => place(a) - place(b)));
  return {
    form: 'record order',
    aspect: 'order',
    apply: (task) => mapRecords(task, (record) => change(record, task), 'new'),
    tell: (_, own) =>
      fill(
        pick(own, [
          'Keys come in this order: {order}.',
          'Sort the fields of a new file as {order}.',
          'The order of the keys is {order}, without what a file does not have.',
        ]),
        { order: order.join(', ') },
      ),
  };
}
