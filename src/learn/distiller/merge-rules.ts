import type { FailureCase } from '../../core/learn.ts';
import { trustOf } from '../weigh-failures.ts';
import type { ToldRule } from './rules-in.ts';

/** A rule and the failure it was said of; without one it is from what the library already says. */
export interface HeardRule {
  readonly rule: ToldRule;
  readonly failure?: FailureCase;
}

/** Everything that was said about one rule, the most trusted and newest first. */
export type RuleGroup = readonly [HeardRule, ...HeardRule[]];

/** Rules that say the same become one group; a demand and a ban are never the same. */
export function mergeRules(heard: readonly HeardRule[]): readonly RuleGroup[] {
  const sorted = [...heard].sort(
    (a, b) => trust(b) - trust(a) || (b.failure?.at ?? 0) - (a.failure?.at ?? 0),
  );
  const groups: [HeardRule, ...HeardRule[]][] = [];
  for (const one of sorted) {
    const group = groups.find(([lead]) => isSameRule(lead.rule, one.rule));
    if (group === undefined) groups.push([one]);
    else group.push(one);
  }
  return groups;
}

const trust = ({ failure }: HeardRule): number => (failure === undefined ? 0 : trustOf(failure));

export function isSameRule(a: ToldRule, b: ToldRule): boolean {
  if ((a.kind === 'ban') !== (b.kind === 'ban')) return false;
  if (a.todo.toLowerCase() === b.todo.toLowerCase()) return true;
  const shared = [...a.stems].filter((stem) => b.stems.has(stem)).length;
  const likeness = shared / (a.stems.size + b.stems.size - shared);
  const hasLiteral = a.literals.some((literal) => b.literals.includes(literal));
  return shared >= 2 && likeness >= (hasLiteral ? 0.34 : 0.5);
}
