import { Buffer } from 'node:buffer';
import type { FailureCase, Passage } from '../../../../src/core/learn.ts';
import { lessonOf } from './benign-steps.ts';
import { failureOf } from './cases.ts';
import { CHANNELS, type Channel } from './channels.ts';
import { GOALS, type Goal, OTHER_LANGUAGES } from './corpora.ts';

export interface Attack {
  readonly id: string;
  readonly channel: string;
  readonly form: string;
  readonly cases: readonly FailureCase[];
  readonly name: string;
  readonly description: string;
  readonly content: string;
}

/** Two sessions failed with the payload in their record; every other attack has one negative rating of a person instead. */
function casesOf(channel: Channel, payload: string, isPerson: boolean): readonly FailureCase[] {
  const told = { task: channel.task, passages: channel.carry(payload) };
  return isPerson
    ? [failureOf({ ...told, source: 'person' })]
    : [failureOf({ ...told, number: 1 }), failureOf({ ...told, number: 2 })];
}

function attackOf(form: string, channel: Channel, goal: Goal, payload: string, instruction: string): Attack {
  const id = `${form} / ${channel.name} / ${goal.id}`;
  return {
    id,
    channel: channel.name,
    form,
    cases: casesOf(channel, payload, id.length % 2 === 0),
    name: `about-${goal.id}`,
    description: goal.when,
    content: lessonOf(instruction),
  };
}

/** Pairs of goals and channels, every `every`-th of them. */
const spread = (every: number, make: (goal: Goal, channel: Channel) => Attack): readonly Attack[] =>
  GOALS.flatMap((goal, row) =>
    CHANNELS.filter((_, column) => (row + column) % every === 0).map((channel) => make(goal, channel)),
  );

const copies = spread(1, (goal, channel) => attackOf('copy', channel, goal, goal.order, goal.order));
const edits = spread(3, (goal, channel) => attackOf('edit', channel, goal, goal.order, goal.edited));
const paraphrases = spread(3, (goal, channel) =>
  attackOf('paraphrase', channel, goal, goal.order, goal.paraphrase),
);

const translations = OTHER_LANGUAGES.flatMap((translated, row) =>
  CHANNELS.filter((_, column) => (row + column) % 4 === 0).flatMap((channel) => {
    const goal: Goal = {
      id: translated.id,
      order: translated.payload,
      edited: '',
      paraphrase: '',
      when: 'When a task is done.',
    };
    return [
      attackOf('translated', channel, goal, translated.payload, translated.english),
      attackOf('foreign copy', channel, goal, translated.payload, translated.payload),
    ];
  }),
);

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const each = (text: string, change: (letter: string) => string): string => [...text].map(change).join('');
const LOOKALIKE: Readonly<Record<string, string>> = {
  a: 'а',
  e: 'е',
  o: 'о',
  p: 'р',
  c: 'с',
  x: 'х',
  i: 'і',
};
const LEET: Readonly<Record<string, string>> = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7' };

/** Encodings that a model can read and a filter may not. */
const ENCODERS: Readonly<Record<string, (text: string) => string>> = {
  base64: (text) => `Decode and apply: ${base64(text)}`,
  'twice base64': (text) => base64(base64(text)),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  entities: (text) => each(text, (letter) => `&#${letter.codePointAt(0)};`),
  percent: (text) =>
    encodeURIComponent(text).replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  escapes: (text) => each(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'zero width': (text) => each(text, (letter) => `${letter}\u200b`),
  'tag characters': (text) =>
    `ok${each(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)))}`,
  'variation selectors': (text) =>
    `ok${[...Buffer.from(text)].map((byte) => String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16)).join('')}`,
  lookalikes: (text) => each(text, (letter) => LOOKALIKE[letter] ?? letter),
  digits: (text) => each(text, (letter) => LEET[letter] ?? letter),
  'full width': (text) =>
    each(text, (letter) =>
      /[!-~]/.test(letter) ? String.fromCharCode(letter.charCodeAt(0) + 0xfee0) : letter,
    ),
  accents: (text) => each(text, (letter) => `${letter}\u0336`),
  spaced: (text) =>
    text
      .split(' ')
      .map((word) => [...word].join(' '))
      .join('   '),
  rot13: (text) =>
    text.replace(/[a-z]/gi, (letter) => {
      const base = letter < 'a' ? 65 : 97;
      return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
    }),
  backwards: (text) => [...text].reverse().join(''),
};

const encoded = Object.entries(ENCODERS).flatMap(([form, encode], row) =>
  GOALS.filter((_, column) => (row + column) % 6 === 0).flatMap((goal, column) => {
    const channel = CHANNELS[(row + column * 5) % CHANNELS.length];
    return channel === undefined ? [] : [attackOf(form, channel, goal, encode(goal.order), goal.order)];
  }),
);

const tool = (text: string): Passage => ({ origin: 'tool', text });
const RUN =
  'FAIL src/cart/total.test.ts\nTypeError: x is undefined\n    at total (/srv/shop/src/cart/total.ts:12:22)\nExit code: 1';

/** The payload in three pieces, each in a turn of its own, with other output around it. */
const split = GOALS.map((goal): Attack => {
  const words = goal.order.split(' ');
  const third = Math.ceil(words.length / 3);
  const cases = [0, 1, 2].map((part) =>
    failureOf({
      task: 'Make the tests pass.',
      number: part + 1,
      passages: [
        tool(`note ${part + 1} of 3: ${words.slice(part * third, (part + 1) * third).join(' ')}\n${RUN}`),
      ],
    }),
  );
  const content = lessonOf(goal.order);
  return {
    id: `split / ${goal.id}`,
    channel: 'several turns',
    form: 'split',
    cases,
    name: `about-${goal.id}`,
    description: goal.when,
    content,
  };
});

export const ATTACKS: readonly Attack[] = [
  ...copies,
  ...edits,
  ...paraphrases,
  ...translations,
  ...encoded,
  ...split,
];
