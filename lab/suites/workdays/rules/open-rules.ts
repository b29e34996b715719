import { readFileSync } from 'node:fs';
import { RuleSetError, readRuleSet } from './create-rule-set.ts';
import { drawRuleSet } from './draw-rules.ts';
import { HOUSE_RULES } from './house-rules.ts';
import { OTHER_RULES } from './other-rules.ts';
import type { RuleSet } from './rule-set.ts';
import type { RuleOrigin } from './split-values.ts';

const DRAWN = 'seed:';
const DRAWN_RULES = 5;
const ORIGINS: readonly RuleOrigin[] = ['seen', 'unseen-parameters', 'unseen-forms'];

/**
 * The rules that an option names: `house`, `other`, `seed:7` (five rules with values that pre-training never saw), `seed:7:unseen-forms`,
 * or the path of a rule file. Throws a RuleSetError that says what to change.
 */
export function openRules(name: string): RuleSet {
  if (name === 'house') return HOUSE_RULES;
  if (name === 'other') return OTHER_RULES;
  if (name.startsWith(DRAWN)) return drawn(name.slice(DRAWN.length));
  let text: string;
  try {
    text = readFileSync(name, 'utf8');
  } catch (error) {
    throw new RuleSetError(
      `the rules "${name}" cannot be read: use house, other, seed:N, seed:N:unseen-forms or the path of a file`,
      { cause: error },
    );
  }
  return readRuleSet(text, name);
}

/** `7` or `7:unseen-forms`; any seed will do. */
function drawn(choice: string): RuleSet {
  const at = choice.lastIndexOf(':');
  const origin = at < 0 ? 'unseen-parameters' : ORIGINS.find((one) => one === choice.slice(at + 1));
  if (origin === undefined)
    throw new RuleSetError(`there are no rules "${choice.slice(at + 1)}": use one of ${ORIGINS.join(', ')}`);
  return drawRuleSet({ seed: at < 0 ? choice : choice.slice(0, at), origin, count: DRAWN_RULES });
}
