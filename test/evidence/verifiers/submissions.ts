import type { Submission, Verification } from '../../../src/core/verifier.ts';

export const never = new AbortController().signal;

export const attemptOf = (output: string, more: Partial<Submission> = {}): Submission => ({
  task: 'Say how many apples there are',
  output,
  domain: 'math.fruit',
  ...more,
});

/** The reward, or 'none' for a verifier that failed to run. */
export const rewardOf = (given: Verification | undefined): number | 'none' =>
  given?.status === 'ok' ? given.reward : 'none';
