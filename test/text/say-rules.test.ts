import { expect, it } from 'vitest';
import { sayRules } from '../../src/text/say-rules.ts';

const seen = (...outcomes: readonly string[]) =>
  outcomes.map((outcome, at) => ({ lesson: `l${at}`, outcome }));

it.each([
  [seen('kept', 'broken'), 'rules: kept 1 of 2'],
  // A rule that was only shown, or has nothing to do with the answer, was not broken.
  [seen('kept', 'shown', 'does-not-apply'), 'rules: kept 1 of 1'],
  [seen('broken', 'told-again'), 'rules: kept 0 of 1, told again 1'],
  [seen('told-again'), 'rules: told again 1'],
  // What a command found later stands.
  [
    [
      { lesson: 'l', outcome: 'kept' },
      { lesson: 'l', outcome: 'broken' },
    ],
    'rules: kept 0 of 1',
  ],
  [seen('shown'), undefined],
  [[], undefined],
])('of %j a turn says %j', (observed, words) => {
  expect(sayRules(observed)).toBe(words);
});
