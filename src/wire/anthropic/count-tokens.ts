import { Buffer } from 'node:buffer';
import type { AssistantPart, ChatRequest, UserPart } from '../../core/chat.ts';
import type { JsonObject } from '../../core/json.ts';
import { writeJson } from './tools.ts';

const BYTES_PER_TOKEN = 4;
/** Anthropic's count for the largest image that it does not scale down. */
const IMAGE_TOKENS = 1600;
/** A file of one or two pages; the pages cannot be counted without parsing it. */
const FILE_TOKENS = 3000;
/** The provider's own tokens around each message and tool. */
const MESSAGE_TOKENS = 4;
const TOOL_TOKENS = 16;

const tokensOf = (text: string): number => Buffer.byteLength(text) / BYTES_PER_TOKEN;

const sum = <T>(items: readonly T[], count: (item: T) => number): number =>
  items.reduce((total, item) => total + count(item), 0);

/** For a provider without a counting route: accurate enough to detect a history that is too long. */
export function estimateRequestTokens({ system, messages, tools }: ChatRequest): number {
  const messageTokens = sum(
    messages,
    ({ content }) => MESSAGE_TOKENS + sum<UserPart | AssistantPart>(content, countPart),
  );
  const toolTokens = sum(
    tools,
    ({ name, description = '', parameters }) =>
      TOOL_TOKENS + tokensOf(name + description + (writeJson(parameters) ?? '')),
  );
  return Math.ceil(sum(system, countPart) + messageTokens + toolTokens);
}

function countPart(part: UserPart | AssistantPart): number {
  if (part.type === 'image') return IMAGE_TOKENS;
  if (part.type === 'file') return FILE_TOKENS;
  if (part.type === 'tool-call') return TOOL_TOKENS + tokensOf(part.name + part.arguments);
  return tokensOf(part.text);
}

export const encodeTokenCount = (count: number): JsonObject => ({ input_tokens: count });
