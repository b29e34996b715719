import { undefinedIfAborted } from '../../base/until-aborted.ts';
import type { AttemptModel } from '../../core/attempt-model.ts';
import type { ChatMessage, ChatRequest } from '../../core/chat.ts';
import type { GatewayReply } from '../../core/gateway-client.ts';
import type { AttemptOrder, PracticeTask } from '../../core/practice.ts';
import { faultOf, isTooLong, type MadeAttempt } from './attempt-parts.ts';
import { makerOf, speakerOf, spendingOfReplies } from './attempt-speaker.ts';
import type { WatchedModel } from './watched-model.ts';

/** The messages before the first reply. */
export const openingOf = ({ history = [], prompt }: PracticeTask): readonly ChatMessage[] => [
  ...history.map(({ role, text }): ChatMessage => ({ role, content: [{ type: 'text', text }] })),
  { role: 'user', content: [{ type: 'text', text: prompt }] },
];

/** An attempt in words alone: one reply, and one more for each further message of the user. */
export async function attemptReasoning(
  order: AttemptOrder,
  watched: WatchedModel,
  signal: AbortSignal,
): Promise<MadeAttempt> {
  const { model } = watched;
  const { task } = order;
  const messages: ChatMessage[] = [...openingOf(task)];
  const replies: GatewayReply[] = [];
  const made = (more: Partial<MadeAttempt> = {}): MadeAttempt => ({
    by: makerOf(model, replies),
    output: replies.at(-1)?.text ?? '',
    messages,
    used: spendingOfReplies(model, watched.calls(), replies),
    ...more,
  });
  const waiting = [...(task.followUps ?? [])];
  for (;;) {
    const speaker = speakerOf(order, waiting.length === 0);
    const reply = await undefinedIfAborted(
      () => watched.speak(requestOf(order, model, messages), speaker, signal),
      signal,
    );
    if (reply === undefined) return made();
    if (reply.failure !== undefined) {
      const isOwnDoing = replies.length > 0 && isTooLong(reply.failure);
      return isOwnDoing
        ? made({ remarks: ['the conversation became longer than the model can read'] })
        : made({ fault: faultOf(reply.failure) });
    }
    replies.push(reply);
    if (reply.text !== '')
      messages.push({ role: 'assistant', content: [{ type: 'text', text: reply.text }] });
    const next = waiting.shift();
    if (next === undefined) return made();
    messages.push({ role: 'user', content: [{ type: 'text', text: next }] });
  }
}

function requestOf(
  { task, temperature }: AttemptOrder,
  { model, temperature: own, maxTokens }: AttemptModel,
  messages: readonly ChatMessage[],
): ChatRequest {
  return {
    model,
    system: task.system === undefined || task.system === '' ? [] : [{ type: 'text', text: task.system }],
    messages: [...messages],
    tools: [],
    stream: false,
    temperature: own ?? temperature,
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}
