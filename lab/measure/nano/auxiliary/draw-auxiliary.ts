import type { Random } from '../../../../src/base/random.ts';
import { fill, pick } from '../../../workdays/draw.ts';
import { drawNameRule, drawStepRule } from './file-rules.ts';
import { type AuxiliaryRule, typeOf } from './task-steps.ts';
import { drawOrderRule, drawRecordRule, drawValueRule } from './value-rules.ts';

const FAMILIES: readonly (readonly [number, (random: Random) => AuxiliaryRule])[] = [
  [0.34, drawValueRule],
  [0.22, drawRecordRule],
  [0.04, drawOrderRule],
  [0.2, drawNameRule],
  [0.2, drawStepRule],
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

/** An invented rule; some hold for one kind of document only. */
export function drawAuxiliaryRule(random: Random): AuxiliaryRule {
  const draw = drawFamily(random);
  const rule = draw(random);
  if (random.next() >= CONDITIONAL) return rule;
  const type = pick(random, TYPES);
  return {
    ...rule,
    apply: (task) => (typeOf(task.plan) === type ? rule.apply(task) : undefined),
    tell: (example, own) => fill(pick(own, CONDITIONS), { type, rule: rule.tell(example, own) }),
  };
}

function drawFamily(random: Random): (random: Random) => AuxiliaryRule {
  const luck = random.next();
  let sum = 0;
  for (const [share, draw] of FAMILIES) {
    sum += share;
    if (luck < sum) return draw;
  }
  return drawValueRule;
}
