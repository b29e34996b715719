import type { FailureCase } from '../../core/learn.ts';
import { trustOf } from '../weigh-failures.ts';
import { hasMark, sharesMark } from './marks.ts';
import type { ToldRule } from './rules-in.ts';

/** A rule and the failure it was said of; without one it is from what the library already says. */
export interface HeardRule {
  readonly rule: ToldRule;
  readonly failure?: FailureCase;
}

/** Everything that was said about one rule, the most trusted and newest first. */
export type RuleGroup = readonly [HeardRule, ...HeardRule[]];

/** Rules that ask for the same become one group; a demand and a ban are never the same. */
export function mergeRules(heard: readonly HeardRule[]): readonly RuleGroup[] {
  const sorted = [...heard].sort(
    (a, b) => trust(b) - trust(a) || (b.failure?.at ?? 0) - (a.failure?.at ?? 0),
  );
  const groups: [HeardRule, ...HeardRule[]][] = [];
  for (const one of sorted) {
    const group = groups.find((others) =>
      others.some(({ rule, failure }) =>
        // Who says two things at a time means two.
        failure === one.failure ? isSaidTwice(rule, one.rule) : isSameRule(rule, one.rule),
      ),
    );
    if (group === undefined) groups.push([one]);
    else group.push(one);
  }
  return groups;
}

const trust = ({ failure }: HeardRule): number => (failure === undefined ? 0 : trustOf(failure));

const isSaidTwice = (a: ToldRule, b: ToldRule): boolean =>
  a.todo.toLowerCase() === b.todo.toLowerCase() || (isSameRule(a, b) && compare(a, b).likeness >= 0.5);

/** Whether two demands ask for the same, in whatever words: what they are about is compared, and what has to be kept to the letter. */
export function isSameRule(a: ToldRule, b: ToldRule): boolean {
  if (forbids(a) !== forbids(b)) return false;
  if (a.todo.toLowerCase() === b.todo.toLowerCase()) return true;
  if (areOfOtherKinds(a.todo, b.todo)) return false;
  const { shared, fewest, likeness, isTelling } = compare(a, b);
  if (shared > 0 && sharesMark(a.marks, b.marks)) return true;
  if ([...a.marks].some((mark) => hasMark(b.marks, mark)))
    return shared > 0 && (shared === fewest || (shared > 1 && shared / fewest >= 0.3));
  if (!isTelling) return false;
  // Each has letters of its own to keep: the same only if one takes the place of the other.
  if (a.ownMarks.size > 0 && b.ownMarks.size > 0) return likeness >= 0.7;
  if (a.ownMarks.size + b.ownMarks.size > 0) return shared > 1 && likeness >= 0.6;
  return (shared > 1 && likeness >= 0.5) || (shared > 2 && shared / fewest >= 0.6);
}

/** What half of all rules are about. */
const COMMON: ReadonlySet<string> = new Set(['file', 'new', 'line', 'edit', 'add', 'begin', 'end', 'name']);

function compare(a: ToldRule, b: ToldRule) {
  const both = [...a.stems].filter((stem) => b.stems.has(stem));
  const shared = both.length;
  return {
    isTelling: both.some((stem) => !COMMON.has(stem)),
    shared,
    fewest: Math.min(a.stems.size, b.stems.size),
    likeness: shared / (a.stems.size + b.stems.size - shared),
  };
}

/** "Never change a file before there is a copy" asks for the copy. */
const forbids = ({ kind, todo }: ToldRule): boolean =>
  kind === 'ban' && !/\b(?:before|without|until|unless)\b/i.test(todo);

/** File names and column names are not the same, though the same may be said of both. */
function areOfOtherKinds(a: string, b: string): boolean {
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
