import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../src/core/chat.ts';
import { createFailure } from '../../../src/core/failure.ts';
import { attemptsWith, orderOf, scriptOf } from './orders.ts';

const signal = new AbortController().signal;

describe('an attempt in words', () => {
  it('is graded by the check of its task, with what it used', async () => {
    const { make } = attemptsWith(scriptOf('The answer: 42'));
    const attempt = await make(orderOf({ check: { kind: 'number', expected: 42 } }), signal);
    expect(attempt.outcome).toMatchObject({ is: 'graded', reward: 1 });
    expect(attempt).toMatchObject({ by: 'fake/fake-model', generation: 3, output: 'The answer: 42' });
    expect(attempt.used).toMatchObject({ calls: 1, tokens: 110, unpriced: 110 });
    expect(attempt.steps.map((step) => step.kind)).toEqual(['message', 'message']);
  });

  it('sends the history, and each further message of the user after its reply (not all at once)', async () => {
    const seen: ChatRequest[] = [];
    const say = scriptOf('41', '42');
    const { make } = attemptsWith((request, speaker, abort) => {
      seen.push(request);
      return say(request, speaker, abort);
    });
    const history = [
      { role: 'user', text: 'Sums only.' },
      { role: 'assistant', text: 'Yes.' },
    ] as const;
    const attempt = await make(orderOf({ history, followUps: ['Look again.'] }), signal);
    expect(seen.map(({ messages }) => messages.length)).toEqual([3, 5]);
    expect(seen[0]?.temperature).toBe(0.7);
    expect(attempt).toMatchObject({ output: '42', outcome: { is: 'ungraded' } });
  });

  it('is an infrastructure error when its provider is limited (not a grade of 0), with the wait that was asked for', async () => {
    const failure = createFailure('rate-limited', 'slow down', { retryAfterMs: 7000 });
    const { make } = attemptsWith(async () => ({ text: '', calls: [], lessons: [], failure }));
    const { outcome } = await make(orderOf({ check: { kind: 'number', expected: 42 } }), signal);
    expect(outcome).toMatchObject({ is: 'infrastructure', retryAfterMs: 7000, isLimited: true });
  });
});

describe('an attempt in a folder', () => {
  it('runs commands in a copy of the files, and its tests grade it', async () => {
    const { make, folders } = attemptsWith(
      scriptOf({ commands: ['cat sum.sh; sh sum.sh'] }, { commands: ['echo "echo 42" > sum.sh\ndone'] }),
    );
    const workspace = { kind: 'files', files: { 'sum.sh': 'echo 41; exit 3\n' } } as const;
    const check = { kind: 'command', command: 'test "$(sh sum.sh)" = 42' } as const;
    const attempt = await make(orderOf({ workspace, check }), signal);
    expect(attempt.outcome).toMatchObject({ is: 'graded', reward: 1 });
    expect(attempt.steps.filter((step) => step.kind === 'call').map((step) => step.isOk)).toEqual([
      false,
      true,
    ]);
    await folders.close();
  });
});
