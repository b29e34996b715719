import type { Usage } from '../../core/chat.ts';
import { asNumber, asObject, isObject, type Json, type JsonObject } from '../../core/json.ts';

/** Zero counts are left out: this format contains them even if the provider does not count such tokens. */
export function decodeUsage(value: Json | undefined): Usage | undefined {
  if (!isObject(value)) return undefined;
  const input = asNumber(value.prompt_tokens);
  const output = asNumber(value.completion_tokens);
  if (input === undefined && output === undefined) return undefined;
  const inputDetails = asObject(value.prompt_tokens_details);
  // The second and third are DeepSeek's and Moonshot's names for the cached tokens.
  const read =
    positive(inputDetails.cached_tokens) ??
    positive(value.prompt_cache_hit_tokens) ??
    positive(value.cached_tokens);
  const write = positive(inputDetails.cache_write_tokens);
  const thought = positive(asObject(value.completion_tokens_details).reasoning_tokens);
  return {
    inputTokens: input ?? 0,
    outputTokens: (output ?? 0) + (isBeside(value, thought) ? (thought ?? 0) : 0),
    ...(read === undefined ? {} : { cacheReadTokens: read }),
    ...(write === undefined ? {} : { cacheWriteTokens: write }),
    ...(thought === undefined ? {} : { reasoningTokens: thought }),
  };
}

/** xAI and Gemini do not include reasoning in the completion tokens; only their total shows that. */
const isBeside = (usage: JsonObject, thought = 0): boolean =>
  thought > 0 &&
  asNumber(usage.total_tokens) ===
    (asNumber(usage.prompt_tokens) ?? 0) + (asNumber(usage.completion_tokens) ?? 0) + thought;

const positive = (value: Json | undefined): number | undefined => {
  const count = asNumber(value);
  return count !== undefined && count > 0 ? count : undefined;
};

export const encodeUsage = (usage: Usage): JsonObject => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: {
    cached_tokens: usage.cacheReadTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
  },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
});
