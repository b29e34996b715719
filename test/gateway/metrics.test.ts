import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/gateway/metrics.ts';
import type { TurnReport } from '../../src/gateway/turn.ts';
import { ask } from '../support/client.ts';
import { KEY, OWNER_KEY, providerAt, startGateway } from '../support/gateway.ts';
import { startProvider } from '../support/provider.ts';

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
  modelMs: 18,
});

describe('the metrics of turns', () => {
  it('add up over several scrapes, each turn counted once', async () => {
    const metrics = createMetrics({ inFlight: () => 0 });
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
    // Two of twenty milliseconds each: the model's time is not Instar's own.
    expect(second).toContain('instar_own_seconds_bucket{le="0.005",wire="anthropic"} 6');
    expect(second).toContain('instar_own_seconds_bucket{le="0.001",wire="anthropic"} 0');
    expect(metrics.modelMs()).toBe(6 * 18);
  });
});

describe('the time of a turn', () => {
  it('is the model’s while the model writes, relayed or translated, and not Instar’s own', async () => {
    const WAIT = 200;
    /** How long the model had each request, as it measured itself. */
    const held: number[] = [];
    const provider = await startProvider((_request, response) => {
      const askedAt = performance.now();
      setTimeout(() => {
        held.push(performance.now() - askedAt);
        const message = { role: 'assistant', content: 'ok' };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            id: 'x',
            object: 'chat.completion',
            created: 1,
            model: 'm',
            choices: [{ index: 0, message, finish_reason: 'stop' }],
          }),
        );
      }, WAIT);
    });
    const gateway = await startGateway({ providers: [providerAt(provider.url, ['openai-chat'])] });
    const body = JSON.stringify({
      model: 'fake/m',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hello' }],
    });
    const headers = { 'x-instar-key': KEY };
    for (const [nth, path] of ['/v1/chat/completions', '/v1/messages'].entries()) {
      const sentAt = performance.now();
      expect((await ask(gateway.port, { path, body, headers })).status).toBe(200);
      await expect.poll(() => gateway.reports.length).toBe(nth + 1);
      const whole = performance.now() - sentAt;
      const { modelMs = 0, totalMs = 0 } = gateway.reports[nth] ?? {};
      // Clocks are read at different moments: a few milliseconds apart.
      expect(modelMs).toBeGreaterThan((held[nth] ?? WAIT) - 10);
      expect(totalMs - modelMs).toBeLessThan(whole - (held[nth] ?? 0) + 10);
    }
    await gateway.close();
    await provider.close();
  });
});

describe('refused requests', () => {
  it('are those that were turned away, and not feedback, events and questions that the API answered', async () => {
    const gateway = await startGateway();
    const send = async (path: string, body: object | undefined, key = KEY): Promise<number> => {
      const method = body === undefined ? 'GET' : 'POST';
      const headers = { authorization: `Bearer ${key}` };
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      return (await ask(gateway.port, { method, path, headers, ...text })).status;
    };
    const refused = async (): Promise<readonly string[]> => {
      const headers = { authorization: `Bearer ${KEY}` };
      const { text } = await ask(gateway.port, { method: 'GET', path: '/metrics', headers });
      return text.split('\n').filter((line) => line.startsWith('instar_refused_total{'));
    };
    expect(await send('/v1/events', { kind: 'note', session: 's-1' })).toBe(200);
    expect(await send('/v1/feedback', { session: 's-1', score: 1 })).toBe(200);
    // `instar feedback ID` asks whether the id is a session's before it says anything of a turn.
    expect(await send('/api/sessions/t_1', undefined, OWNER_KEY)).toBe(404);
    expect(await send('/v1/feedback', { turn: 't_unknown', score: 1 })).toBe(404);
    expect(await send('/v1/feedback', { turn: 't_1', score: 9 })).toBe(400);
    expect(await refused()).toEqual([]);
    expect(await send('/v1/feedback', { turn: 't_1', score: 1 }, 'wrong')).toBe(401);
    expect(await send('/nowhere', undefined)).toBe(404);
    expect(await refused()).toEqual([
      'instar_refused_total{reason="unauthorized"} 1',
      'instar_refused_total{reason="not-found"} 1',
    ]);
    await gateway.close();
  });
});
