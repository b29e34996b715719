import { readFileSync } from 'node:fs';
import { RuleSetError, readRuleSet } from './create-rule-set.ts';
import { drawRuleSet, isDrawn } from './draw-rules.ts';
import { HOUSE_RULES } from './house-rules.ts';
import { OTHER_RULES } from './other-rules.ts';
import type { RuleSet } from './rule-set.ts';

const DRAWN = 'seed:';
const DRAWN_RULES = 5;

/**
 * The rules that an option names: `house`, `other`, `seed:7` (five rules with values that pre-training never saw; any seed will do), or the
 * path of a rule file. Throws a RuleSetError that says what to change.
 */
export function openRules(name: string): RuleSet {
  if (name === 'house') return HOUSE_RULES;
  if (name === 'other') return OTHER_RULES;
  if (isDrawn(name)) return drawRuleSet(name.slice(DRAWN.length), DRAWN_RULES);
  let text: string;
  try {
    text = readFileSync(name, 'utf8');
  } catch (error) {
    throw new RuleSetError(
      `the rules "${name}" cannot be read: use house, other, seed:N or the path of a file`,
      { cause: error },
    );
  }
  return readRuleSet(text, name);
}
