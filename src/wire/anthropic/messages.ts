import { Buffer } from 'node:buffer';
import type {
  AssistantPart,
  ChatMessage,
  FilePart,
  ImagePart,
  ReasoningPart,
  TextPart,
  UserPart,
} from '../../core/chat.ts';
import { asString, compact, type Json, type JsonObject } from '../../core/json.ts';
import {
  optionalField,
  rejectField,
  requireArray,
  requireBoolean,
  requireObject,
  requireString,
} from '../fields.ts';
import { encodeToolId, encodeToolUseBlock, writeJson } from './tools.ts';

export interface AnthropicTurn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly JsonObject[];
}

export function decodeAnthropicMessages(value: Json | undefined): readonly ChatMessage[] {
  const items = requireArray(value, 'messages');
  if (items.length === 0) rejectField('messages', 'at least one message is needed');
  return items.flatMap((item, index) => {
    const path = `messages[${index}]`;
    const message = requireObject(item, path);
    const at = `${path}.content`;
    if (message.role === 'user') return decodeUser(message.content, at);
    if (message.role === 'system')
      return [{ role: 'system', content: decodeTextBlocks(message.content, at) }];
    if (message.role === 'assistant') {
      return [{ role: 'assistant', content: decodeAssistant(message.content, at) }];
    }
    return rejectField(`${path}.role`, "must be 'user', 'assistant' or 'system'");
  });
}

function decodeUser(content: Json | undefined, path: string): readonly ChatMessage[] {
  if (typeof content === 'string') return [{ role: 'user', content: [{ type: 'text', text: content }] }];
  const results: ChatMessage[] = [];
  const parts: UserPart[] = [];
  for (const [index, item] of requireArray(content, path).entries()) {
    const at = `${path}[${index}]`;
    const block = requireObject(item, at);
    if (block.type === 'tool_result') results.push(decodeToolResult(block, at));
    else for (const part of decodeUserBlock(block, at)) parts.push(part);
  }
  return parts.length > 0 || results.length === 0 ? [...results, { role: 'user', content: parts }] : results;
}

function decodeToolResult(block: JsonObject, path: string): ChatMessage {
  const callId = requireString(block.tool_use_id, `${path}.tool_use_id`);
  const isError =
    optionalField(block.is_error, `${path}.is_error`, requireBoolean) === true ? true : undefined;
  const content = optionalField(block.content, `${path}.content`, decodeToolContent) ?? [];
  return compact({ role: 'tool' as const, callId, content, isError });
}

function decodeToolContent(value: Json | undefined, path: string): readonly UserPart[] {
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }];
  return requireArray(value, path).flatMap((item, index) =>
    decodeUserBlock(requireObject(item, `${path}[${index}]`), `${path}[${index}]`),
  );
}

function decodeAssistant(content: Json | undefined, path: string): readonly AssistantPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return requireArray(content, path).flatMap((item, index) => {
    const at = `${path}[${index}]`;
    return decodeAssistantBlock(requireObject(item, at), at);
  });
}

function decodeAssistantBlock(block: JsonObject, path: string): readonly AssistantPart[] {
  const type = requireString(block.type, `${path}.type`);
  if (type === 'text') return [decodeTextBlock(block, path)];
  if (type === 'thinking') {
    const text = requireString(block.thinking, `${path}.thinking`);
    const signature = asString(block.signature) || undefined;
    return [compact({ type: 'reasoning' as const, text, signature })];
  }
  if (type === 'redacted_thinking') {
    const signature = signRedacted(requireString(block.data, `${path}.data`));
    return [{ type: 'reasoning', text: '', signature }];
  }
  if (type === 'tool_use') {
    const id = requireString(block.id, `${path}.id`);
    const name = requireString(block.name, `${path}.name`);
    const input = optionalField(block.input, `${path}.input`, requireObject) ?? {};
    const args = writeJson(input) ?? rejectField(`${path}.input`, 'is nested too deep');
    return [{ type: 'tool-call', id, name, arguments: args }];
  }
  return isProviderBlock(type)
    ? []
    : rejectField(`${path}.type`, `a block of type '${type}' is not allowed in an assistant message`);
}

/**
 * Turns alternate between roles, and the results of a turn's calls come first in the next turn: Anthropic joins
 * neighbours of one role anyway, and refuses results anywhere else.
 */
export function encodeAnthropicMessages(messages: readonly ChatMessage[]): readonly AnthropicTurn[] {
  const turns: { role: AnthropicTurn['role']; results: JsonObject[]; rest: JsonObject[] }[] = [];
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
  if (part.type === 'tool-call') return [encodeToolUseBlock({ ...part, id: encodeToolId(part.id) })];
  if (part.type === 'reasoning') return part.signature ? [encodeThinkingBlock(part)] : [];
  // Models often write a line break before a call; Anthropic refuses text that is only white space.
  return part.text.trim() === '' ? [] : [encodeUserPart(part)];
}

const PROVIDER_BLOCKS: ReadonlySet<string> = new Set([
  'server_tool_use',
  'mcp_tool_use',
  'container_upload',
  'compaction',
  'tool_reference',
  'browser_state',
]);

/** A trace of the provider's own server-side tools, which no other provider can read. */
const isProviderBlock = (type: string): boolean => PROVIDER_BLOCKS.has(type) || type.endsWith('_tool_result');

function decodeTextBlock(block: JsonObject, path: string): TextPart {
  const cacheControl = block.cache_control ?? undefined;
  return compact({ type: 'text' as const, text: requireString(block.text, `${path}.text`), cacheControl });
}

export const encodeTextBlock = ({ text, cacheControl }: TextPart): JsonObject =>
  compact({ type: 'text', text, cache_control: cacheControl });

