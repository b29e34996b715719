import type { Random } from '../../../src/base/random.ts';
import type { SuiteRule } from '../../suite/suite.ts';
import type { Plan } from '../files/plan.ts';
import type { Work } from '../files/work.ts';
import type { Split } from '../world.ts';
import type { RuleWays } from './rule-form.ts';

/** The rules of a house, in the order in which they begin to count. */
export interface RuleSet {
  readonly name: string;
  readonly rules: readonly HouseRule[];
}

export interface HouseRule extends SuiteRule, RuleWays {
  /** The kind of rule: `times`, `backup`. */
  readonly form: string;
  /** What it is about, without saying it: `how a ticket is written`. */
  readonly about: string;
  /** How someone tells it to whoever broke it in this task: all one needs to know, with an example. */
  tell(plan: Plan, split: Split, random: Random): string;
}

/** Why each rule that was broken is; rules that were obeyed are not in it. */
export function checkRules(
  rules: readonly HouseRule[],
  work: Work,
): ReadonlyMap<HouseRule, readonly string[]> {
  const sideTimes = rules.flatMap((rule) => rule.timesIn?.(work) ?? []);
  const reasons = rules.map((rule) => [rule, rule.check({ ...work, sideTimes })] as const);
  return new Map(reasons.filter(([, why]) => why.length > 0));
}
