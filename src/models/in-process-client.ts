import type { OpenAttemptModel } from '../core/attempt-model.ts';
import type { ChatModel, TextPart, ToolCallPart } from '../core/chat.ts';
import type { CallerIdentity, GatewayClient, GatewayReply } from '../core/gateway-client.ts';

/** Calls a model of this process without a gateway. `block` is appended to the system prompt, as a gateway does it. */
export function createInProcessClient(
  model: ChatModel,
  block: (speaker: CallerIdentity) => string = () => '',
): GatewayClient {
  return async (request, speaker, signal) => {
    const shown = block(speaker);
    const system = shown === '' ? request.system : appendBlock(request.system, shown);
    const calls = new Map<string, ToolCallPart>();
    let reply: Omit<GatewayReply, 'calls'> = { text: '', lessons: [] };
    for await (const event of model({ ...request, system }, { signal })) {
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

/** As the gateway does: a single text gets the block as its last paragraphs, several texts get one more. */
export function appendBlock(system: readonly TextPart[], block: string): readonly TextPart[] {
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
    speak: createInProcessClient(chat, () => shown.text),
    close: async () => undefined,
  });
