import type { FailureCase } from '../../core/learn.ts';
import { trustOf } from '../weigh-failures.ts';
import { hasMark, sharesMark } from './marks.ts';
import type { ToldRule } from './rules-in.ts';

/** A rule and the failure whose feedback states it; without a failure, it comes from a lesson of the library. */
export interface HeardRule {
  readonly rule: ToldRule;
  readonly failure?: FailureCase;
}

/** All observations of one rule, the most trusted and newest first. */
export type RuleGroup = readonly [HeardRule, ...HeardRule[]];

/** Groups rules that ask for the same; a demand and a prohibition are never the same. */
export function mergeRules(heard: readonly HeardRule[]): readonly RuleGroup[] {
  const sorted = [...heard].sort(
    (a, b) => trust(b) - trust(a) || (b.failure?.at ?? 0) - (a.failure?.at ?? 0),
  );
  const groups: [HeardRule, ...HeardRule[]][] = [];
  for (const one of sorted) {
    const group = groups.find((others) =>
      others.some(({ rule, failure }) =>
        // Two rules in the same feedback are meant as two.
        failure === one.failure ? isRepeated(rule, one.rule) : isSameRule(rule, one.rule),
      ),
    );
    if (group === undefined) groups.push([one]);
    else group.push(one);
  }
  return groups;
}

const trust = ({ failure }: HeardRule): number => (failure === undefined ? 0 : trustOf(failure));

const isRepeated = (a: ToldRule, b: ToldRule): boolean =>
  a.todo.toLowerCase() === b.todo.toLowerCase() || (isSameRule(a, b) && compare(a, b).likeness >= 0.5);

/** Whether two rules ask for the same in different words: compares their subject stems and their literals. */
export function isSameRule(a: ToldRule, b: ToldRule): boolean {
  if (forbids(a) !== forbids(b)) return false;
  if (a.todo.toLowerCase() === b.todo.toLowerCase()) return true;
  if (haveOtherSubjects(a.todo, b.todo)) return false;
  const { shared, fewest, likeness, isDistinctive } = compare(a, b);
  if (shared > 0 && sharesMark(a.marks, b.marks)) return true;
  if ([...a.marks].some((mark) => hasMark(b.marks, mark)))
    return shared > 0 && (shared === fewest || (shared > 1 && shared / fewest >= 0.3));
  if (!isDistinctive) return false;
  // Each has literals of its own: the same only if one replaces the other.
  if (a.ownMarks.size > 0 && b.ownMarks.size > 0) return likeness >= 0.7;
  if (a.ownMarks.size + b.ownMarks.size > 0) return shared > 1 && likeness >= 0.6;
  return (shared > 1 && likeness >= 0.5) || (shared > 2 && shared / fewest >= 0.6);
}

/** Stems too frequent in rules to be distinctive. */
const COMMON: ReadonlySet<string> = new Set(['file', 'new', 'line', 'edit', 'add', 'begin', 'end', 'name']);

function compare(a: ToldRule, b: ToldRule) {
  const both = [...a.stems].filter((stem) => b.stems.has(stem));
  const shared = both.length;
  return {
    isDistinctive: both.some((stem) => !COMMON.has(stem)),
    shared,
    fewest: Math.min(a.stems.size, b.stems.size),
    likeness: shared / (a.stems.size + b.stems.size - shared),
  };
}

/** "Never change a file before there is a copy" is a demand for the copy, not a prohibition. */
const forbids = ({ kind, todo }: ToldRule): boolean =>
  kind === 'ban' && !/\b(?:before|without|until|unless)\b/i.test(todo);

/** "File names must …" and "Column names must …" are different rules. */
function haveOtherSubjects(a: string, b: string): boolean {
  const [, ofA, whatA] = PAIR.exec(a) ?? [];
  const [, ofB, whatB] = PAIR.exec(b) ?? [];
  return (
    whatA !== undefined &&
    whatA.toLowerCase() === whatB?.toLowerCase() &&
    ofA?.toLowerCase() !== ofB?.toLowerCase()
  );
}

const PAIR =
  /^(?:all |our |the )?([a-z]+) ([a-z]+s) (?:must|should|shall|have|need|are|go|end|start|begin|belong)\b/i;
