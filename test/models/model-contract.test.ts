import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/base/sleep.ts';
import type { ChatEvent, ChatModel } from '../../src/core/chat.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createFailure } from '../../src/core/failure.ts';
import { defaultRetryRule } from '../../src/core/retry.ts';
import { createHttpModel } from '../../src/models/http-model.ts';
import { createScriptedModel, createWelcomeModel } from '../../src/models/scripted-model.ts';
import { withRetry } from '../../src/models/with-retry.ts';
import { createPlainWire } from './plain-wire.ts';
import {
  collect,
  createSignal,
  openExchange,
  REPLY,
  REQUEST,
  sendEvents,
  startProvider,
} from './provider.ts';
import { createStandIn } from './stub-program.ts';

async function createHttp(events: readonly ChatEvent[]): Promise<ChatModel> {
  const { origin } = await startProvider(sendEvents(events));
  return createHttpModel({
    exchange: openExchange(),
    wire: createPlainWire(),
    upstream: { wire: 'openai-chat', origin, basePath: '' },
    access: { kind: 'open' },
    clock: systemClock,
  });
}

const busy: ChatEvent = { type: 'failure', failure: createFailure('overloaded', 'busy') };
const rule = { ...defaultRetryRule, baseMs: 1 };

/** Every implementation of `ChatModel`. */
const MODELS: Record<string, () => Promise<ChatModel>> = {
  http: () => createHttp(REPLY),
  'http that fails': () => createHttp([busy]),
  scripted: async () => createScriptedModel(() => REPLY),
  welcome: async () => createWelcomeModel(),
  claude: async () => (await createStandIn('claude', "answer('hello')")).model,
  'codex that fails': async () => (await createStandIn('codex', 'process.exit(1)')).model,
  retried: async () => withRetry(await createHttp(REPLY), { rule, random: Math.random, sleep }),
  'retried in vain': async () => withRetry(await createHttp([busy]), { rule, random: Math.random, sleep }),
};

const GRAMMAR = /^(S(D)*(E|F)|F)$/;
const letterOf = ({ type }: ChatEvent) =>
  type === 'reply-start' ? 'S' : type === 'reply-end' ? 'E' : type === 'failure' ? 'F' : 'D';

describe.each(Object.entries(MODELS))('a model (%s)', (_name, create) => {
  it('keeps to the grammar: one start, one end, nothing after it', async () => {
    const events = await collect((await create())(REQUEST, { signal: createSignal() }));
    expect(events.map(letterOf).join('')).toMatch(GRAMMAR);
  });

  it('answers an aborted signal with one aborted failure', async () => {
    const events = await collect((await create())(REQUEST, { signal: AbortSignal.abort() }));
    expect(events).toMatchObject([{ type: 'failure', failure: { kind: 'aborted' } }]);
  });

  it('does not throw when a reader stops before, at or after the first event', async () => {
    const model = await create();
    const unread = model(REQUEST, { signal: createSignal() })[Symbol.asyncIterator]();
    expect(await unread.return?.()).toMatchObject({ done: true });
    for await (const event of model(REQUEST, { signal: createSignal() })) {
      expect(event).toBeDefined();
      break;
    }
    const pending = model(REQUEST, { signal: createSignal() })[Symbol.asyncIterator]();
    const first = pending.next();
    await pending.return?.();
    await expect(first).resolves.toBeDefined();
    expect(await pending.next()).toMatchObject({ done: true });
  });

  it('leaves no listener on a signal that outlives it', async () => {
    const model = await create();
    const { signal } = new AbortController();
    await collect(model(REQUEST, { signal }));
    for await (const _event of model(REQUEST, { signal })) break;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
