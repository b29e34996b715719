import { describe, expect, it } from 'vitest';
import type { ModelPrice } from '../../src/core/budget.ts';
import {
  describeJobsBudget,
  describeLearningCost,
  describeServingCost,
  describeWriter,
  describeWriting,
} from '../../src/cost/describe-cost.ts';

const LIMITS = { usdPerDay: 1, tokensPerDay: 500_000 };
const price = { input: 1.75, output: 14 };
const free = { input: 0, output: 0 };
const model = (name: string, at: ModelPrice, title = name) => ({ name, title, price: at });
const writer = (at: ModelPrice, name: string, title?: string) =>
  describeWriter(model(name, at, title), LIMITS);

describe('the sentence about who writes lessons and who pays', () => {
  it.each([
    [
      { from: 'list', price, isLocal: false },
      'openai/gpt-5.2',
      'Lessons are written by openai/gpt-5.2, at most $1.00 a day (models.evolver: "off" ends that).',
    ],
    [
      { from: 'local', price: free, isLocal: true },
      'ollama/qwen3',
      'Lessons are written by ollama/qwen3 on this machine, at no cost, at most 500,000 tokens a day (models.evolver: "off" ends that).',
    ],
    [
      { from: 'unknown', isLocal: false },
      'acme/foo',
      'Lessons are written by acme/foo (price unknown), at most 500,000 tokens a day (models.evolver: "off" ends that).',
    ],
    [
      { from: 'subscription', price: free, isLocal: true },
      'claude',
      'Lessons are written by claude, which your subscription pays, at most 500,000 tokens a day (models.evolver: "off" ends that).',
    ],
  ] as const)('names the model and its limit: %j', (at, name, sentence) => {
    expect(writer(at, name)).toBe(sentence);
  });

  it('says that no model writes when there is none', () => {
    expect(describeWriter(undefined, LIMITS)).toBe(
      "Lessons are written without a model, from people's own words (models.evolver names one).",
    );
  });

  it('does not promise lessons when no money may be spent on a model that costs some', () => {
    const limits = { ...LIMITS, usdPerDay: 0 };
    const paid = describeWriter(model('openai/gpt-5.2', { from: 'list', price, isLocal: false }), limits);
    expect(paid).toContain(
      'No lessons are written: openai/gpt-5.2 costs money and learn.budget.usdPerDay is 0',
    );
    const unknown = describeWriter(model('acme/foo', { from: 'unknown', isLocal: false }), limits);
    expect(unknown).toContain('acme/foo has no known price');
  });

  it('says that other providers’ sessions are not shown to a model that nobody named, and who judges', () => {
    const at: ModelPrice = { from: 'list', price, isLocal: false };
    const evolver = { ...model('openai/gpt-5.2', at), onlyFor: 'openai' };
    expect(describeWriting({ evolver, judge: model('openai/gpt-5-mini', at), limits: LIMITS })).toEqual({
      models: { evolver: 'openai/gpt-5.2', judge: 'openai/gpt-5-mini' },
      usdPerDay: 1,
      tokensPerDay: 500_000,
      price: 'list',
      writer:
        'Lessons are written by openai/gpt-5.2, at most $1.00 a day (models.evolver: "off" ends that). Sessions that others served are learned from without a model. openai/gpt-5-mini judges unclear turns, within the same limit.',
    });
  });
});

describe('the lines about cost', () => {
  const learning = (usdToday: number, tokensToday: number, unpricedTokensToday: number) =>
    describeLearningCost({ cost: { learning: { usdToday, tokensToday, unpricedTokensToday } }, ...LIMITS });
  const serving = (usd: number, tokens: number, unpricedTokens: number) =>
    describeServingCost({ cost: { serving: { usd, tokens, unpricedTokens } } });

  it('show money only where a price is known', () => {
    expect(learning(0.123, 34_500, 0)).toBe('$0.12 of $1.00 and 34,500 of 500,000 tokens today');
    expect(learning(0, 12_300, 12_300)).toBe('12,300 of 500,000 tokens today; price unknown: 12,300 tokens');
    expect(learning(0.5, 20_000, 12_300)).toBe(
      '$0.50 of $1.00 and 20,000 of 500,000 tokens today; price unknown: 12,300 tokens',
    );
    expect(serving(0.42, 1_200_000, 300_000)).toBe(
      '1.2 M tokens served since the start; $0.42 by known prices, 300,000 tokens at an unknown price',
    );
    expect(serving(0, 5000, 0)).toBe('5,000 tokens served since the start; 5,000 tokens at no cost');
    expect(serving(0, 5000, 5000)).toBe(
      '5,000 tokens served since the start; 5,000 tokens at an unknown price',
    );
    expect(serving(0, 0, 0)).toBe('no tokens served since the start');
  });

  it('show what background jobs spent of each limit', () => {
    const limits = { minutes: 480, tokens: 2_000_000, usd: 1 };
    const spent = { minutes: 3.5, tokens: 34_000, usd: 0.02, unpricedTokens: 0 };
    expect(describeJobsBudget({ limits, spent })).toBe(
      '3.5 of 480 min, 34,000 of 2,000,000 tokens, $0.020 of $1.00',
    );
    expect(
      describeJobsBudget({ limits, spent: { ...spent, usd: 0, unpricedTokens: 34_000 }, refusal: 'why' }),
    ).toBe(
      '3.5 of 480 min, 34,000 of 2,000,000 tokens, $0.00 of $1.00 (34,000 tokens at an unknown price); why',
    );
  });
});
