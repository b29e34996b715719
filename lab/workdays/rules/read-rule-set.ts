import { parseJson } from '../../../src/core/json.ts';
import { createRuleSet, RuleSetError } from './create-rule-set.ts';
import type { RuleSet } from './rule-set.ts';

/** The rules in a person's file. `from` is its name; throws a RuleSetError that says where it is wrong and what to do. */
export function readRuleSet(text: string, from: string): RuleSet {
  const data = parseJson(text);
  if (data === undefined)
    throw new RuleSetError(`${from}: is not JSON: write an object { "name": …, "rules": [ … ] }`);
  return createRuleSet(data, from);
}
