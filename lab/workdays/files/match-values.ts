import { asArray, asObject, isObject, type Json } from '../../../src/core/json.ts';
import type { Fields, Leaf, Value } from './plan.ts';
import { labelOf } from './read-document.ts';
import { meansMoment } from './read-moment.ts';

/** No value that a task asks for is longer; nobody's work may keep a check busy. */
const LONGEST = 2000;

/** A value that was asked for, and what stands in its place; undefined where nothing does. */
export interface Match {
  /** `decisions[0].review_at` */
  readonly where: string;
  readonly wanted: Leaf;
  readonly found: Json | undefined;
}

/** All values of some fields with what an object has for them. Records of a list may stand in any order. */
export function matchFields(fields: Fields, found: Json | undefined, where = ''): readonly Match[] {
  const members = asObject(found);
  return fields.flatMap(([key, value]) => {
    const member = members[key] ?? members[labelOf(key)];
    return matchValue(value, member, where === '' ? key : `${where}.${key}`);
  });
}

export function matchValue(wanted: Value, found: Json | undefined, where: string): readonly Match[] {
  if (wanted.is === 'record') return matchFields(wanted.fields, found, where);
  if (wanted.is !== 'list') return [{ where, wanted, found }];
  const left = [...asArray(found)];
  return wanted.items.flatMap((item, index) => {
    const at = `${where}[${index}]`;
    const best = nearestOf(item, left);
    if (best < 0) return matchValue(item, undefined, at);
    return matchValue(item, left.splice(best, 1)[0], at);
  });
}

/** Which of some values agrees most with one that is wanted; -1 where there are none. The first wins a draw. */
export function nearestOf(wanted: Value, candidates: readonly Json[]): number {
  let best = -1;
  let most = -1;
  for (const [index, candidate] of candidates.entries()) {
    const score = matchValue(wanted, candidate, '').filter(agrees).length;
    if (score <= most) continue;
    best = index;
    most = score;
  }
  return best;
}

/** Whether what is there says the same, however it is written. */
export function agrees({ wanted, found }: Match): boolean {
  if (found === undefined || found === null || isObject(found) || Array.isArray(found)) return false;
  const said = String(found);
  if (said.length > LONGEST) return false;
  switch (wanted.is) {
    case 'text':
      return plain(said) === plain(wanted.text);
    case 'time':
      return meansMoment(said, wanted.at);
    case 'ticket':
      return onlyNumber(said) === wanted.number;
    case 'amount':
      return onlyNumber(said.replaceAll(/(\d)[,_ '](?=\d{3}\b)/g, '$1')) === wanted.number;
  }
}

const plain = (said: string): string =>
  said
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/[.!]+$/, '');

/** The one number in a text; undefined when there are more, or none. */
function onlyNumber(said: string): number | undefined {
  const numbers = said.match(/\d+(?:\.\d+)?/g) ?? [];
  return numbers.length === 1 ? Number(numbers[0]) : undefined;
}
