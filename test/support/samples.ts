import type { ChatEvent } from '../../src/core/chat.ts';
import type { Wire, WireName } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';

export const ROUTES: Readonly<Record<WireName, string>> = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  anthropic: '/v1/messages',
};

/** A small request as a client of that wire writes it. */
export function requestBody(
  wire: WireName,
  stream: boolean,
  text = 'What is the weather in Zürich?',
): string {
  const bodies = {
    'openai-chat': { model: 'm-1', stream, messages: [{ role: 'user', content: text }] },
    'openai-responses': { model: 'm-1', stream, input: text },
    anthropic: { model: 'm-1', stream, max_tokens: 100, messages: [{ role: 'user', content: text }] },
  };
  return JSON.stringify(bodies[wire]);
}

const REPLY: readonly ChatEvent[] = [
  { type: 'reply-start', id: 'reply_1', model: 'm-1' },
  { type: 'text-delta', text: 'In Zürich ' },
  { type: 'text-delta', text: 'it is 晴れ ☀️ ' },
  { type: 'text-delta', text: 'and 21 °C.' },
  { type: 'reply-end', stop: 'end', usage: { inputTokens: 12, outputTokens: 9 } },
];

/** The sample reply as a provider of that wire sends it: one string per event, the same at every call. */
export const streamedReply = (wire: WireName): readonly string[] => SAMPLES[wire].streamed;
export const wholeReply = (wire: WireName): string => SAMPLES[wire].whole;

function createSample(wire: Wire): { readonly streamed: readonly string[]; readonly whole: string } {
  const encoder = wire.createStreamEncoder();
  const text = REPLY.map((event) => encoder.encode(event)).join('');
  return { streamed: text.split(/(?<=\n\n)/), whole: JSON.stringify(wire.encodeReply(REPLY)) };
}

const SAMPLES = {
  'openai-chat': createSample(wires['openai-chat']),
  'openai-responses': createSample(wires['openai-responses']),
  anthropic: createSample(wires.anthropic),
};
