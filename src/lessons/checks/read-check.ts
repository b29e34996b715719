import type { RuleCheck } from '../../core/check.ts';
import { isObject } from '../../core/json.ts';

/** Why a value is no check; undefined for a check. */
export const checkRuleCheck = (value: unknown): string | undefined =>
  isObject(value) ? undefined : 'a check must be an object';

/** The caller may modify their object afterwards. */
export const copyCheck = (check: RuleCheck): RuleCheck => structuredClone(check);
