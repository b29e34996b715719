import type { Random } from '../../../../src/base/random.ts';
import type { Json } from '../../../../src/core/json.ts';
import { fill, pick } from '../../../workdays/draw.ts';
import { formsOf } from '../../../workdays/rules/draw-rules.ts';
import { newWord } from '../placeholders.ts';
import { type AuxiliaryRule, firstValue, mapValues } from './task-steps.ts';

export const KEYS = 'topic owner due ticket cost effort state version by at share seats start tags'.split(
  ' ',
);
/** Most often what is plain text: other values have rules of the suite. */
export const drawKey = (random: Random): string =>
  random.next() < 0.5 ? pick(random, ['topic', 'owner', 'state', 'version', 'by']) : pick(random, KEYS);

const PAIRS = [
  '()',
  '[]',
  '<>',
  '{}',
  '**',
  '__',
  '##',
  '//',
  '||',
  '==',
  '~~',
  '%%',
  '::',
  '--',
  '++',
  '!!',
  '^^',
  '..',
];
const SIGNS = [...'-_:/.+#=|~@%&*^!>'];

const drawSigns = (random: Random): readonly [string, string] => {
  const [open = '<', close = '>'] = [...pick(random, PAIRS)];
  return random.next() < 0.75 ? [open, close] : [open + open, close + close];
};
export const drawSign = (random: Random): string =>
  random.next() < 0.8 ? pick(random, SIGNS) : pick(random, SIGNS) + pick(random, SIGNS);
/** A word in one of several spellings. */
export function drawWord(random: Random): string {
  const word = newWord(random);
  const luck = random.next();
  if (luck < 0.6) return word;
  return luck < 0.8 ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);
}
const said = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '');

interface ValueOperation {
  readonly name: string;
  draw(random: Random): {
    readonly change: (value: Json) => Json;
    readonly words: Readonly<Record<string, string>>;
  };
  readonly says: readonly string[];
}

const joined = (random: Random): string => {
  const luck = random.next();
  return luck < 0.5 ? drawSign(random) : luck < 0.8 ? ' ' : '';
};

const OPERATIONS: readonly ValueOperation[] = [
  {
    name: 'surround',
    draw: (random) => {
      const [a, b] = drawSigns(random);
      return { change: (value) => `${a}${said(value)}${b}`, words: { a, b } };
    },
    says: [
      'Put the {key} between {a} and {b}: {to}.',
      'The {key} goes into {a} and {b}, as in {to}.',
      'Surround the {key} with {a} and {b}.',
      'Every {key} is wrapped in {a} and {b}, so {from} is {to}.',
      'Write {to} where you would write {from} as {key}.',
      'A {key} looks like {to} in our files.',
      'We enclose what stands as {key}: {a} in front, {b} behind.',
      'For the {key} we want {to}, not {from}.',
    ],
  },
  {
    name: 'begin',
    draw: (random) => {
      const a = `${drawWord(random)}${joined(random)}`;
      return { change: (value) => `${a}${said(value)}`, words: { a } };
    },
    says: [
      'Put "{a}" in front of the {key}: {to}.',
      'The {key} begins with "{a}", for instance {to}.',
      'Write the {key} with "{a}" before it.',
      '{from} as {key} becomes {to}.',
      'Each {key} starts with "{a}".',
      'Give the {key} the lead "{a}", like {to}.',
      'As {key} we want {to}, never {from} alone.',
    ],
  },
  {
    name: 'end',
    draw: (random) => {
      const a = `${joined(random)}${drawWord(random)}`;
      return { change: (value) => `${said(value)}${a}`, words: { a } };
    },
    says: [
      'Put "{a}" behind the {key}: {to}.',
      'The {key} ends with "{a}", for instance {to}.',
      'Write the {key} with "{a}" after it.',
      '{from} as {key} becomes {to}.',
      'Each {key} has "{a}" at its end.',
      'Let every {key} finish in "{a}", like {to}.',
      'As {key} we want {to}, never {from} alone.',
    ],
  },
  {
    name: 'letters',
    draw: (random) => {
      const isUpper = random.next() < 0.6;
      return {
        change: (value) => (isUpper ? said(value).toUpperCase() : said(value).toLowerCase()),
        words: {
          letters: isUpper
            ? pick(random, ['capital letters', 'upper case', 'capitals'])
            : pick(random, ['small letters', 'lower case']),
        },
      };
    },
    says: [
      'Write the {key} in {letters}: {to}.',
      'The {key} is always in {letters}.',
      'Use {letters} for the {key}, as in {to}.',
      'All letters of the {key} are {letters}.',
    ],
  },
  {
    name: 'pad',
    draw: (random) => {
      const width = 4 + random.below(5);
      return {
        change: (value) => said(value).padStart(width, '0'),
        words: { width: String(width) },
      };
    },
    says: [
      'Fill the {key} with zeros up to {width} places: {to}.',
      'The {key} has {width} places, zeros in front, as in {to}.',
      'Put zeros before the {key} until it is {width} long.',
      '{from} as {key} becomes {to}.',
    ],
  },
  {
    name: 'twice',
    draw: (random) => {
      const a = drawSign(random);
      return { change: (value) => `${said(value)}${a}${said(value)}`, words: { a } };
    },
    says: [
      'Write the {key} twice with {a} between: {to}.',
      'The {key} comes two times, joined by {a}, as in {to}.',
      '{from} as {key} becomes {to}.',
    ],
  },
  {
    name: 'as-list',
    draw: () => ({ change: (value) => [value], words: {} }),
    says: [
      'The {key} is a list, even with one entry: {json}.',
      'Put the {key} into a list, {json}.',
      'Write {json} under {key}, a list.',
      'Make the {key} an array with one element.',
    ],
  },
  {
    name: 'as-record',
    draw: (random) => {
      const a = newWord(random);
      return { change: (value) => ({ [a]: value }), words: { a } };
    },
    says: [
      'The {key} is an object with the key {a}: {json}.',
      'Put the {key} into an object under "{a}".',
      'Write {json} as the {key}.',
      'What is the {key} goes one level deeper, to {a}.',
    ],
  },
  {
    name: 'fixed',
    draw: (random) => {
      const a = random.next() < 0.7 ? drawWord(random) : `${drawWord(random)} ${newWord(random)}`;
      return { change: () => a, words: { a } };
    },
    says: [
      'The {key} is always "{a}".',
      'Write {a} as the {key}, whatever the task says.',
      'Set every {key} to {a}.',
      'Our {key} is {a} everywhere.',
    ],
  },
];

