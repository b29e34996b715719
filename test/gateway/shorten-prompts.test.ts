import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { noRecord, type TurnRecorder } from '../../src/core/recorder.ts';
import { servePromptShortening, withShortenedPrompts } from '../../src/gateway/shorten-prompts.ts';
import { NOTHING_SHOWN } from '../../src/gateway/turn.ts';
import { createCompressor } from '../../src/learn/compress/compressor.ts';
import { createMemoryPromptCache } from '../../src/learn/compress/prompt-cache.ts';
import { LONG } from '../learn/compress/sample-prompt.ts';
import { ask } from '../support/client.ts';
import { KEY, providerAt, startGateway } from '../support/gateway.ts';
import { startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

const SHORT = 'You are a personal assistant.';

it('a session whose lessons were found slowly keeps its long prompt after a restart', async () => {
  let seen = '';
  const provider = await startProvider((request, response) => {
    seen = JSON.parse(request.body.toString()).messages[0].content;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  const cache = createMemoryPromptCache();
  const begun = new Map<string, number>();
  const recorder: TurnRecorder = {
    room: () => undefined,
    start: ({ session }) => {
      begun.set(session, begun.get(session) ?? systemClock.now());
      return noRecord;
    },
  };
  /** One daemon's life, in which these sessions have a turn each. */
  const serve = async (sessions: readonly string[]): Promise<readonly string[]> => {
    const compressor = createCompressor({
      write: async () => ({ ok: true, text: SHORT, model: 'm', question: 'q' }),
      cache,
      now: systemClock.now,
      overTokens: 100,
      limitTokens: 100,
    });
    const shortening = servePromptShortening({
      records: {
        session: async (id) => {
          const startedAt = begun.get(id);
          return startedAt === undefined
            ? undefined
            : { id, agent: 'a', turns: 1, startedAt, lastAt: startedAt, erased: false };
        },
      },
      now: systemClock.now,
      settings: { compress: true },
      overTokens: 100,
      open: () => compressor,
    });
    const lessons = withShortenedPrompts(async () => {
      // Longer than a shorter prompt takes here.
      await new Promise((resolve) => setTimeout(resolve, 30));
      return NOTHING_SHOWN;
    }, shortening);
    const gateway = await startGateway({
      providers: [providerAt(provider.url, ['openai-chat'])],
      recorder,
      lessons,
    });
    const prompts: string[] = [];
    for (const session of sessions) {
      const messages = [
        { role: 'system', content: LONG },
        { role: 'user', content: 'Hello' },
      ];
      const headers = { 'x-instar-key': KEY, 'x-instar-session': session };
      const body = JSON.stringify({ model: 'm', messages });
      await ask(gateway.port, { path: '/v1/chat/completions', body, headers });
      prompts.push(seen);
      await compressor.settled();
    }
    await gateway.close();
    await shortening.close();
    return prompts;
  };
  try {
    expect(await serve(['first', 'later'])).toEqual([LONG, SHORT]);
    expect(await serve(['first', 'later'])).toEqual([LONG, SHORT]);
  } finally {
    await provider.close();
  }
});
