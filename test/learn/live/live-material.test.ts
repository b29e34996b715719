import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../src/core/evidence.ts';
import { isHard, isWorthLearning, shownCases, whyHard } from '../../../src/learn/live/live-material.ts';
import { session } from './samples.ts';

const LETTERS: Readonly<Record<string, Verdict>> = {
  f: 'failure',
  s: 'success',
  i: 'infrastructure',
  a: 'ambiguous',
};
const turns = (letters: string) =>
  [...letters].map((letter) => ({ verdict: LETTERS[letter] ?? 'ambiguous' }));

describe('a session is worth learning from', () => {
  it.each(['fs', 'sf', 'aifas', 'ffffs'])('when it has both failures and successes: %s', (letters) => {
    expect(isWorthLearning(turns(letters))).toBe(true);
  });

  it.each(['', 's', 'fff', 'is', 'as', 'fi', 'fa'])('not when one of them is missing: "%s"', (letters) => {
    expect(isWorthLearning(turns(letters))).toBe(false);
  });
});

describe('a session is hard', () => {
  it.each(['ffs', 'fsfs', 'f', 'ssssf', 'sfa', 'fi'])(
    'when half of it failed, or its end did: %s',
    (letters) => {
      expect(isHard(turns(letters))).toBe(true);
    },
  );

  it.each(['', 's', 'fs', 'ffsss', 'iii', 'aa', 'fiis'])('not otherwise: "%s"', (letters) => {
    expect(isHard(turns(letters))).toBe(false);
  });

  it('with a reason for people', () => {
    expect(whyHard(turns('ffs'))).toBe('2 of 3 turns failed');
    expect(whyHard(turns('sf'))).toBe('it ended with an unresolved failure');
  });
});

describe('the cases for the gate', () => {
  it('include successes next to failures, as text of the assistant', () => {
    const [wrong, good] = shownCases(session());
    expect(wrong?.turn).toBe('t1');
    expect(good).toMatchObject({
      turn: 't2',
      appraisal: { verdict: 'success', reward: 0.9 },
      passages: [{ origin: 'assistant', text: 'bash({"command":"cd web && npm test"})' }],
    });
  });
});
