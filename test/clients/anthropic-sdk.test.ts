import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WIRE_NAMES } from '../../src/core/wire.ts';
import { providerAt, startGateway, type TestGateway } from '../support/gateway.ts';
import type { Provider } from '../support/provider.ts';
import { startScriptedProvider } from './scripted-provider.ts';

let provider: Provider;
beforeAll(async () => {
  provider = await startScriptedProvider();
});
afterAll(() => provider.close());

const tools: Anthropic.Tool[] = [
  {
    name: 'weather',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];

describe.each(WIRE_NAMES.map((wire) => [wire]))(
  'the official @anthropic-ai/sdk package, provider on %s',
  (wire) => {
    let gateway: TestGateway;
    let client: Anthropic;
    beforeAll(async () => {
      gateway = await startGateway({
        providers: [providerAt(provider.url, [wire])],
        aliases: { default: ['fake/m-1'] },
      });
      client = new Anthropic({ baseURL: `http://127.0.0.1:${gateway.port}`, apiKey: 'mine', maxRetries: 0 });
    });
    afterAll(() => gateway.close());

    it('sends system blocks and an image, and receives usage with cache counts', async () => {
      const reply = await client.messages.create({
        model: 'default',
        max_tokens: 100,
        system: [
          { type: 'text', text: 'Be brief.' },
          { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } },
        ],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
              { type: 'text', text: 'Look' },
            ],
          },
        ],
      });
      const text = reply.content[0]?.type === 'text' ? reply.content[0].text : '';
      expect(text.replace('\n\n', '|')).toBe('System: Be brief.|Be kind.. Parts: image,text. Grüezi 👋');
      expect(reply.stop_reason).toBe('end_turn');
      expect(reply.usage).toMatchObject({ input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 7 });
    });

    it('streams text as it arrives', async () => {
      const stream = client.messages.stream({
        model: 'default',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hi' }],
      });
      const pieces: string[] = [];
      stream.on('text', (text) => pieces.push(text));
      expect(await stream.finalText()).toBe('System: . Parts: text. Grüezi 👋');
      expect(pieces.length).toBeGreaterThan(2);
    });

    it('runs a streamed tool loop with parallel calls', async () => {
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather?' }];
      const first = await client.messages
        .stream({ model: 'default', max_tokens: 100, messages, tools })
        .finalMessage();
      expect(first.stop_reason).toBe('tool_use');
      const calls = first.content.filter((block) => block.type === 'tool_use');
      expect(calls.map((call) => call.input)).toEqual([{ city: 'Zürich' }, { city: 'Bern' }]);
      messages.push(
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: '21' })),
        },
      );
      const second = await client.messages.create({ model: 'default', max_tokens: 100, messages, tools });
      expect(JSON.stringify(second.content)).toContain('call_1=');
    });

    it.each([
      [400, Anthropic.BadRequestError],
      [401, Anthropic.AuthenticationError],
      [404, Anthropic.NotFoundError],
      [413, Anthropic.APIError],
      [429, Anthropic.RateLimitError],
      [529, Anthropic.InternalServerError],
    ])('raises its own error class for a %i of the provider, with its message', async (status, kind) => {
      const request = {
        model: `fake/fail-${status}`,
        max_tokens: 9,
        messages: [{ role: 'user' as const, content: 'Hi' }],
      };
      for (const stream of [true, false]) {
        const failed = client.messages.create({ ...request, stream });
        await expect(failed).rejects.toBeInstanceOf(kind);
        await expect(failed).rejects.toMatchObject({ status });
        await expect(failed).rejects.toThrow(/prompt is too long/);
      }
    });

    it('counts tokens and lists models', async () => {
      if (wire !== 'anthropic') {
        const count = await client.messages.countTokens({
          model: 'default',
          messages: [{ role: 'user', content: 'Hi there' }],
        });
        expect(count.input_tokens).toBeGreaterThan(0);
      }
      const ids: string[] = [];
      for await (const model of client.models.list()) ids.push(model.id);
      expect(ids).toContain('default');
    });
  },
);
