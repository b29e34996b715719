import type { OpenAttemptModel } from '../core/attempt-model.ts';
import type { ChatMessage, ChatModel, ChatRequest, TextPart, ToolCallPart } from '../core/chat.ts';
import type { CallerIdentity, GatewayClient, GatewayReply } from '../core/gateway-client.ts';
import type { PlacedLessons } from '../core/lesson.ts';

/** Calls a model of this process without a gateway. The lessons are placed as a gateway places them. */
export function createInProcessClient(
  model: ChatModel,
  lessons: (speaker: CallerIdentity) => PlacedLessons = () => NO_LESSONS,
): GatewayClient {
  return async (given, speaker, signal) => {
    const request = withLessons(given, lessons(speaker));
    const calls = new Map<string, ToolCallPart>();
    let reply: Omit<GatewayReply, 'calls'> = { text: '', lessons: [] };
    for await (const event of model(request, { signal })) {
      if (event.type === 'text-delta') reply = { ...reply, text: reply.text + event.text };
      if (event.type === 'tool-start')
        calls.set(event.id, { type: 'tool-call', id: event.id, name: event.name, arguments: '' });
      const call = event.type === 'tool-delta' ? calls.get(event.id) : undefined;
      if (event.type === 'tool-delta' && call !== undefined)
        calls.set(event.id, { ...call, arguments: call.arguments + event.json });
      if (event.type === 'reply-end' && event.usage !== undefined) reply = { ...reply, usage: event.usage };
      if (event.type === 'failure') reply = { ...reply, failure: event.failure };
    }
    return { ...reply, calls: [...calls.values()] };
  };
}

const NO_LESSONS: PlacedLessons = { text: '' };

/** The request with lessons at the end of its system prompt, or of the message with the user's newest words. */
export function withLessons(request: ChatRequest, { text, place = 'system' }: PlacedLessons): ChatRequest {
  if (text === '') return request;
  const at = place === 'message' ? request.messages.findLastIndex(isSaidByUser) : -1;
  const message = request.messages[at];
  if (message?.role !== 'user') return { ...request, system: appendBlock(request.system, text) };
  return { ...request, messages: request.messages.with(at, appendWords(message, text)) };
}

type UserMessage = ChatMessage & { readonly role: 'user' };

const isSaidByUser = ({ role, content }: ChatMessage): boolean =>
  role === 'user' && content.some((part) => part.type === 'text' && part.text.trim() !== '');

/** As the gateway does: a single text gets one more paragraph, several parts get one more. */
const appendWords = (message: UserMessage, text: string): UserMessage => {
  const [only, ...others] = message.content;
  const isOne = only?.type === 'text' && others.length === 0;
  return {
    ...message,
    content: isOne
      ? [{ ...only, text: `${only.text}\n\n${text}` }]
      : [...message.content, { type: 'text', text }],
  };
};

/** As the gateway does: a single text gets the block as its last paragraphs, several texts get one more. */
function appendBlock(system: readonly TextPart[], block: string): readonly TextPart[] {
  const [only, ...others] = system;
  return only === undefined || others.length > 0
    ? [...system, { type: 'text', text: block }]
    : [{ ...only, text: `${only.text}\n\n${block}` }];
}

interface InProcessAttempts extends Pick<Awaited<ReturnType<OpenAttemptModel>>, 'costOf' | 'maxTokens'> {
  readonly chat: ChatModel;
  /** `provider/model`. */
  readonly name: string;
  /** The name that requests carry. */
  readonly model: string;
}

/** Attempts with a model of this process; the lessons of each are placed as a gateway places them. */
export const createInProcessAttempts =
  ({ chat, ...model }: InProcessAttempts): OpenAttemptModel =>
  async ({ shown }) => ({
    ...model,
    speak: createInProcessClient(chat, () => shown),
    close: async () => undefined,
  });
