import { expect } from 'vitest';
import {
  applySteps,
  createDraft,
  stepsOf,
  type WorkDraft,
} from '../../../lab/suites/workdays/files/draft.ts';
import { judgeWork } from '../../../lab/suites/workdays/files/judge-work.ts';
import { makeFileQuestions } from '../../../lab/suites/workdays/files/make-file-questions.ts';
import type { Plan } from '../../../lab/suites/workdays/files/plan.ts';
import type { HouseRule, RuleSet } from '../../../lab/suites/workdays/rules/rule-set.ts';
import type { Split } from '../../../lab/suites/workdays/world.ts';
import { dayOf } from './files-day.ts';

export interface MutationCounts {
  right: number;
  removed: number;
  slips: number;
}

export const textsOf = ({ given, edits }: Plan): ReadonlyMap<string, string> =>
  new Map([...Object.entries(given), ...edits.map(({ path, before }) => [path, before] as const)]);

export const draftOf = (plan: Plan, obeyed: readonly HouseRule[]): WorkDraft =>
  obeyed.reduce((draft, rule) => rule.obey(draft), createDraft(plan));

/** Does a day's tasks in memory in every way: all rules kept, each one left out, each one nearly kept. */
export function mutate(set: RuleSet, split: Split, seed: string, index: number, seen: MutationCounts): void {
  const day = dayOf(split, seed, index);
  const { questions } = makeFileQuestions({
    day,
    rules: set,
    count: 8,
    seed,
    split,
  });
  for (const { plan, rules: ids, text } of questions) {
    const rules = set.rules.filter(({ id }) => ids.includes(id));
    const judge = (draft: WorkDraft) => judgeWork(plan, rules, applySteps(textsOf(plan), stepsOf(draft)));
    expect(judge(draftOf(plan, rules)), text).toMatchObject({ passed: true, isDone: true, broken: [] });
    seen.right++;
    for (const rule of rules) {
      const others = draftOf(
        plan,
        rules.filter((other) => other !== rule),
      );
      expect(judge(others), `${text} without ${rule.id}`).toMatchObject({ isDone: true, broken: [rule.id] });
      seen.removed++;
      for (const { name, make } of rule.slips) {
        const slipped = make(others);
        if (slipped === undefined) continue;
        expect(judge(slipped), `${text} with ${rule.id} ${name}`).toMatchObject({
          passed: false,
          broken: [rule.id],
        });
        seen.slips++;
      }
    }
  }
}
