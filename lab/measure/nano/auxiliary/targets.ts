import type { Random } from '../../../../src/base/random.ts';
import { pick } from '../../../suites/workdays/draw.ts';
import { formsOf } from '../../../suites/workdays/rules/draw-rules.ts';
import { drawNoun, fieldNoun, type Noun } from '../tell/nouns.ts';

/** What a rule on values is about: one field, or all fields that hold the same kind of thing. */
export interface ValueTarget {
  /** As forms of the suite are called: `person`; empty for a field that the suite has no rule on. */
  readonly suite: string;
  readonly keys: readonly string[];
  readonly holds: 'text' | 'number' | 'time' | 'date' | 'list';
  /** Whether it is told by its meaning and not by its key. */
  readonly isByNoun: boolean;
  noun(random: Random): Noun;
}

type Row = readonly [suite: string, keys: readonly string[], holds: ValueTarget['holds'], noun?: string];
const ROWS: readonly Row[] = [
  ['title', ['topic'], 'text', 'title'],
  ['person', ['owner', 'by'], 'text', 'person'],
  ['state', ['state'], 'text', 'state'],
  ['ticket', ['ticket'], 'number', 'ticket'],
  ['amount', ['cost', 'effort'], 'number', 'amount'],
  ['share', ['share'], 'number', 'share'],
  ['count', ['seats'], 'number', 'count'],
  ['date', ['start'], 'date', 'date'],
  ['', ['due', 'at'], 'time', 'time'],
  ['', ['version'], 'text'],
  ['item', ['tags'], 'list', 'item'],
];

/** All keys of the suite's tasks. */
export const KEYS: readonly string[] = ROWS.flatMap(([, keys]) => keys);

/** Most often what is plain text: other values have rules of the suite. */
export const drawKey = (random: Random): string =>
  random.next() < 0.5 ? pick(random, ['topic', 'owner', 'state', 'version', 'by']) : pick(random, KEYS);

/** A field of the suite, all fields of one kind, or one that the suite does not have. */
export function drawTarget(random: Random, invented: readonly string[]): ValueTarget {
  if (invented.length > 0 && random.next() < 0.4) {
    const key = pick(random, invented);
    return {
      ...{ suite: '', keys: [key], holds: 'text', isByNoun: false },
      noun: (own) => fieldNoun(key, own),
    };
  }
  const [suite, keys, holds, noun] = pick(random, ROWS);
  // A list has a key, its items have none.
  const isByNoun = noun !== undefined && (holds === 'list' || random.next() < 0.6);
  const key = pick(random, keys);
  return {
    ...{ suite, holds, isByNoun },
    keys: isByNoun ? keys : [key],
    noun: (own) => (isByNoun && noun !== undefined ? drawNoun(noun, own) : fieldNoun(key, own)),
  };
}

const KEPT_BACK: ReadonlySet<string> = new Set(formsOf('unseen-forms').map(({ name }) => name));

/** Whether a rule that turns one value of the target into the other does what a form does that pre-training must not see. */
export const isKeptBack = (suite: string, from: string, to: string): boolean =>
  suite !== '' && effectsOf(from, to).some((effect) => KEPT_BACK.has(`${suite}-${effect}`));

/** What happened to a value, in the words of the suite; letters of another case are the same letters. */
export function effectsOf(before: string, after: string): readonly string[] {
  const [from, to] = [before.toLowerCase(), after.toLowerCase()];
  const found: string[] = [];
  if (from === to) return before === after ? [] : ['case'];
  if (from.startsWith(to)) found.push('shorten');
  if (/^0\d*$/.test(to) && to.endsWith(from)) found.push('pad');
  if (new RegExp(`^${escaped(from)}[.,]0+`).test(to)) found.push('decimals');
  if (/^\D*0?[.,:/]?\d\d$/.test(to) && to.endsWith(from.padStart(2, '0')) && /[.,:/]/.test(to))
    found.push('fraction');
  const at = to.indexOf(from);
  if (at < 0 || to.indexOf(from, at + from.length) >= 0) return found;
  const [left, right] = [to.slice(0, at), to.slice(at + from.length)];
  found.push(left === '' ? 'suffix' : right === '' ? 'prefix' : 'surround');
  return found;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