/** What the suite calls these operations and what these fields are, to know which pairs are kept from pre-training. */
const SUITE_OPERATIONS: Readonly<Record<string, string>> = {
  surround: 'surround',
  begin: 'prefix',
  end: 'suffix',
  letters: 'case',
};
const TARGETS: Readonly<Record<string, string>> = {
  ...{
    topic: 'title',
    owner: 'person',
    by: 'person',
    state: 'state',
    ticket: 'ticket',
    cost: 'amount',
    effort: 'amount',
  },
  ...{ share: 'share', seats: 'count', start: 'date', tags: 'item' },
};
const KEPT_BACK: ReadonlySet<string> = new Set(formsOf('unseen-forms').map(({ name }) => name));

/** Whether a form of rule that pre-training must not see does the same to the same field. */
const isKeptBack = (key: string, operation: string): boolean =>
  ((operation === 'pad' || operation === 'twice') && key in TARGETS) ||
  KEPT_BACK.has(`${TARGETS[key] ?? ''}-${SUITE_OPERATIONS[operation] ?? ''}`) ||
  (key === 'tags' && operation in SUITE_OPERATIONS);

/** A rule on how one field is written. */
export function drawValueRule(random: Random, invented: readonly string[]): AuxiliaryRule {
  const key = invented.length > 0 && random.next() < 0.5 ? pick(random, invented) : drawKey(random);
  const operation = pick(
    random,
    OPERATIONS.filter(({ name }) => !isKeptBack(key, name)),
  );
  const { change, words } = operation.draw(random);
  return {
    form: `value ${operation.name}`,
    aspect: `value ${key}`,
    apply: (task) => mapValues(task, key, change),
    tell: (example, own) => {
      const value = firstValue(example, key);
      const to = value === undefined ? undefined : change(value);
      return fill(pick(own, operation.says), {
        key: pick(own, [key, key, `"${key}"`, `value of ${key}`, `field ${key}`]),
        from: said(value),
        to: said(to),
        json: JSON.stringify({ [key]: to }).slice(1, -1),
        ...words,
      });
    },
  };
}
