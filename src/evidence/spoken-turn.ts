import type { ChatMessage } from '../core/chat.ts';
import type { DecodedTurn } from '../core/store.ts';
import { namesAiderFiles, readAiderConversation } from '../text/aider-frame.ts';

/**
 * A turn with what was said in its conversation. Most clients send just that; aider puts files, a map of the repository, an example and
 * answers of its own around it, in other places of every request.
 */
export function toSpokenTurn(turn: DecodedTurn): DecodedTurn {
  const { messages } = turn.request;
  if (!messages.some(isAiders)) return turn;
  const read = messages.map((message) => ({ role: message.role, text: textOf(message) }));
  const spoken = readAiderConversation(read).flatMap(({ index, text }): readonly ChatMessage[] => {
    const message = messages[index];
    if (message === undefined) return [];
    const isCut = message.role === 'user' && text !== undefined && text !== read[index]?.text;
    return [isCut ? { ...message, content: [{ type: 'text', text }] } : message];
  });
  return { ...turn, request: { ...turn.request, messages: spoken } };
}

function isAiders({ role, content: [first] }: ChatMessage): boolean {
  return role === 'user' && first?.type === 'text' && namesAiderFiles(first.text);
}

/** The text of a message that contains nothing else. */
function textOf({ content }: ChatMessage): string | undefined {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length > 0 && texts.length === content.length ? texts.join('\n') : undefined;
}
