import type { Random } from '../../../../src/base/random.ts';
import { pick } from '../../../suites/workdays/draw.ts';
import { drawFieldRule } from './field-rules.ts';
import { drawEditRule, drawNameRule } from './file-rules.ts';
import { drawKeyRule } from './key-rules.ts';
import { drawLineRule } from './line-rules.ts';
import { drawOrderRule, drawRecordRule } from './record-rules.ts';
import { type AuxiliaryRule, givenValue, type TaskSteps, typeOf } from './task-steps.ts';
import { drawValueRule } from './value-rules.ts';

type Draw = (random: Random, invented: readonly string[]) => AuxiliaryRule;
const FAMILIES: readonly (readonly [number, Draw])[] = [
  [0.42, drawValueRule],
  [0.18, drawFieldRule],
  [0.12, drawNameRule],
  [0.1, drawLineRule],
  [0.07, drawKeyRule],
  [0.05, drawEditRule],
  [0.05, drawRecordRule],
  [0.01, drawOrderRule],
];

/** When a rule holds. */
interface Condition {
  readonly name: string;
  holds(task: TaskSteps): boolean;
  /** Around what the rule says, which follows a colon or stands before. */
  readonly said: readonly (readonly [before: string, after: string])[];
}

const TYPES = 'note card quote memo plan review brief status roster survey order'.split(' ');
const FIELDS = 'owner due ticket cost effort state share seats tags'.split(' ');

function drawCondition(random: Random): Condition {
  const luck = random.next();
  const [type, field] = [pick(random, TYPES), pick(random, FIELDS)];
  if (luck < 0.4)
    return {
      name: 'only',
      holds: ({ plan }) => typeOf(plan) === type,
      said: [
        [`In a ${type}: `, ''],
        [`For every ${type}: `, ''],
        [`This is for a ${type} only: `, ''],
        ['', ` That goes for a ${type}, not for other files.`],
        [`When you write a ${type}: `, ''],
        ['', ` But only in a ${type}.`],
        [`If it is a ${type}: `, ''],
      ],
    };
  if (luck < 0.6)
    return {
      name: 'except',
      holds: ({ plan }) => typeOf(plan) !== type,
      said: [
        [`Except in a ${type}: `, ''],
        ['', ` Not in a ${type}, though.`],
        [`In anything but a ${type}: `, ''],
        ['', ` A ${type} is the exception.`],
      ],
    };
  const isThere = luck < 0.85;
  return {
    name: isThere ? 'with' : 'without',
    holds: (task) => (givenValue(task, field) !== undefined) === isThere,
    said: isThere
      ? [
          [`When there is a field ${field}: `, ''],
          [`If the task gives ${field}: `, ''],
          ['', ` Only where ${field} is given.`],
        ]
      : [
          [`When no ${field} is given: `, ''],
          [`If the task has no ${field}: `, ''],
          ['', ` Only where there is no ${field}.`],
        ],
  };
}
const CONDITIONAL = 0.15;

/** An invented rule; some hold under a condition only. `invented`: fields of the tasks that the suite does not have. */
export function drawAuxiliaryRule(random: Random, invented: readonly string[]): AuxiliaryRule {
  const rule = drawFamily(random)(random, invented);
  if (random.next() >= CONDITIONAL) return rule;
  const { name, holds, said } = drawCondition(random);
  return {
    ...rule,
    form: `${rule.form} ${name}`,
    apply: (task) => (holds(task) ? rule.apply(task) : undefined),
    tell: (example, own, longest) => {
      const [before, after] = pick(own, said);
      const { text } = rule.tell(example, own, longest - before.length - after.length);
      // An example does not show the condition.
      return {
        text: `${before}${text}${/[.!?]$/.test(text) || after === '' ? '' : '.'}${after}`,
        isShown: false,
      };
    },
  };
}

function drawFamily(random: Random): Draw {
  const luck = random.next();
  let sum = 0;
  for (const [share, draw] of FAMILIES) {
    sum += share;
    if (luck < sum) return draw;
  }
  return drawValueRule;
}
