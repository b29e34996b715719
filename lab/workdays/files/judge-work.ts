import type { TaskVerdict } from '../../suite/suite.ts';
import { checkRules, type HouseRule } from '../rules/rule-set.ts';
import { findFaults } from './find-faults.ts';
import type { Plan } from './plan.ts';
import { ABOUT_TASK } from './tell-verdict.ts';
import { observe } from './work.ts';

/** What the texts of a workspace are worth as the work on a task, wherever they are kept. Depends on nothing else. */
export function judgeWork(
  plan: Plan,
  rules: readonly HouseRule[],
  texts: ReadonlyMap<string, string>,
): TaskVerdict {
  const work = observe(plan, texts);
  const faults = findFaults(work);
  const broken = checkRules(rules, work);
  return {
    status: 'ok',
    passed: faults.length === 0 && broken.size === 0,
    isDone: faults.length === 0,
    broken: [...broken.keys()].map(({ id }) => id),
    reasons: [
      ...faults.map((fault) => ABOUT_TASK + fault),
      ...[...broken].flatMap(([{ id }, why]) => why.map((reason) => `${id}: ${reason}`)),
    ],
  };
}
