import { describe, expect, it } from 'vitest';
import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import type { Attempt, AttemptGroup } from '../../../src/core/practice.ts';
import { findBrokenRule, isMechanicalRule } from '../../../src/evidence/verifiers/mechanical-rules.ts';
import { holdGroupToCore } from '../../../src/learn/identity/hold-to-core.ts';
import { taskOf } from '../practice/scripted-practice.ts';

const CORE = ['Never use emojis.'];
const attemptWith = (reward: number, tokens: number, output: string, at: number): Attempt => ({
  id: `a${at}`,
  task: 't',
  by: 'p/m',
  generation: 1,
  lessons: [],
  outcome: { is: 'graded', reward, reasons: ['checked'] },
  output,
  steps: [],
  used: { ...NOTHING_SPENT, tokens },
});
const groupOf = (made: readonly (readonly [number, number, string])[]): AttemptGroup => ({
  id: 'g',
  task: taskOf('daily', { agent: 'ada' }),
  generation: 1,
  gradedBy: 'verifier',
  attempts: made.map(([reward, tokens, output], at) => attemptWith(reward, tokens, output, at)),
});
describe('a group', () => {
  it('is no success where an answer breaks the core, whatever its verifier says', () => {
    const group = groupOf([
      [1, 10, 'Done 🎉'],
      [1, 10, 'Done.'],
    ]);
    const { attempts } = holdGroupToCore(group, CORE);
    expect(attempts.map(({ outcome }) => outcome)).toMatchObject([
      {
        reward: 0,
        reasons: [expect.stringContaining('“Never use emojis.”: the answer has “🎉”'), 'checked'],
      },
      { reward: 1, reasons: ['checked'] },
    ]);
    const held = group.attempts.slice(1);
    expect(holdGroupToCore({ ...group, attempts: held }, CORE).attempts).toBe(held);
  });
});

describe('a line that a machine can check', () => {
  it.each([
    ['Never use emojis.', 'Done 🎉', 'Done.'],
    ['No emojis!', 'Done ✅', 'Done © 2026, 1️ of 3'.replace('\u{FE0F}', '')],
    ['- Do not use exclamation marks.', 'Done!', 'Run `test!` now.'],
    ['Never use em dashes.', 'Done — at last.', 'Done - at last.'],
    ['Never say "obviously".', 'That is Obviously so.', 'That is obvious.'],
    ['Never use the word “synergy”.', 'More synergy.', 'More ```synergy```.'],
    ['Answer in at most 5 words.', 'One two three four five six.', 'One two three four five.'],
  ])('%s', (line, broken, kept) => {
    expect(findBrokenRule([line], broken)).toMatchObject({ line });
    expect(findBrokenRule([line], kept)).toBeUndefined();
  });

  it.each([
    'Answer in German.',
    'Never deceive the user.',
    'Never use emojis unless the user does.',
    'Use emojis when you like.',
    'Never use exclamation marks in headings.',
    'Never say "done" before the tests pass.',
    'Be brief.',
  ])('is not: %s', (line) => expect(isMechanicalRule(line)).toBe(false));
});
