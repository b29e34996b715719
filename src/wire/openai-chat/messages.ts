import type { ChatMessage, ChatRequest, TextPart, UserPart } from '../../core/chat.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { arrayAt, objectAt, refuse, stringAt, textAt } from '../fields.ts';
import { decodeAssistant, encodeAssistant } from './assistant.ts';
import { decodeText, decodeUserContent, encodeContent } from './content.ts';

type Conversation = Pick<ChatRequest, 'system' | 'messages'>;

export function decodeMessages(value: Json | undefined): Conversation {
  const list = arrayAt(value, 'messages');
  if (list.length === 0) refuse('messages', 'must contain at least one message');
  const system: TextPart[] = [];
  const messages: ChatMessage[] = [];
  let legacyId = '';
  for (const [index, entry] of list.entries()) {
    const path = `messages[${index}]`;
    const message = objectAt(entry, path);
    const role = stringAt(message.role, `${path}.role`);
    if (role === 'system' || role === 'developer') {
      const content = decodeText(message.content, `${path}.content`);
      if (messages.length === 0) system.push(...content);
      else if (content.length > 0) messages.push({ role: 'system', content });
    } else if (role === 'user') {
      messages.push({ role, content: decodeUserContent(message.content, `${path}.content`) });
    } else if (role === 'assistant') {
      const id = `call_m${index}`;
      const content = decodeAssistant(message, path, id);
      if (content.some((part) => part.type === 'tool-call' && part.id === id)) legacyId = id;
      messages.push({ role, content });
    } else if (role === 'tool' || role === 'function') {
      const callId = role === 'tool' ? textAt(message.tool_call_id, `${path}.tool_call_id`) : legacyId;
      if (callId === '') refuse(`${path}.role`, '"function" must follow an assistant’s function_call');
      messages.push({
        role: 'tool',
        callId,
        content: decodeUserContent(message.content, `${path}.content`),
      });
    } else refuse(`${path}.role`, `${JSON.stringify(role.slice(0, 40))} is not a role`);
  }
  return { system, messages };
}

/**
 * A tool message may contain only text, so images and files of tool results follow in a user message. It comes after
 * all results of the turn: nothing may come between a call and its results.
 */
export function encodeMessages(
  { system, messages }: Conversation,
  { plainText, reasoning }: { readonly plainText: boolean; readonly reasoning: boolean },
): readonly JsonObject[] {
  const out: JsonObject[] = [];
  let attached: UserPart[] = [];
  const push = (role: 'system' | 'user', parts: readonly UserPart[]) =>
    out.push({ role, content: encodeContent(parts, plainText) });
  const flush = () => {
    if (attached.length > 0) push('user', attached);
    attached = [];
  };
  if (system.length > 0) push('system', system);
  for (const message of messages) {
    if (message.role === 'tool') {
      const media = message.content.filter((part) => part.type !== 'text');
      if (media.length > 0) attached.push({ type: 'text', text: noteOf(message.callId) }, ...media);
      out.push({
        role: 'tool',
        tool_call_id: message.callId,
        content: textOfResult(message.content) || (media.length > 0 ? ATTACHED_BELOW : ''),
      });
    } else if (message.role === 'user') {
      // One message, not two: strict chat templates require alternating roles.
      push('user', [...attached, ...message.content]);
      attached = [];
    } else {
      flush();
      if (message.role === 'system') push('system', message.content);
      else out.push(encodeAssistant(message.content, reasoning));
    }
  }
  flush();
  return out;
}

const ATTACHED_BELOW = 'The result is attached to the next user message.';
const noteOf = (callId: string): string => `Attached to the result of tool call ${callId}:`;

const textOfResult = (parts: readonly UserPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
