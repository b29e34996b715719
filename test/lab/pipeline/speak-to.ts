import type { ChatModel } from '../../../src/core/chat.ts';
import type { Failure } from '../../../src/core/failure.ts';
import type { CallerIdentity, GatewayClient, GatewayReply } from '../../../src/core/gateway-client.ts';

/** Speaks to a model in this process; `shown` is appended to the system prompt, as the gateway does. */
export function speakTo(
  model: ChatModel,
  shown: (speaker: CallerIdentity) => string = () => '',
  fault: (speaker: CallerIdentity) => Failure | undefined = () => undefined,
): GatewayClient {
  let turns = 0;
  return async (request, speaker, signal): Promise<GatewayReply> => {
    turns++;
    const failure = fault(speaker);
    if (failure !== undefined) return { text: '', calls: [], failure, lessons: [] };
    const block = shown(speaker);
    const system =
      block === '' ? request.system : [...request.system, { type: 'text' as const, text: block }];
    let text = '';
    let usage: GatewayReply['usage'];
    for await (const event of model({ ...request, system }, { signal })) {
      if (event.type === 'text-delta') text += event.text;
      if (event.type === 'reply-end') usage = event.usage;
    }
    return {
      text,
      calls: [],
      ...(usage === undefined ? {} : { usage }),
      turn: `turn-${turns}`,
      generation: 0,
      lessons: [],
    };
  };
}
