import { afterEach, describe, expect, it } from 'vitest';
import { isForbiddenHost } from '../../../src/config/address.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { asObject, type JsonObject } from '../../../src/core/json.ts';
import { defaultRetryRule } from '../../../src/core/retry.ts';
import { createPrices } from '../../../src/cost/prices.ts';
import { createLearningModels } from '../../../src/learn/learning-model.ts';
import { createCatalogue } from '../../../src/models/catalogue.ts';
import { createExchange } from '../../../src/models/exchange.ts';
import { createScriptedModel } from '../../../src/models/scripted-model.ts';
import { wires } from '../../../src/wire/wires.ts';
import { type Provider, startProvider } from '../../support/provider.ts';
import { asker, idle, question } from './samples.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** A keyless server on loopback that answers `{"is": 7}` unless it refuses the request, asked as learning asks it. */
async function open(refuses: (body: JsonObject) => string | undefined, isNear = true) {
  const provider: Provider = await startProvider((request, response) => {
    const message = refuses(asObject(JSON.parse(request.body.toString())));
    response.writeHead(message === undefined ? 200 : 400, { 'content-type': 'application/json' });
    const choice = { index: 0, message: { role: 'assistant', content: '{"is": 7}' }, finish_reason: 'stop' };
    response.end(
      JSON.stringify(
        message === undefined
          ? { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }
          : { error: { message } },
      ),
    );
  });
  const timeouts = { connectMs: 9999, headersMs: 99_999, firstByteMs: 99_999, idleMs: 99_999 };
  const pool = createExchange({ timeouts, isForbiddenAddress: isForbiddenHost });
  opened.push(pool, provider);
  const models = { evolver: 'box/m' };
  const catalogue = createCatalogue({
    providers: [
      {
        name: 'box',
        baseUrl: `${provider.url}/v1`,
        access: { kind: 'caller' },
        wires: ['openai-chat'],
        isNear,
      },
    ],
    aliases: { evolver: ['box/m'] },
    welcome: createScriptedModel(() => ''),
    exchange: pool.exchange,
    wires,
    clock: systemClock,
    retry: { rule: defaultRetryRule, random: Math.random, sleep: async () => undefined },
  });
  const prices = createPrices({ box: { host: '127.0.0.1', isLocal: true } });
  const learner = createLearningModels({ settings: { models }, catalogue, prices, clock: systemClock });
  const { ask } = asker(async function* (request, { signal }) {
    yield* await learner.chat('evolver', request, signal);
  });
  const schema = { type: 'object', properties: { is: { type: 'integer' } } };
  return {
    ask: () => ask({ ...question(), schema, maxTokens: 5000 }, idle()),
    seen: () =>
      provider.seen.map(({ body, headers }) => {
        const sent = asObject(JSON.parse(body.toString()));
        const format = asObject(sent.response_format).type;
        return [format, sent.max_tokens ?? sent.max_completion_tokens, headers.authorization];
      }),
  };
}

describe('a question with a schema', () => {
  it('is asked under it at a server of the user’s own, without a key', async () => {
    const { ask, seen } = await open(() => undefined);
    expect(await ask()).toMatchObject({ ok: true, value: { is: 7 } });
    expect(seen()).toEqual([['json_schema', 5000, undefined]]);
  });

  it('is asked without it where the server refuses it, and from then on at once', async () => {
    const { ask, seen } = await open(({ response_format: format }) =>
      format === undefined ? undefined : 'response_format is not supported',
    );
    expect(await ask()).toMatchObject({ ok: true, value: { is: 7 } });
    const first = seen().length;
    expect(seen().at(-1)).toEqual([undefined, 5000, undefined]);
    expect(await ask()).toMatchObject({ ok: true });
    expect(seen()).toHaveLength(first + 1);
  });

  it('is asked for a shorter reply where the longest does not fit the context', async () => {
    const { ask, seen } = await open(({ max_tokens: most, max_completion_tokens: other }) =>
      Number(most ?? other) > 2000 ? "this model's maximum context length is 4096 tokens" : undefined,
    );
    expect(await ask()).toMatchObject({ ok: true });
    expect(seen().at(-1)).toEqual(['json_schema', 1024, undefined]);
  });

  it('is asked without it elsewhere: a refused request could cost money', async () => {
    const { ask, seen } = await open(() => undefined, false);
    expect(await ask()).toMatchObject({ ok: true });
    expect(seen()).toEqual([[undefined, 5000, undefined]]);
  });
});
