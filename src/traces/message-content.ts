import type { AssistantPart, ChatMessage, StopReason, TextPart, UserPart } from '../core/chat.ts';
import { parseJson } from '../core/json.ts';
import type { DecodedTurn } from '../core/store.ts';
import { clip } from '../text/truncate.ts';
import type { SpanAttributes } from './span.ts';

/** The longest text of one part. Receivers drop or refuse spans of some megabytes, and a session repeats its history. */
const LONGEST_PART = 16_000;
/** The newest messages that are sent; the conversation's earlier spans have the others. */
const MOST_MESSAGES = 40;

const FINISH: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  length: 'length',
  'tool-calls': 'tool_call',
  'stop-sequence': 'stop',
  filter: 'content_filter',
};

/** A stop reason in the words of the conventions. */
export const finishReason = (stop: StopReason): string => FINISH[stop];

/** The words of a turn, as they are recorded: only where `traces.content` is set. The lessons inserted into it are not in them. */
export function contentAttributes({ request, reply, stop }: DecodedTurn): SpanAttributes {
  const { system, messages } = request;
  return {
    'gen_ai.system_instructions': system.length === 0 ? undefined : JSON.stringify(system.map(toPart)),
    'gen_ai.input.messages': JSON.stringify(messages.slice(-MOST_MESSAGES).map(toMessage)),
    'gen_ai.output.messages':
      reply.length === 0
        ? undefined
        : JSON.stringify([
            {
              role: 'assistant',
              parts: reply.map(toPart),
              finish_reason: stop === undefined ? 'error' : finishReason(stop),
            },
          ]),
  };
}

const toMessage = (message: ChatMessage): object =>
  message.role === 'tool'
    ? {
        role: 'tool',
        parts: [
          {
            type: 'tool_call_response',
            id: message.callId,
            response: message.content.map(textOf).join('\n'),
          },
        ],
      }
    : { role: message.role, parts: message.content.map(toPart) };

function toPart(part: TextPart | UserPart | AssistantPart): object {
  if (part.type === 'text') return { type: 'text', content: clip(part.text, LONGEST_PART) };
  if (part.type === 'reasoning') return { type: 'reasoning', content: clip(part.text, LONGEST_PART) };
  if (part.type === 'tool-call')
    return {
      type: 'tool_call',
      id: part.id,
      name: part.name,
      arguments: parseJson(part.arguments) ?? clip(part.arguments, LONGEST_PART),
    };
  // A picture or a file: its bytes stay here.
  return { type: part.type, content: part.url.startsWith('data:') ? '' : part.url };
}

const textOf = (part: UserPart): string => (part.type === 'text' ? clip(part.text, LONGEST_PART) : part.type);
