import type { Random } from '../../../../src/base/random.ts';
import type { JsonObject } from '../../../../src/core/json.ts';
import { fill, pick, shuffled } from '../../../suites/workdays/draw.ts';
import { newWord } from '../placeholders.ts';
import type { ToldRule } from '../tell/tell.ts';
import { paraphrase } from '../wordings.ts';
import { drawKey, KEYS } from './targets.ts';
import { type AuxiliaryRule, mapRecords, newRecord, type TaskSteps } from './task-steps.ts';

type Rewrite = (record: JsonObject, task: TaskSteps) => JsonObject;

interface RecordOperation {
  readonly name: string;
  readonly aspect: 'keys' | 'order' | 'fields';
  draw(random: Random): { readonly change: Rewrite; readonly words: Readonly<Record<string, string>> };
  readonly says: readonly string[];
}

const entries = (record: JsonObject) => Object.entries(record);
/** In other words; what shows an example may be hard to read otherwise. */
const asSaid = (text: string, example: string, random: Random): ToldRule => ({
  text: paraphrase(text, random),
  isShown: text.includes(example),
});

const RECORD_OPERATIONS: readonly RecordOperation[] = [
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
    aspects: [operation.aspect],
    apply: (task) => mapRecords(task, (record) => change(record, task), 'new'),
    tell: (example, own) => {
      const record = newRecord(example) ?? {};
      const keys = Object.keys(change(record, example)).join(', ');
      return asSaid(fill(pick(own, operation.says), { keys, ...words }), keys, own);
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
    aspects: ['order'],
    apply: (task) => mapRecords(task, (record) => change(record, task), 'new'),
    tell: (_, own) =>
      asSaid(
        fill(
          pick(own, [
            'Keys come in this order: {order}.',
            'Sort the fields of a new file as {order}.',
            'The order of the keys is {order}, without what a file does not have.',
          ]),
          { order: order.join(', ') },
        ),
        order.join(', '),
        own,
      ),
  };
}
