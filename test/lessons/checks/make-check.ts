import type { CheckedWork, RuleCheck } from '../../../src/core/check.ts';

export const work = (parts: Partial<CheckedWork>): CheckedWork => ({
  request: '',
  reply: '',
  files: [],
  commands: [],
  ...parts,
});

export const ruleCheck = (parts: Partial<RuleCheck>): RuleCheck => ({
  looksAt: 'reply',
  appliesWhen: [],
  holdsWhen: [],
  standing: 'accepted',
  by: 'words',
  proof: 'made for a test',
  ...parts,
});
