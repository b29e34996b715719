import { hash } from 'node:crypto';
import type { Random } from '../../../../src/base/random.ts';
import { pick } from '../draw.ts';

/**
 * Where a rule comes from. `seen`: a form and values that pre-training may draw. `unseen-parameters`: a form of pre-training with values
 * that it can never draw. `unseen-forms`: a form that pre-training never sees.
 */
export type RuleOrigin = 'seen' | 'unseen-parameters' | 'unseen-forms';

/** One value in this many is kept from pre-training. */
const HELD_OUT_IN = 5;

/**
 * Values of rule sets that are reported on: the house rules, the other rules and the files in `sets/`. They are held out, whatever their
 * hash says.
 */
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
  ...['DD/MM/YYYY, HHhmm', '.yesterday', ' loaves in 100', 'oven_check', 'cold', ' <> '],
  ...['/quay', '-berth', 'tide.lst', '<task id> moored <path>', ' worth ', 'calm-sea'],
];

/** Parts of these values that no composed value may have either. */
const RESERVED_PARTS: readonly string[] = ['YYYYMMDD', '+08:00', '+0800', 'OPS', '.bak', 'DONE'];

/** Whether pre-training may never draw this value of a parameter. A stable hash decides, so that a list may grow without moving a value. */
const isHeldOut = (value: string): boolean =>
  RESERVED.includes(value) ||
  RESERVED_PARTS.some((part) => value.includes(part)) ||
  hash('sha256', `held out/${value}`, 'buffer').readUInt32BE(0) % HELD_OUT_IN === 0;

/** Draws the values of a rule's parameters from one side of the split. */
export interface ValueDraw {
  readonly random: Random;
  /** A value of a list. */
  word(list: readonly string[]): string;
  /** Several different values of a list. */
  words(list: readonly string[], count: number): readonly string[];
  /** One of a few values, of which some are named as held out. */
  few<T>(values: readonly T[], heldOut: readonly T[]): T;
  /** A composed value. */
  made(make: (random: Random) => string): string;
}

/** Enough for a side with one value in two hundred. */
const TRIES = 4000;

export function createValueDraw(random: Random, side: 'seen' | 'held out'): ValueDraw {
  const isOnSide = (value: string): boolean => isHeldOut(value) === (side === 'held out');
  const made = (make: (random: Random) => string): string => {
    for (let tries = 0; tries < TRIES; tries++) {
      const value = make(random);
      if (isOnSide(value)) return value;
    }
    throw new Error(`a generator has no value that is ${side}, only such as ${JSON.stringify(make(random))}`);
  };
  const word = (list: readonly string[]): string => {
    const own = list.filter(isOnSide);
    if (own.length === 0) throw new Error(`none of ${list.slice(0, 5).join(', ')} … is ${side}`);
    return pick(random, own);
  };
  return {
    random,
    word,
    made,
    few: (values, heldOut) =>
      pick(random, side === 'seen' ? values.filter((value) => !heldOut.includes(value)) : heldOut),
    words: (list, count) => {
      const left = list.filter(isOnSide);
      const out: string[] = [];
      while (out.length < count && left.length > 0) out.push(...left.splice(random.below(left.length), 1));
      return out;
    },
  };
}
