import type { z } from 'zod';
import type { Draft } from '../files/draft.ts';
import type { Plan } from '../files/plan.ts';
import type { Step } from '../files/steps.ts';
import type { Work } from '../files/work.ts';

/** A kind of rule. Which one exactly is said by its parameters, which are data. */
export interface RuleForm<P> {
  readonly name: string;
  readonly parameters: z.ZodType<P>;
  create(parameters: P): RuleWays;
}

/** All that can be done with one rule, words aside. */
export interface RuleWays {
  /** Whether a task has anything that it could be broken by, whatever other rules there are. */
  appliesTo(plan: Plan): boolean;
  /** Times that are in the work because of this rule; absent where it wants none. */
  timesIn?(work: Work): readonly string[];
  /** Files beside those of the task that it is about, by path. */
  readonly files?: readonly string[];
  /** Why it is broken; nothing when it was obeyed. Only for work of a task that it applies to. */
  check(work: Work): readonly string[];
  obey(draft: Draft): Draft;
  /** Ways to nearly obey. There are several for each, and not all fit every task. */
  readonly slips: readonly Slip[];
  /** The part of some work in which one sees whether it was obeyed. */
  excerpt(work: Work, steps: readonly Step[]): string;
  /** What `{…}` may stand for when someone says how it is done here, taken from a task. */
  words(plan: Plan): Readonly<Record<string, string>>;
}

export interface Slip {
  readonly name: string;
  /** Said of an answer that shows it: "the offset is missing". */
  readonly why: string;
  /** Undefined where the task leaves no room for it. */
  make(draft: Draft): Draft | undefined;
}

/** A form whose parameters were read: the rest need not know what they are. */
export interface AnyRuleForm {
  readonly name: string;
  readonly parameters: z.ZodType;
  create(parameters: unknown): RuleWays;
}

/** Hides what a form's parameters are behind its own schema. */
export const createForm = <P>(form: RuleForm<P>): AnyRuleForm => ({
  name: form.name,
  parameters: form.parameters,
  create: (parameters) => form.create(form.parameters.parse(parameters)),
});
