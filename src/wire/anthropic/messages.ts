import type { AssistantPart, ChatMessage, UserPart } from '../../core/chat.ts';
import { asString, compact, type Json, type JsonObject } from '../../core/json.ts';
import { arrayAt, booleanAt, objectAt, optional, refuse, stringAt } from '../fields.ts';
import { decodeText, decodeTexts, decodeUserBlock, encodeUserPart, isProviderBlock } from './content.ts';
import { encodeThinkingBlock, signRedacted } from './reasoning.ts';
import { encodeToolId, encodeToolUse, writeJson } from './tool-use.ts';

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly JsonObject[];
}

export function decodeMessages(value: Json | undefined): readonly ChatMessage[] {
  const items = arrayAt(value, 'messages');
  if (items.length === 0) refuse('messages', 'at least one message is needed');
  return items.flatMap((item, index) => {
    const path = `messages[${index}]`;
    const message = objectAt(item, path);
    const at = `${path}.content`;
    if (message.role === 'user') return decodeUser(message.content, at);
    if (message.role === 'system') return [{ role: 'system', content: decodeTexts(message.content, at) }];
    if (message.role === 'assistant') {
      return [{ role: 'assistant', content: decodeAssistant(message.content, at) }];
    }
    return refuse(`${path}.role`, "must be 'user', 'assistant' or 'system'");
  });
}

function decodeUser(content: Json | undefined, path: string): readonly ChatMessage[] {
  if (typeof content === 'string') return [{ role: 'user', content: [{ type: 'text', text: content }] }];
  const results: ChatMessage[] = [];
  const parts: UserPart[] = [];
  for (const [index, item] of arrayAt(content, path).entries()) {
    const at = `${path}[${index}]`;
    const block = objectAt(item, at);
    if (block.type === 'tool_result') results.push(decodeToolResult(block, at));
    else for (const part of decodeUserBlock(block, at)) parts.push(part);
  }
  return parts.length > 0 || results.length === 0 ? [...results, { role: 'user', content: parts }] : results;
}

function decodeToolResult(block: JsonObject, path: string): ChatMessage {
  const callId = stringAt(block.tool_use_id, `${path}.tool_use_id`);
  const isError = optional(block.is_error, `${path}.is_error`, booleanAt) === true ? true : undefined;
  const content = optional(block.content, `${path}.content`, decodeToolContent) ?? [];
  return compact({ role: 'tool' as const, callId, content, isError });
}

function decodeToolContent(value: Json | undefined, path: string): readonly UserPart[] {
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }];
  return arrayAt(value, path).flatMap((item, index) =>
    decodeUserBlock(objectAt(item, `${path}[${index}]`), `${path}[${index}]`),
  );
}

function decodeAssistant(content: Json | undefined, path: string): readonly AssistantPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return arrayAt(content, path).flatMap((item, index) => {
    const at = `${path}[${index}]`;
    return decodeAssistantBlock(objectAt(item, at), at);
  });
}

function decodeAssistantBlock(block: JsonObject, path: string): readonly AssistantPart[] {
  const type = stringAt(block.type, `${path}.type`);
  if (type === 'text') return [decodeText(block, path)];
  if (type === 'thinking') {
    const text = stringAt(block.thinking, `${path}.thinking`);
    const signature = asString(block.signature) || undefined;
    return [compact({ type: 'reasoning' as const, text, signature })];
  }
  if (type === 'redacted_thinking') {
    const signature = signRedacted(stringAt(block.data, `${path}.data`));
    return [{ type: 'reasoning', text: '', signature }];
  }
  if (type === 'tool_use') {
    const id = stringAt(block.id, `${path}.id`);
    const name = stringAt(block.name, `${path}.name`);
    const input = optional(block.input, `${path}.input`, objectAt) ?? {};
    const args = writeJson(input) ?? refuse(`${path}.input`, 'is nested too deep');
    return [{ type: 'tool-call', id, name, arguments: args }];
  }
  return isProviderBlock(type)
    ? []
    : refuse(`${path}.type`, `a block of type '${type}' is not allowed in an assistant message`);
}

/**
 * Turns alternate between roles, and the results of a turn's calls come first in the next turn: Anthropic joins
 * neighbours of one role anyway, and refuses results anywhere else.
 */
export function encodeMessages(messages: readonly ChatMessage[]): readonly Turn[] {
  const turns: { role: Turn['role']; results: JsonObject[]; rest: JsonObject[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = encodeMessage(message);
    if (blocks.length === 0) continue;
    let turn = turns.at(-1);
    if (turn?.role !== role) {
      turn = { role, results: [], rest: [] };
      turns.push(turn);
    }
    const place = message.role === 'tool' ? turn.results : turn.rest;
    for (const block of blocks) place.push(block);
  }
  return turns.map(({ role, results, rest }) => ({ role, content: [...results, ...rest] }));
}

function encodeMessage(message: ChatMessage): readonly JsonObject[] {
  if (message.role === 'assistant') return message.content.flatMap(encodeAssistantPart);
  if (message.role === 'system') {
    // Only the newest models accept the role `system` here, so the text is tagged inside the user's turn.
    return message.content.map((part) =>
      encodeUserPart({ ...part, text: `<operator-instruction>\n${part.text}\n</operator-instruction>` }),
    );
  }
  const parts = message.content.filter((part) => part.type !== 'text' || part.text !== '');
  if (message.role === 'tool') {
    const tool_use_id = encodeToolId(message.callId);
    const content = parts.length > 0 ? parts.map(encodeUserPart) : undefined;
    return [compact({ type: 'tool_result', tool_use_id, content, is_error: message.isError })];
  }
  // Anthropic refuses empty text; a message with nothing else is sent, so that the client gets Anthropic's own error.
  return (parts.length > 0 ? parts : message.content).map(encodeUserPart);
}

function encodeAssistantPart(part: AssistantPart): readonly JsonObject[] {
  if (part.type === 'tool-call') return [encodeToolUse({ ...part, id: encodeToolId(part.id) })];
  if (part.type === 'reasoning') return part.signature ? [encodeThinkingBlock(part)] : [];
  // Models often write a line break before a call; Anthropic refuses text that is only white space.
  return part.text.trim() === '' ? [] : [encodeUserPart(part)];
}
