import type { Wire, WireName } from '../core/wire.ts';
import { anthropic } from './anthropic/anthropic.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiResponses } from './openai-responses/openai-responses.ts';

export const wires: Readonly<Record<WireName, Wire>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
};
