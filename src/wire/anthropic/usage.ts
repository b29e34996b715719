import type { Usage } from '../../core/chat.ts';
import { asNumber, asObject, compact, type Json, type JsonObject } from '../../core/json.ts';

/** The token counts that a reply has reported so far. */
export interface Counts {
  readonly input?: number;
  readonly output?: number;
  readonly read?: number;
  readonly write?: number;
  readonly thought?: number;
}

/**
 * Counts are cumulative, so a later one replaces an earlier one. A zero does not: some vendors report the input when the
 * reply starts and write zeros at its end.
 */
export function addCounts(counts: Counts, value: Json | undefined): Counts {
  const usage = asObject(value);
  const later = (before: number | undefined, now: Json | undefined) => {
    const count = Math.max(0, asNumber(now) ?? -1);
    return asNumber(now) === undefined || (count === 0 && before !== undefined) ? before : count;
  };
  return compact({
    input: later(counts.input, usage.input_tokens),
    output: later(counts.output, usage.output_tokens),
    read: later(counts.read, usage.cache_read_input_tokens),
    write: later(counts.write, usage.cache_creation_input_tokens),
    thought: later(counts.thought, asObject(usage.output_tokens_details).thinking_tokens),
  });
}

/** Undefined when the reply reported no counts. */
export function decodeUsage({ input, output, read = 0, write = 0, thought = 0 }: Counts): Usage | undefined {
  if (input === undefined && output === undefined) return undefined;
  return {
    inputTokens: (input ?? 0) + read + write,
    outputTokens: output ?? 0,
    ...(read > 0 ? { cacheReadTokens: read } : {}),
    ...(write > 0 ? { cacheWriteTokens: write } : {}),
    ...(thought > 0 ? { reasoningTokens: thought } : {}),
  };
}

/** Clients read every count without checking that it exists, so all are written. */
export function encodeUsage(usage: Usage = { inputTokens: 0, outputTokens: 0 }): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
    ...(reasoningTokens === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  };
}
