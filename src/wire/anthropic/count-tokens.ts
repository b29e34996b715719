import { Buffer } from 'node:buffer';
import type { AssistantPart, ChatRequest, UserPart } from '../../core/chat.ts';
import type { JsonObject } from '../../core/json.ts';
import { writeJson } from './tool-use.ts';

const BYTES_PER_TOKEN = 4;
/** What Anthropic counts for an image of the largest size it does not shrink. */
const IMAGE_TOKENS = 1600;
/** A file of a page or two; its pages cannot be counted without opening it. */
const FILE_TOKENS = 3000;
/** The words a provider puts around each of these. */
const MESSAGE_TOKENS = 4;
const TOOL_TOKENS = 16;

const tokensOf = (text: string): number => Buffer.byteLength(text) / BYTES_PER_TOKEN;

const sum = <T>(items: readonly T[], count: (item: T) => number): number =>
  items.reduce((total, item) => total + count(item), 0);

/** An answer for a provider that has no route to count with: near enough to tell when a history is too long. */
export function estimateTokens({ system, messages, tools }: ChatRequest): number {
  const said = sum(
    messages,
    ({ content }) => MESSAGE_TOKENS + sum<UserPart | AssistantPart>(content, countPart),
  );
  const offered = sum(
    tools,
    ({ name, description = '', parameters }) =>
      TOOL_TOKENS + tokensOf(name + description + (writeJson(parameters) ?? '')),
  );
  return Math.ceil(sum(system, countPart) + said + offered);
}

function countPart(part: UserPart | AssistantPart): number {
  if (part.type === 'image') return IMAGE_TOKENS;
  if (part.type === 'file') return FILE_TOKENS;
  if (part.type === 'tool-call') return TOOL_TOKENS + tokensOf(part.name + part.arguments);
  return tokensOf(part.text);
}

export const encodeCount = (count: number): JsonObject => ({ input_tokens: count });
