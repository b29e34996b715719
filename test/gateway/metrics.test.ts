import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/gateway/metrics.ts';
import type { TurnReport } from '../../src/gateway/turn.ts';

const turn = (provider: string, end: TurnReport['end'] = 'complete'): TurnReport => ({
  id: 't',
  session: 's',
  wire: 'anthropic',
  provider,
  model: 'm',
  end,
  status: 200,
  tries: 1,
  totalMs: 20,
});

describe('the metrics of turns', () => {
  it('add up over several scrapes, each turn counted once', async () => {
    const metrics = createMetrics(() => 0);
    for (const provider of ['a', 'b', 'a', 'a']) metrics.report(turn(provider));
    const first = await metrics.text();
    expect(first).toContain('instar_turns_total{wire="anthropic",provider="a",end="complete"} 3');
    expect(first).toContain('instar_turns_total{wire="anthropic",provider="b",end="complete"} 1');
    expect(await metrics.text()).toContain('provider="a",end="complete"} 3');
    metrics.report(turn('a'));
    metrics.report(turn('a', 'truncated'));
    const second = await metrics.text();
    expect(second).toContain('instar_turns_total{wire="anthropic",provider="a",end="complete"} 4');
    expect(second).toContain('instar_turns_total{wire="anthropic",provider="a",end="truncated"} 1');
    expect(second).toContain('instar_turn_seconds_count{wire="anthropic"} 6');
  });
});
