import { createRandom } from '../../../src/base/random.ts';
import type { TaskVerdict } from '../../suite/suite.ts';
import { pick } from '../draw.ts';
import type { HouseRule } from '../rules/rule-set.ts';
import type { Split } from '../world.ts';
import { fill } from './fill.ts';
import type { Plan } from './plan.ts';
import type { BySplit } from './scene.ts';

/** Marks what is about the task itself among the reasons of a verdict; the others begin with a rule's id. */
export const ABOUT_TASK = 'task: ';

const PRAISE: BySplit = {
  train: ['That is right, thank you.', 'Good, just as it should be.'],
  gate: ['Thanks, that is fine.', 'All in order.'],
  report: ['Perfect, I can use it as it is.', 'Well done, that is all I wanted.'],
};
const UNDONE: BySplit = {
  train: ['Not all of {task} is there yet:', 'There are mistakes in {task}:'],
  gate: ['{task} is not what I asked for:', 'Look at {task} again:'],
  report: ['In {task} some things are off:', 'I cannot take {task} as it is:'],
};
const MOST_FAULTS = 3;

interface Telling {
  readonly plan: Plan;
  readonly rules: readonly HouseRule[];
  readonly split: Split;
  readonly seed: string;
}

/** As the one who gave the task says it: what is wrong with the work, then everything that is not how the house does it. */
export function tellVerdict(verdict: TaskVerdict, { plan, rules, split, seed }: Telling): string {
  if (verdict.status !== 'ok') return 'I could not look at it just now.';
  const random = createRandom(`${seed}/feedback/${plan.task}`);
  const praise = pick(random, PRAISE[split]);
  const undone = fill(pick(random, UNDONE[split]), { task: plan.task });
  if (verdict.passed) return praise;
  const faults = verdict.reasons.filter((reason) => reason.startsWith(ABOUT_TASK));
  const told = rules.map((rule) => [rule.id, rule.tell(plan, split, random)] as const);
  const wrong = faults.slice(0, MOST_FAULTS).map((fault) => fault.slice(ABOUT_TASK.length));
  return [
    ...(wrong.length === 0 ? [] : [`${undone} ${wrong.join('; ')}.`]),
    ...told.filter(([id]) => verdict.broken.includes(id)).map(([, said]) => said),
  ].join('\n');
}
