import { hash } from 'node:crypto';
import type { Random } from '../../../../src/base/random.ts';
import { pick } from '../draw.ts';

/** The embedded policy was pre-trained on four values in five of every parameter: rules are drawn from those that it never saw. */
const UNSEEN_IN = 5;

/** Values of the house rules and the other rules. They are unseen, whatever their hash says. */
const RESERVED: readonly string[] = [
  ...[
    'YYYY-MM-DDTHH:mm:ss+08:00',
    '+08:00',
    '+0800',
    'YYYYMMDD',
    'snake_case',
    '.bak',
    'OPS-',
    ' ',
    'ascending',
  ],
  ...['meta', 'created_at', 'author', 'status', 'pending', 'in_progress', 'done'],
  ...['done.log', '[DONE] <timestamp> | <task id> | <summary>', '80', '_comment', 'checksums.txt'],
  ...['Internal - not for customers', 'checksums', 'DONE', 'Internal'],
];

/** Parts that make a composed value unseen. */
const RESERVED_PARTS: readonly string[] = ['YYYYMMDD', '+08:00', '+0800', 'OPS', '.bak', 'DONE'];

/** A stable hash decides, so that a list may grow without moving a value. */
const isUnseen = (value: string): boolean =>
  RESERVED.includes(value) ||
  RESERVED_PARTS.some((part) => value.includes(part)) ||
  hash('sha256', `held out/${value}`, 'buffer').readUInt32BE(0) % UNSEEN_IN === 0;

/** Draws unseen values of a rule's parameters. */
export interface ValueDraw {
  readonly random: Random;
  /** A value of a list. */
  word(list: readonly string[]): string;
  /** Several different values of a list. */
  words(list: readonly string[], count: number): readonly string[];
  /** A composed value. */
  made(make: (random: Random) => string): string;
}

const TRIES = 4000;

export function createValueDraw(random: Random): ValueDraw {
  return {
    random,
    word: (list) => pick(random, list.filter(isUnseen)),
    made: (make) => {
      for (let tries = 0; tries < TRIES; tries++) {
        const value = make(random);
        if (isUnseen(value)) return value;
      }
      throw new Error(`a generator has only seen values, such as ${JSON.stringify(make(random))}`);
    },
    words: (list, count) => {
      const left = list.filter(isUnseen);
      const out: string[] = [];
      while (out.length < count && left.length > 0) out.push(...left.splice(random.below(left.length), 1));
      return out;
    },
  };
}