/** The content of a system prompt or system message: a string, or text blocks. */
export function decodeTextBlocks(value: Json | undefined, path: string): readonly TextPart[] {
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }];
  return requireArray(value, path).map((item, index) => {
    const at = `${path}[${index}]`;
    const block = requireObject(item, at);
    return block.type === 'text'
      ? decodeTextBlock(block, at)
      : rejectField(`${at}.type`, 'only text is allowed here');
  });
}

/** Decodes one block of a user's message or of a tool result; empty for a block that cannot be translated. */
function decodeUserBlock(block: JsonObject, path: string): readonly UserPart[] {
  const type = requireString(block.type, `${path}.type`);
  if (type === 'text') return [decodeTextBlock(block, path)];
  if (type === 'image') return [{ type: 'image', url: decodeSource(block, path) }];
  if (type === 'document') return decodeDocument(block, path);
  if (type === 'search_result') return decodeSearchResult(block, path);
  return isProviderBlock(type)
    ? []
    : rejectField(`${path}.type`, `a block of type '${type}' is not allowed here`);
}

function decodeDocument(block: JsonObject, path: string): readonly UserPart[] {
  const source = requireObject(block.source, `${path}.source`);
  const name = asString(block.title);
  if (source.type === 'text') {
    const text = requireString(source.data, `${path}.source.data`);
    return [{ type: 'text', text: name === undefined ? text : `${name}\n\n${text}` }];
  }
  if (source.type === 'content') {
    const at = `${path}.source.content`;
    if (typeof source.content === 'string') return [{ type: 'text', text: source.content }];
    return requireArray(source.content, at).flatMap((item, index) => {
      const inner = requireObject(item, `${at}[${index}]`);
      if (inner.type !== 'text' && inner.type !== 'image') {
        rejectField(`${at}[${index}].type`, 'only text and images are allowed in a document');
      }
      return decodeUserBlock(inner, `${at}[${index}]`);
    });
  }
  return [compact({ type: 'file' as const, url: decodeSource(block, path), name })];
}

function decodeSource(block: JsonObject, path: string): string {
  const source = requireObject(block.source, `${path}.source`);
  if (source.type === 'url') return requireString(source.url, `${path}.source.url`);
  if (source.type === 'base64') {
    return encodeDataUrl({
      mediaType: requireString(source.media_type, `${path}.source.media_type`),
      base64: requireString(source.data, `${path}.source.data`),
    });
  }
  if (source.type === 'file') {
    rejectField(
      `${path}.source.type`,
      'only the provider that stores a file can read it; send base64 or a url',
    );
  }
  return rejectField(`${path}.source.type`, "must be 'base64' or 'url'");
}

function decodeSearchResult(block: JsonObject, path: string): readonly UserPart[] {
  const head = [asString(block.title), asString(block.source)].filter((line) => line !== undefined);
  const texts = decodeTextBlocks(block.content, `${path}.content`).map(({ text }) => text);
  return [{ type: 'text', text: [...head, ...texts].join('\n') }];
}

function encodeUserPart(part: UserPart): JsonObject {
  if (part.type === 'text') return encodeTextBlock(part);
  return part.type === 'image' ? encodeImage(part) : encodeFile(part);
}

function encodeImage({ url }: ImagePart): JsonObject {
  const data = decodeDataUrl(url);
  if (data === undefined) return { type: 'image', source: { type: 'url', url } };
  // Anthropic accepts only the registered name image/jpeg; many clients write image/jpg.
  const mediaType = data.mediaType === 'image/jpg' ? 'image/jpeg' : data.mediaType;
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: data.base64 } };
}

function encodeFile({ url, name: title }: FilePart): JsonObject {
  const data = decodeDataUrl(url);
  if (data === undefined) return compact({ type: 'document', source: { type: 'url', url }, title });
  if (data.mediaType.startsWith('image/')) return encodeImage({ type: 'image', url });
  const source = data.mediaType.startsWith('text/')
    ? { type: 'text', media_type: 'text/plain', data: Buffer.from(data.base64, 'base64').toString() }
    : { type: 'base64', media_type: data.mediaType, data: data.base64 };
  return compact({ type: 'document', source, title });
}

/**
 * A redacted block has data and no text. The prefix distinguishes it from thinking whose text the provider left out; a
 * real signature is base64 and contains no colon.
 */
const REDACTED = 'redacted_thinking:';

export const signRedacted = (data: string): string => `${REDACTED}${data}`;

/** The data of a redacted block; undefined for an ordinary signature. */
export const redactedData = (signature: string): string | undefined =>
  signature.startsWith(REDACTED) ? signature.slice(REDACTED.length) : undefined;

export function encodeThinkingBlock({ text, signature = '' }: ReasoningPart): JsonObject {
  const data = redactedData(signature);
  return data === undefined
    ? { type: 'thinking', thinking: text, signature }
    : { type: 'redacted_thinking', data };
}

interface DataUrl {
  readonly mediaType: string;
  readonly base64: string;
}

/** Undefined when `url` is not a valid `data:` URL. */
function decodeDataUrl(url: string): DataUrl | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const comma = url.indexOf(',');
  if (comma < 0) return undefined;
  const [type = '', ...attributes] = url.slice('data:'.length, comma).split(';');
  const mediaType = type.trim().toLowerCase() || 'text/plain';
  const data = url.slice(comma + 1);
  if (attributes.some((attribute) => attribute.trim().toLowerCase() === 'base64')) {
    return { mediaType, base64: data };
  }
  try {
    return { mediaType, base64: Buffer.from(decodeURIComponent(data)).toString('base64') };
  } catch {
    return undefined;
  }
}

const encodeDataUrl = ({ mediaType, base64 }: DataUrl): string => `data:${mediaType};base64,${base64}`;
