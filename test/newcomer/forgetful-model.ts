import { asArray, asObject, asString, parseJson } from '../../src/core/json.ts';
import { type Provider, startProvider } from '../support/provider.ts';

const textOf = (content: unknown): string =>
  asString(content) ??
  asArray(content)
    .map((part) => asString(asObject(part).text) ?? '')
    .join('\n');

/**
 * A provider on loopback whose model writes dates the European way, unless something it reads tells it about ISO dates.
 * So a lesson that reaches its prompt is visible in its answer.
 */
export const startForgetfulModel = (): Promise<Provider> =>
  startProvider((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'clerk-1', object: 'model' }] }));
      return;
    }
    const body = asObject(parseJson(request.body.toString()));
    const read = asArray(body.messages).map((message) => textOf(asObject(message).content));
    const order = /order (\d+)/.exec(read.findLast((text) => text.includes('order')) ?? '')?.[1] ?? '1041';
    const day = /\biso\b/i.test(read.join('\n')) ? '2026-11-16' : '16/11/2026';
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'clerk-1',
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            message: { role: 'assistant', content: `order ${order}, shipped ${day}` },
          },
        ],
        usage: { prompt_tokens: 120, completion_tokens: 12, total_tokens: 132 },
      }),
    );
  });
