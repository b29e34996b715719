import { describe, expect, it } from 'vitest';
import type { ChatEvent, ChatModel } from '../../src/core/chat.ts';
import { createFailure, type FailureKind } from '../../src/core/failure.ts';
import { createScriptedModel } from '../../src/models/scripted-model.ts';
import { withFallback } from '../../src/models/with-fallback.ts';
import { collect, createSignal, REPLY, REQUEST, START, say } from './provider.ts';

const failing = (kind: FailureKind, before: readonly ChatEvent[] = []): ChatModel =>
  createScriptedModel(() => [...before, { type: 'failure', failure: createFailure(kind, kind) }]);
const good = createScriptedModel(() => REPLY);
const ask = (...models: ChatModel[]) => collect(withFallback(models)(REQUEST, { signal: createSignal() }));
const failed = (kind: FailureKind) => [{ type: 'failure', failure: { kind } }];

describe('withFallback', () => {
  it.each([
    'overloaded',
    'rate-limited',
    'unreachable',
    'timeout',
    'not-found',
    'truncated',
    'upstream-error',
  ] as const)('asks the next model after %s, and shows one reply-start', async (kind) => {
    expect(await ask(failing(kind, [START]), good)).toEqual(REPLY);
  });

  it.each(['bad-request', 'unauthorized', 'too-large'] as const)(
    'does not ask another after %s',
    async (kind) => {
      expect(await ask(failing(kind), good)).toMatchObject(failed(kind));
    },
  );

  it('does not ask another once content was passed on', async () => {
    const events = await ask(failing('truncated', [START, say('half')]), good);
    expect(events).toMatchObject([START, say('half'), ...failed('truncated')]);
  });

  it('shows the last failure (not the first) when none answers', async () => {
    expect(await ask(failing('overloaded'), failing('unreachable'), failing('unauthorized'))).toMatchObject(
      failed('unauthorized'),
    );
  });

  it('asks nobody once the caller has left', async () => {
    const leaving = new AbortController();
    let asked = 0;
    const first = createScriptedModel(() => {
      leaving.abort();
      return REPLY;
    });
    const second = createScriptedModel(() => {
      asked++;
      return REPLY;
    });
    const events = await collect(withFallback([first, second])(REQUEST, { signal: leaving.signal }));
    expect(events).toMatchObject(failed('aborted'));
    expect(asked).toBe(0);
  });

  it('says that no model is configured when the list is empty', async () => {
    expect(await ask()).toMatchObject(failed('not-found'));
  });
});
