import OpenAI from 'openai';
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

const PNG = 'data:image/png;base64,aGk=';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

// The provider's wire is the client's own, or one that must be translated.
describe.each(WIRE_NAMES.map((wire) => [wire]))('the official openai package, provider on %s', (wire) => {
  let gateway: TestGateway;
  let client: OpenAI;
  beforeAll(async () => {
    gateway = await startGateway({
      providers: [providerAt(provider.url, [wire])],
      aliases: { default: ['fake/m-1'] },
    });
    client = new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port}/v1`, apiKey: 'sk-mine', maxRetries: 0 });
  });
  afterAll(() => gateway.close());

  it('chat: sends system text and an image, and receives usage', async () => {
    const reply = await client.chat.completions.create({
      model: 'default',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: PNG } },
          ],
        },
      ],
    });
    expect(reply.choices[0]?.message.content).toBe('System: Be brief.. Parts: text,image. Grüezi 👋');
    expect(reply.choices[0]?.finish_reason).toBe('stop');
    expect(reply.usage).toMatchObject({ prompt_tokens: 40, completion_tokens: 7, total_tokens: 47 });
    expect(reply.usage?.prompt_tokens_details?.cached_tokens).toBe(30);
  });

  it('chat: streams text as it arrives', async () => {
    const stream = await client.chat.completions.create({
      model: 'default',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const pieces: string[] = [];
    let usage: OpenAI.CompletionUsage | undefined;
    for await (const chunk of stream) {
      pieces.push(chunk.choices[0]?.delta.content ?? '');
      usage = chunk.usage ?? usage;
    }
    expect(pieces.join('')).toBe('System: . Parts: text. Grüezi 👋');
    expect(pieces.filter((piece) => piece !== '').length).toBeGreaterThan(2);
    expect(usage).toMatchObject({ prompt_tokens: 40 });
  });

  it('chat: runs a streamed tool loop with parallel calls', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather?' }];
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
    const first = await client.chat.completions
      .stream({ model: 'default', messages, tools })
      .finalChatCompletion();
    const message = first.choices[0]?.message;
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    expect(message?.tool_calls?.map((call) => call.type === 'function' && call.function.arguments)).toEqual([
      '{"city":"Zürich"}',
      '{"city":"Bern"}',
    ]);
    if (!message) return;
    messages.push(
      message,
      ...(message.tool_calls ?? []).map((call) => ({
        role: 'tool' as const,
        tool_call_id: call.id,
        content: '21',
      })),
    );
    const second = await client.chat.completions.create({ model: 'default', messages, tools });
    expect(second.choices[0]?.message.content).toContain('call_0=');
    expect(second.choices[0]?.message.content).toContain('call_1=');
  });

  it('responses: receives text, streamed and complete', async () => {
    const whole = await client.responses.create({ model: 'default', instructions: 'Be brief.', input: 'Hi' });
    expect(whole.output_text).toBe('System: Be brief.. Parts: text. Grüezi 👋');
    const seen: string[] = [];
    const stream = client.responses.stream({ model: 'default', input: [{ role: 'user', content: 'Hi' }] });
    for await (const event of stream) if (event.type === 'response.output_text.delta') seen.push(event.delta);
    const final = await stream.finalResponse();
    expect(seen.join('')).toBe(final.output_text);
    expect(final.usage).toMatchObject({ input_tokens: 40, output_tokens: 7 });
  });

  it('responses: runs a tool loop', async () => {
    const tools = [{ type: 'function' as const, name: 'weather', parameters, strict: false }];
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Weather?' }];
    const stream = client.responses.stream({ model: 'default', input, tools });
    const first = await stream.finalResponse();
    const calls = first.output.filter((item) => item.type === 'function_call');
    expect(calls.map((call) => call.arguments)).toEqual(['{"city":"Zürich"}', '{"city":"Bern"}']);
    for (const call of calls) {
      const { type, call_id, name, arguments: text } = call;
      input.push(
        { type, call_id, name, arguments: text },
        { type: 'function_call_output', call_id, output: '21' },
      );
    }
    const second = await client.responses.create({ model: 'default', input, tools });
    expect(second.output_text).toContain('call_0=');
  });

  it.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [413, OpenAI.APIError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])('raises its own error class for a %i of the provider, with its message', async (status, kind) => {
    for (const stream of [true, false]) {
      const failed = client.chat.completions.create({
        model: `fake/fail-${status}`,
        stream,
        messages: [{ role: 'user', content: 'Hi' }],
      });
      await expect(failed).rejects.toBeInstanceOf(kind);
      await expect(failed).rejects.toMatchObject({ status });
      await expect(failed).rejects.toThrow(/prompt is too long/);
    }
  });

  it('lists models', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toContain('default');
    if (wire !== 'anthropic') expect(ids).toContain('live-1');
  });
});
