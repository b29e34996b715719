import { describe, expect, it } from 'vitest';
import type { Usage } from '../../src/core/chat.ts';
import type { Fact } from '../../src/core/fact.ts';
import { createPrices } from '../../src/cost/prices.ts';
import { createMetrics } from '../../src/gateway/metrics.ts';
import { createServingCost } from '../../src/learn/model-cost.ts';

const prices = createPrices({
  openai: { host: 'api.openai.com', isLocal: false },
  acme: { host: 'acme.example', isLocal: false },
  vllm: { host: '127.0.0.1', isLocal: true },
  instar: { isLocal: true },
});
const end = (turn: string, policy: string, usage: Usage): Fact => ({
  type: 'turn-end',
  turn,
  policy,
  status: 'complete',
  httpStatus: 200,
  usage,
  totalMs: 1,
});
const usage = { inputTokens: 100_000, outputTokens: 10_000 };

function fold(facts: readonly Fact[], at = 10) {
  const cost = createServingCost(prices, 10);
  facts.forEach((fact, index) => {
    cost.add({ seq: index + 1, at, fact });
  });
  return cost;
}

describe('what served turns cost', () => {
  it('is money at known prices, nothing on this machine, and tokens alone at an unknown price', () => {
    const cost = fold([
      end('a', 'openai/gpt-5.2', usage),
      end('b', 'acme/foo', usage),
      end('c', 'vllm/qwen', usage),
      end('d', 'instar/nano@1', usage),
      end('e', 'instar/nano@2', usage),
    ]);
    const total = cost.total();
    expect(total).toMatchObject({ tokens: 550_000, unpricedTokens: 110_000 });
    expect(total.usd).toBeCloseTo(0.175 + 0.14, 10);
    expect(cost.models().map(({ model, tokens }) => [model, tokens])).toEqual([
      ['openai/gpt-5.2', 110_000],
      ['acme/foo', 110_000],
      ['vllm/qwen', 110_000],
      ['instar/nano', 220_000],
    ]);
  });

  it('counts no turn that ended before the start', () => {
    expect(fold([end('a', 'openai/gpt-5.2', usage)], 9).total().tokens).toBe(0);
  });

  it('lists at most 21 models, however many names callers make up', async () => {
    const names = Array.from({ length: 500 }, (_, nth) => end(`t${nth}`, `acme/m${nth}`, usage));
    const cost = fold([end('a', 'openai/gpt-5.2', usage), ...names]);
    expect(cost.models()).toHaveLength(21);
    expect(cost.models().find(({ model }) => model === 'other')?.tokens).toBe(481 * 110_000);
    const metrics = createMetrics({ inFlight: () => 0, served: cost.models });
    for (const text of [await metrics.text(), await metrics.text()]) {
      expect(text).toContain('instar_serving_tokens_total{model="openai/gpt-5.2",price="known"} 110000');
      expect(text).toContain('instar_serving_tokens_total{model="acme/m0",price="unknown"} 110000');
      // No dollars for a model whose price is unknown, not even 0.
      expect(text.match(/^instar_serving_usd_total\{.*$/gm)).toEqual([
        expect.stringMatching(/^instar_serving_usd_total\{model="openai\/gpt-5\.2"\} 0\.315/),
      ]);
    }
  });
});
