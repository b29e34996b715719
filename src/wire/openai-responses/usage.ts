import type { Usage } from '../../core/chat.ts';
import { asNumber, asObject, isObject, type Json, type JsonObject } from '../../core/json.ts';

export function decodeUsage(usage: Json | undefined): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const input = asObject(usage.input_tokens_details);
  const read = asNumber(input.cached_tokens);
  const written = asNumber(input.cache_write_tokens);
  const thought = asNumber(asObject(usage.output_tokens_details).reasoning_tokens);
  return {
    inputTokens: asNumber(usage.input_tokens) ?? 0,
    outputTokens: asNumber(usage.output_tokens) ?? 0,
    ...(read ? { cacheReadTokens: read } : {}),
    ...(written ? { cacheWriteTokens: written } : {}),
    ...(thought ? { reasoningTokens: thought } : {}),
  };
}

export const encodeUsage = (usage: Usage): JsonObject => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: {
    cached_tokens: usage.cacheReadTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
  },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  total_tokens: usage.inputTokens + usage.outputTokens,
});
