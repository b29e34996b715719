import { describe, expect, it } from 'vitest';
import type { PolicyTemplate } from '../../src/core/training.ts';
import { createPolicyAttempts } from '../../train/practice-training.ts';
import { attemptsWith, orderOf, scriptOf } from '../agent/attempts/orders.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const signal = new AbortController().signal;

/** Words of a vocabulary of five; the prompt's length stands for its text. */
const template: PolicyTemplate = {
  render: ({ system, messages }) => ({
    is: 'prompt',
    tokens: [JSON.stringify([system, messages]).length % 5, 1],
  }),
  write: () => [],
  read: (tokens) => ({ text: tokens.join(' '), calls: [] }),
  stop: [0],
  longestReply: 6,
};

async function policy() {
  const sampler = await createTabularEngine(createServer({ vocabulary: 5 })).openSampler(undefined);
  let released = 0;
  const open = createPolicyAttempts({
    template,
    name: 'table',
    weights: async () => ({ version: 7, sampler, release: () => void released++ }),
  });
  const { make } = attemptsWith(scriptOf(''), { agents: new Map([['own', { kind: 'model', open }]]) });
  return { make, released: () => released };
}

describe('attempts of a policy that trains', () => {
  it('sample at temperature 1, whatever the order says (a bent sampler trains nothing), and keep tokens with log-probabilities', async () => {
    const { make, released } = await policy();
    const attempt = await make(orderOf({ followUps: ['And again?'] }, { temperature: 0.7 }), signal);
    expect(attempt.by).toBe('table@7');
    expect(attempt.sampled).toHaveLength(2);
    for (const turn of attempt.sampled ?? []) {
      expect(turn).toMatchObject({ temperature: 1, version: 7 });
      expect(turn.logprobs).toHaveLength(turn.tokens.length);
      expect(turn.logprobs.every((one) => one <= 0)).toBe(true);
    }
    expect(attempt.used).toMatchObject({ calls: 2, usd: 0, unpriced: 0 });
    expect(released()).toBe(1);
  });

  it('are the same for the same seed, and others for another', async () => {
    const { make } = await policy();
    const tokens = async (seed: string) =>
      JSON.stringify((await make(orderOf({ followUps: ['And again?'] }, { seed }), signal)).sampled);
    expect(await tokens('a')).toBe(await tokens('a'));
    const others = await Promise.all(['b', 'c', 'd', 'e'].map(tokens));
    expect(new Set([...others, await tokens('a')]).size).toBeGreaterThan(1);
  });
});
