import type { Random } from '../../../../src/base/random.ts';
import type { Json } from '../../../../src/core/json.ts';
import { pick } from '../../../suites/workdays/draw.ts';
import { newWord } from '../placeholders.ts';
import { givenValue, type TaskSteps, typeOf } from './task-steps.ts';

/* What rules are put together from: words, signs, and values that the task itself has. */

const PAIRS = '() [] <> {} ** __ ## // || == ~~ %% :: -- ++ !! ^^ ..'.split(' ');
const SIGNS = [...'-_:/.+#=|~@%&*^!>'];

export const drawSigns = (random: Random): readonly [string, string] => {
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

/** A word or some signs, to be put before or behind something. */
export function drawMark(random: Random, side: 'before' | 'behind'): string {
  const luck = random.next();
  if (luck < 0.3) return drawSign(random);
  const joint = random.next() < 0.6 ? drawSign(random) : random.next() < 0.6 ? ' ' : '';
  return side === 'before' ? drawWord(random) + joint : joint + drawWord(random);
}

/** A value as a text. */
export const spelt = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '');

/** A value that depends on the task. The folder of a new file is none of them: a form that is kept back uses it. */
export interface Source {
  readonly name: string;
  /** As people call it. */
  readonly said: readonly string[];
  read(task: TaskSteps): string | undefined;
}

const SOURCES: readonly Source[] = [
  {
    name: 'task',
    said: ['the id of the task', 'the task id', 'the number of the task', 'the id that the task has'],
    read: ({ plan }) => plan.task,
  },
  {
    name: 'author',
    said: ['the name of whoever asked', 'who asked for it', 'the name of the sender', 'the one who asked'],
    read: ({ plan }) => plan.author,
  },
  {
    name: 'kind',
    said: [
      'the kind of document',
      'the type of the file',
      'what kind of document it is',
      'the sort of paper',
    ],
    read: ({ plan }) => typeOf(plan),
  },
];

const fieldSource = (key: string): Source => ({
  name: 'field',
  said: [`the ${key}`, `the value of ${key}`, `what stands under ${key}`, `its ${key}`],
  read: (task) => {
    const value = givenValue(task, key);
    return value === undefined || typeof value === 'object' ? undefined : spelt(value);
  },
});

/** Something of the task, or the value of another field. */
export const drawSource = (random: Random, keys: readonly string[]): Source =>
  keys.length > 0 && random.next() < 0.35 ? fieldSource(pick(random, keys)) : pick(random, SOURCES);
