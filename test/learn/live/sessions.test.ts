import { describe, expect, it } from 'vitest';
import type { TurnEvidence, Verdict } from '../../../src/core/evidence.ts';
import { isHard, whyHard } from '../../../src/learn/live/is-hard.ts';
import { shownCases } from '../../../src/learn/live/live-material.ts';
import { readTries } from '../../../src/learn/live/read-tries.ts';
import { shouldLearn } from '../../../src/learn/live/should-learn.ts';
import { digestError } from '../../../src/signals/digest/digest-error.ts';
import { hasFailed } from '../../../src/signals/has-failed.ts';
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
  it.each(['fs', 'sf', 'aifas', 'ffffs'])('when it holds both: %s', (letters) => {
    expect(shouldLearn(turns(letters))).toBe(true);
  });

  it.each(['', 's', 'fff', 'is', 'as', 'fi', 'fa'])('not when it does not: "%s"', (letters) => {
    expect(shouldLearn(turns(letters))).toBe(false);
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

  it('and says why, for people', () => {
    expect(whyHard(turns('ffs'))).toBe('2 of 3 turns failed');
    expect(whyHard(turns('sf'))).toBe('it ended with a failure that nothing resolved');
  });
});

describe('the tries of a session', () => {
  const turn = (id: string, over: Partial<TurnEvidence>): TurnEvidence => ({
    turn: id,
    session: 's1',
    agent: 'coder',
    role: 'main',
    status: 'complete',
    task: 'Run the tests',
    tools: [],
    reply: [],
    earlier: [],
    given: [],
    attempts: [],
    ...over,
  });
  const call = (id: string, command: string) =>
    ({ type: 'tool-call', id, name: 'bash', arguments: JSON.stringify({ command }) }) as const;

  it('are its calls with what came of them, and what the agent reported itself, in order', () => {
    const evidence = [
      turn('t1', {
        reply: [{ type: 'text', text: 'I try.' }, call('c1', 'node a.js'), call('c2', 'node b.js')],
        next: {
          tools: [
            {
              callId: 'c1',
              text: 'TypeError: x is not a function\n    at main (/app/a.js:3:7)',
              isError: true,
            },
          ],
        },
      }),
      turn('t2', {
        reply: [call('c3', 'node c.js')],
        next: { tools: [{ callId: 'c3', text: 'ok' }] },
        attempts: [{ action: 'zip it', result: 'too big', ok: false }],
      }),
    ];
    expect(readTries(evidence, { hasFailed, digestError })).toEqual([
      {
        turn: 't1',
        tool: 'bash',
        input: '{"command":"node a.js"}',
        isOk: false,
        digest: expect.stringContaining('TypeError'),
      },
      { turn: 't2', tool: 'bash', input: '{"command":"node c.js"}', isOk: true },
      { turn: 't2', tool: 'attempt', input: 'zip it', isOk: false },
    ]);
  });
});

describe('what the gate is to read', () => {
  it('holds what went well beside what failed, as words of the assistant', () => {
    const [wrong, good] = shownCases(session());
    expect(wrong?.turn).toBe('t1');
    expect(good).toMatchObject({
      turn: 't2',
      appraisal: { verdict: 'success', reward: 0.9 },
      passages: [{ origin: 'assistant', text: 'bash({"command":"cd web && npm test"})' }],
    });
  });
});
