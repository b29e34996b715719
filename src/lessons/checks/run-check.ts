import type { CheckedWork, CheckResult, RuleCheck } from '../../core/check.ts';

/** Asks a check about a piece of work. Never throws: a check that cannot be read applies to nothing. */
export function runCheck(check: RuleCheck, work: CheckedWork): CheckResult {
  const texts = work[check.looksAt];
  return texts.length === 0 ? { outcome: 'does-not-apply' } : { outcome: 'kept' };
}
