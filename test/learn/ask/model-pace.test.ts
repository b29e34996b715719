import { describe, expect, it } from 'vitest';
import type { ChatEvent, ChatModel } from '../../../src/core/chat.ts';
import { createManualClock, systemClock } from '../../../src/core/clock.ts';
import { type CallLimits, createModelPace, type ModelPace, withPace } from '../../../src/learn/model-pace.ts';
import { idle, silent, text } from './samples.ts';

const MINUTE = 60_000;
const request = {
  model: 'm',
  system: [],
  messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x'.repeat(1000) }] }],
  tools: [],
  maxTokens: 1000,
  stream: true,
};
const collect = async (model: ChatModel): Promise<readonly ChatEvent[]> => {
  const events: ChatEvent[] = [];
  for await (const event of model(request, { signal: idle() })) events.push(event);
  return events;
};

describe('the time that a learning call may take', () => {
  it('is long for the first call: a model may have to be loaded', () => {
    const { firstMs, totalMs } = createModelPace().limits(1000, 1000);
    expect(firstMs).toBeGreaterThanOrEqual(10 * MINUTE);
    expect(totalMs).toBeGreaterThanOrEqual(30 * MINUTE);
  });

  it('follows the measured speed: minutes for a fast model, as long as it takes for a slow one', () => {
    const fast = createModelPace();
    fast.add({ promptCharacters: 4000, firstMs: 500, replyTokens: 100, replyMs: 1000 });
    expect(fast.limits(4000, 1000).totalMs).toBeLessThanOrEqual(5 * MINUTE);
    const slow = createModelPace();
    // Two tokens a second, and a minute to read a page: a whole reply takes 9 minutes.
    slow.add({ promptCharacters: 4000, firstMs: MINUTE, replyTokens: 100, replyMs: 50_000 });
    const limits = slow.limits(8000, 1000);
    expect(limits.firstMs).toBeGreaterThanOrEqual(4 * MINUTE);
    expect(limits.totalMs).toBeGreaterThanOrEqual(20 * MINUTE);
    expect(limits.totalMs).toBeLessThan(120 * MINUTE);
  });

  it('grows after a call that was given up, and falls back after one that ended well', () => {
    const pace = createModelPace();
    const call = { promptCharacters: 4000, firstMs: MINUTE, replyTokens: 100, replyMs: 50_000 };
    pace.add(call);
    const before = pace.limits(4000, 500);
    pace.late();
    expect(pace.limits(4000, 500).firstMs).toBe(2 * before.firstMs);
    pace.add(call);
    expect(pace.limits(4000, 500)).toEqual(before);
  });

  it('is measured from the events of a reply', async () => {
    const clock = createManualClock();
    const pace = createModelPace();
    const slow: ChatModel = async function* () {
      clock.advance(5 * MINUTE);
      yield* text('a'.repeat(400));
      clock.advance(MINUTE);
    };
    expect((await collect(withPace(slow, pace, clock))).map(({ type }) => type)).toEqual([
      'reply-start',
      'text-delta',
      'reply-end',
    ]);
    expect(pace.limits(2000, 100).firstMs).toBeGreaterThanOrEqual(20 * MINUTE);
  });

  it.each([
    ['gives nothing', silent, { firstMs: 30, gapMs: 60_000, totalMs: 60_000 }],
    [
      'stops in the middle',
      async function* () {
        yield* text('half').slice(0, 2);
        await new Promise(() => undefined);
      },
      { firstMs: 60_000, gapMs: 30, totalMs: 60_000 },
    ],
    [
      'never ends',
      async function* () {
        for (;;) {
          yield { type: 'text-delta', text: 'and ' };
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
      { firstMs: 60_000, gapMs: 60_000, totalMs: 60 },
    ],
  ] satisfies [string, ChatModel, CallLimits][])(
    'ends the call of a model that %s',
    async (_, model, limits) => {
      let given = 0;
      const pace: ModelPace = { limits: () => limits, add: () => undefined, late: () => given++ };
      const events = await collect(withPace(model, pace, systemClock));
      expect(events.at(-1)).toMatchObject({ type: 'failure', failure: { kind: 'timeout' } });
      expect(given).toBe(1);
    },
  );
});
