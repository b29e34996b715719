import type { ChatModel, ToolCallPart } from '../core/chat.ts';
import type { CallerIdentity, GatewayClient, GatewayReply } from '../core/gateway-client.ts';

/** Calls a model of this process without a gateway. `block` is appended to the system prompt, as a gateway would do. */
export function createSpeakToModel(
  model: ChatModel,
  block: (speaker: CallerIdentity) => string = () => '',
): GatewayClient {
  return async (request, speaker, signal) => {
    const shown = block(speaker);
    const system =
      shown === '' ? request.system : [...request.system, { type: 'text' as const, text: shown }];
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
