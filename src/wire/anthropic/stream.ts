import type { ChatEvent } from '../../core/chat.ts';
import { createFailure, type Failure } from '../../core/failure.ts';
import { asString, isObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { StreamDecoder, StreamEncoder } from '../../core/wire.ts';
import { plainTextExcerpt } from '../excerpt.ts';
import { encodeSse } from '../sse.ts';
import { encodeAnthropicStreamFailure } from './failure.ts';
import { redactedData } from './messages.ts';
import { createAnthropicReplyReader, encodeAnthropicUsage, encodeStopReason } from './reply.ts';

/** Uses the `type` in the data, since some vendors omit the event's name or send a wrong one. */
export function createAnthropicStreamDecoder(): StreamDecoder {
  const reader = createAnthropicReplyReader();
  return {
    decode({ event, data }) {
      const body = parseJson(data);
      if (isObject(body)) {
        const isError = event === 'error' || (body.type === undefined && body.error !== undefined);
        return reader.read(isError ? 'error' : (asString(body.type) ?? event), body);
      }
      return event === 'error' ? reader.read('error', { message: plainTextExcerpt(data) }) : [];
    },
    end: reader.end,
  };
}

interface OpenBlock {
  readonly index: number;
  readonly kind: 'text' | 'thinking' | 'tool_use';
  /** The call's id, for a tool. */
  readonly id?: string;
}

const send = (type: string, members: JsonObject): string =>
  encodeSse(type, JSON.stringify({ type, ...members }));

/** The format has one open block at a time; a block ends when another kind of event begins. */
export function createAnthropicStreamEncoder(): StreamEncoder {
  let block: OpenBlock | undefined;
  let count = 0;
  let hasCalls = false;
  let isOver = false;

  function close(): string {
    if (block === undefined) return '';
    const { index } = block;
    block = undefined;
    return send('content_block_stop', { index });
  }

  function open(kind: OpenBlock['kind'], content_block: JsonObject, id?: string): string {
    const closed = close();
    const index = count++;
    block = id === undefined ? { index, kind } : { index, kind, id };
    return closed + send('content_block_start', { index, content_block });
  }

  const add = (delta: JsonObject): string =>
    block === undefined ? '' : send('content_block_delta', { index: block.index, delta });

  const openText = (): string => (block?.kind === 'text' ? '' : open('text', { type: 'text', text: '' }));

  const openThinking = (): string =>
    block?.kind === 'thinking' ? '' : open('thinking', { type: 'thinking', thinking: '', signature: '' });

  function sign(signature: string): string {
    const data = redactedData(signature);
    if (data !== undefined) {
      const content_block = { type: 'redacted_thinking', data };
      return open('thinking', content_block) + close();
    }
    return openThinking() + add({ type: 'signature_delta', signature }) + close();
  }

  function addJson(id: string, partial_json: string): string {
    if (partial_json === '') return '';
    if (block?.id === id) return add({ type: 'input_json_delta', partial_json });
    const message = `The arguments of tool call ${id} continue after its block was closed`;
    return fail(createFailure('upstream-error', message));
  }

  function fail(failure: Failure): string {
    isOver = true;
    return encodeAnthropicStreamFailure(failure);
  }

  function finish({ stop, usage }: Extract<ChatEvent, { type: 'reply-end' }>): string {
    isOver = true;
    const delta = { stop_reason: encodeStopReason(stop, hasCalls), stop_sequence: null };
    return (
      close() +
      send('message_delta', { delta, usage: encodeAnthropicUsage(usage) }) +
      send('message_stop', {})
    );
  }

  function encode(event: ChatEvent): string {
    if (isOver) return '';
    switch (event.type) {
      case 'reply-start':
        return send('message_start', { message: startOf(event) });
      case 'text-delta':
        return event.text === '' ? '' : openText() + add({ type: 'text_delta', text: event.text });
      case 'reasoning-delta':
        return event.text === ''
          ? ''
          : openThinking() + add({ type: 'thinking_delta', thinking: event.text });
      case 'reasoning-signature':
        return sign(event.signature);
      case 'tool-start':
        hasCalls = true;
        return open('tool_use', { type: 'tool_use', id: event.id, name: event.name, input: {} }, event.id);
      case 'tool-delta':
        return addJson(event.id, event.json);
      case 'reply-end':
        return finish(event);
      case 'failure':
        return fail(event.failure);
    }
  }

  return { encode };
}

/** Clients overwrite these counts with the later ones, so they must exist. */
const startOf = ({ id, model }: Extract<ChatEvent, { type: 'reply-start' }>): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: encodeAnthropicUsage(),
});
