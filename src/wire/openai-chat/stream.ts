import type { ChatEvent } from '../../core/chat.ts';
import { asObject, isObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { StreamDecoder, StreamEncoder } from '../../core/wire.ts';
import { encodeSse } from '../sse.ts';
import { decodeOpenaiErrorBody, encodeChatStreamFailure } from './failure.ts';
import { encodeReasoningDetail } from './reasoning.ts';
import { createChatReplyReader, encodeChatUsage, encodeFinishReason, type MakeId } from './reply.ts';

/**
 * The reply ends at `[DONE]`, since the usage comes after the `finish_reason`, or at the end of the stream for the many
 * servers that send no `[DONE]`. Data that is not a JSON object is a vendor's keep-alive and is ignored.
 */
export function createChatStreamDecoder(makeId?: MakeId): StreamDecoder {
  const reader = createChatReplyReader(makeId);
  return {
    decode({ event, data }) {
      if (data.trim() === '[DONE]') return reader.finish();
      const chunk = parseJson(data);
      if (event === 'error') return reader.fail(decodeOpenaiErrorBody(chunk ?? data));
      return isObject(chunk) ? reader.read(chunk) : [];
    },
    end: () => reader.finish(),
  };
}

/** Without a request, usage is sent. */
const wantsUsage = (request: JsonObject | undefined): boolean =>
  request === undefined || asObject(request.stream_options).include_usage === true;

export function createChatStreamEncoder(request?: JsonObject, now: () => number = Date.now): StreamEncoder {
  /** The start of every chunk's JSON, up to its choices. */
  let head = '';
  let unsigned = '';
  let signatures = 0;
  const tools = new Map<string, { readonly index: number; empty: boolean }>();

  const chunk = (delta: JsonObject, finish: string | null = null) =>
    encodeSse(
      undefined,
      `${head}[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finish)}}]}`,
    );
  const toolChunk = (call: JsonObject) => chunk({ tool_calls: [call] });

  function start({ id, model }: ChatEvent & { type: 'reply-start' }): string {
    const shared = { id, object: 'chat.completion.chunk', created: Math.floor(now() / 1000), model };
    head = `${JSON.stringify(shared).slice(0, -1)},"choices":`;
    return chunk({ role: 'assistant', content: '' });
  }

  /** The signature is sent with the whole text, so that a client that keeps only the details can send both back. */
  function sign(signature: string): string {
    const detail = encodeReasoningDetail({ text: unsigned, signature }, signatures++);
    unsigned = '';
    return chunk({ reasoning_details: [detail] });
  }

  function startTool({ id, name }: ChatEvent & { type: 'tool-start' }): string {
    const index = tools.size;
    tools.set(id, { index, empty: true });
    return toolChunk({ index, id, type: 'function', function: { name, arguments: '' } });
  }

  function growTool({ id, json }: ChatEvent & { type: 'tool-delta' }): string {
    const tool = tools.get(id);
    if (tool === undefined) return '';
    tool.empty &&= json === '';
    return toolChunk({ index: tool.index, function: { arguments: json } });
  }

  function end({ stop, usage }: ChatEvent & { type: 'reply-end' }): string {
    // Clients parse the arguments as JSON, so a call without arguments must contain an empty object.
    const empty = [...tools.values()].filter((tool) => tool.empty);
    const filled = empty.map(({ index }) => toolChunk({ index, function: { arguments: '{}' } })).join('');
    // The usage chunk has no choices, which may break a client that did not ask for it.
    const counted =
      usage && wantsUsage(request)
        ? encodeSse(undefined, `${head}[],"usage":${JSON.stringify(encodeChatUsage(usage))}}`)
        : '';
    return `${filled}${chunk({}, encodeFinishReason(stop))}${counted}${encodeSse(undefined, '[DONE]')}`;
  }

  return {
    encode(event) {
      switch (event.type) {
        case 'reply-start':
          return start(event);
        case 'text-delta':
          return chunk({ content: event.text });
        case 'reasoning-delta':
          unsigned += event.text;
          return chunk({ reasoning_content: event.text });
        case 'reasoning-signature':
          return sign(event.signature);
        case 'tool-start':
          return startTool(event);
        case 'tool-delta':
          return growTool(event);
        case 'reply-end':
          return end(event);
        case 'failure':
          return encodeChatStreamFailure(event.failure);
      }
    },
  };
}
