import type { z } from 'zod';
import type { Random } from '../../../../src/base/random.ts';
import type { SuiteRule } from '../../suite.ts';
import type { WorkDraft, WorkStep } from '../files/draft.ts';
import type { Plan } from '../files/plan.ts';
import type { Work } from '../files/work.ts';
import type { Split } from '../world.ts';

/** A set of house rules, in the order in which they begin to count. */
export interface RuleSet {
  readonly name: string;
  readonly rules: readonly HouseRule[];
}

export interface HouseRule extends SuiteRule, RuleBehaviour {
  /** The rule form: `times`, `backup`. */
  readonly form: string;
  /** Its subject, without stating the rule: `how a ticket is written`. */
  readonly about: string;
  /** The user's feedback when this task broke it: everything needed to obey it, with an example. */
  tell(plan: Plan, split: Split, random: Random): string;
}

/** The reasons for each broken rule; obeyed rules are absent. */
export function checkRules(
  rules: readonly HouseRule[],
  work: Work,
): ReadonlyMap<HouseRule, readonly string[]> {
  const sideTimes = rules.flatMap((rule) => rule.timesIn?.(work) ?? []);
  const reasons = rules.map((rule) => [rule, rule.check({ ...work, sideTimes })] as const);
  return new Map(reasons.filter(([, why]) => why.length > 0));
}

/** A kind of rule; its parameters are data. */
interface RuleForm<P> {
  readonly name: string;
  readonly parameters: z.ZodType<P>;
  create(parameters: P): RuleBehaviour;
}

/** The behaviour of one rule, apart from its wording. */
interface RuleBehaviour {
  /** Whether a task can break it. */
  appliesTo(plan: Plan): boolean;
  /** Times in the work that this rule required; absent if it requires none. */
  timesIn?(work: Work): readonly string[];
  /** Files other than the task's that it concerns, by path. */
  readonly files?: readonly string[];
  /** Why it is broken; empty when it was obeyed. Only for tasks to which it applies. */
  check(work: Work): readonly string[];
  obey(draft: WorkDraft): WorkDraft;
  /** Near misses: several per rule, not all possible in every task. */
  readonly slips: readonly Slip[];
  /** The part of the work that shows whether it was obeyed. */
  excerpt(work: Work, steps: readonly WorkStep[]): string;
  /** The values of `{…}` in feedback, taken from a task. */
  words(plan: Plan): Readonly<Record<string, string>>;
}

export interface Slip {
  readonly name: string;
  /** The fault in words: "the offset is missing". */
  readonly why: string;
  /** Undefined if it is not possible in this task. */
  make(draft: WorkDraft): WorkDraft | undefined;
}

/** A rule form with its parameter type hidden. */
export interface AnyRuleForm {
  readonly name: string;
  readonly parameters: z.ZodType;
  create(parameters: unknown): RuleBehaviour;
}

/** Hides the parameter type of a form; its schema checks them. */
export const createForm = <P>(form: RuleForm<P>): AnyRuleForm => ({
  name: form.name,
  parameters: form.parameters,
  create: (parameters) => form.create(form.parameters.parse(parameters)),
});
