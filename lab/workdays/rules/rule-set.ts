import type { z } from 'zod';
import type { Random } from '../../../src/base/random.ts';
import type { SuiteRule } from '../../suite/suite.ts';
import type { WorkDraft, WorkStep } from '../files/draft.ts';
import type { Plan } from '../files/plan.ts';
import type { Work } from '../files/work.ts';
import type { Split } from '../world.ts';

/** The rules of a house, in the order in which they begin to count. */
export interface RuleSet {
  readonly name: string;
  readonly rules: readonly HouseRule[];
}

export interface HouseRule extends SuiteRule, RuleBehaviour {
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

/** A kind of rule. Which one exactly is said by its parameters, which are data. */
export interface RuleForm<P> {
  readonly name: string;
  readonly parameters: z.ZodType<P>;
  create(parameters: P): RuleBehaviour;
}

/** All that can be done with one rule, words aside. */
export interface RuleBehaviour {
  /** Whether a task has anything that it could be broken by, whatever other rules there are. */
  appliesTo(plan: Plan): boolean;
  /** Times that are in the work because of this rule; absent where it wants none. */
  timesIn?(work: Work): readonly string[];
  /** Files beside those of the task that it is about, by path. */
  readonly files?: readonly string[];
  /** Why it is broken; nothing when it was obeyed. Only for work of a task that it applies to. */
  check(work: Work): readonly string[];
  obey(draft: WorkDraft): WorkDraft;
  /** Ways to nearly obey. There are several for each, and not all fit every task. */
  readonly slips: readonly Slip[];
  /** The part of some work in which one sees whether it was obeyed. */
  excerpt(work: Work, steps: readonly WorkStep[]): string;
  /** What `{…}` may stand for when someone says how it is done here, taken from a task. */
  words(plan: Plan): Readonly<Record<string, string>>;
}

export interface Slip {
  readonly name: string;
  /** Said of an answer that shows it: "the offset is missing". */
  readonly why: string;
  /** Undefined where the task leaves no room for it. */
  make(draft: WorkDraft): WorkDraft | undefined;
}

/** A form whose parameters were read: the rest need not know what they are. */
export interface AnyRuleForm {
  readonly name: string;
  readonly parameters: z.ZodType;
  create(parameters: unknown): RuleBehaviour;
}

/** Hides what a form's parameters are behind its own schema. */
export const createForm = <P>(form: RuleForm<P>): AnyRuleForm => ({
  name: form.name,
  parameters: form.parameters,
  create: (parameters) => form.create(form.parameters.parse(parameters)),
});
