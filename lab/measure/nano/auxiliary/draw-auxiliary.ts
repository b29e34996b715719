import type { Random } from '../../../../src/base/random.ts';
import { fill, pick } from '../../../workdays/draw.ts';
import { drawNameRule, drawStepRule } from './file-rules.ts';
import { drawOrderRule, drawRecordRule } from './record-rules.ts';
import { type AuxiliaryRule, typeOf } from './task-steps.ts';
import { drawValueRule } from './value-rules.ts';

const FAMILIES: readonly (readonly [
  number,
  (random: Random, invented: readonly string[]) => AuxiliaryRule,
])[] = [
  [0.44, drawValueRule],
  [0.18, drawRecordRule],
  [0.02, drawOrderRule],
  [0.18, drawNameRule],
  [0.18, drawStepRule],
];

const TYPES = 'note card quote memo plan review brief status roster survey order'.split(' ');
const CONDITIONS = [
  'In a {type}: {rule}',
  'For every {type}: {rule}',
  'This is for a {type} only: {rule}',
  '{rule} That goes for a {type}, not for other files.',
  'When you write a {type}: {rule}',
];
const CONDITIONAL = 0.15;

/** An invented rule; some hold for one kind of document only. `invented`: fields of the tasks that the suite does not have. */
export function drawAuxiliaryRule(random: Random, invented: readonly string[]): AuxiliaryRule {
  const draw = drawFamily(random);
  const rule = draw(random, invented);
  if (random.next() >= CONDITIONAL) return rule;
  const type = pick(random, TYPES);
  return {
    ...rule,
    apply: (task) => (typeOf(task.plan) === type ? rule.apply(task) : undefined),
    tell: (example, own) => fill(pick(own, CONDITIONS), { type, rule: rule.tell(example, own) }),
  };
}

function drawFamily(random: Random): (random: Random, invented: readonly string[]) => AuxiliaryRule {
  const luck = random.next();
  let sum = 0;
  for (const [share, draw] of FAMILIES) {
    sum += share;
    if (luck < sum) return draw;
  }
  return drawValueRule;
}
