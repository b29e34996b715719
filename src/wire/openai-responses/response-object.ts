import type { Usage } from '../../core/chat.ts';
import { asNumber, asObject, isObject, type Json, type JsonObject } from '../../core/json.ts';

export interface ResponseState {
  readonly id: string;
  readonly model: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output?: readonly JsonObject[];
  readonly usage?: Usage | undefined;
  readonly incompleteReason?: 'max_output_tokens' | 'content_filter' | undefined;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The complete object, with every member that the official clients expect. */
export const encodeResponse = (state: ResponseState): JsonObject => ({
  id: state.id,
  object: 'response',
  created_at: state.createdAt,
  status: state.status,
  background: false,
  error: state.error ?? null,
  incomplete_details: state.incompleteReason === undefined ? null : { reason: state.incompleteReason },
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: state.model,
  output: state.output ?? [],
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  usage: state.usage === undefined ? null : encodeResponsesUsage(state.usage),
  user: null,
  metadata: {},
});

export function decodeResponsesUsage(usage: Json | undefined): Usage | undefined {
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

const encodeResponsesUsage = (usage: Usage): JsonObject => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: {
    cached_tokens: usage.cacheReadTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
  },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  total_tokens: usage.inputTokens + usage.outputTokens,
});
