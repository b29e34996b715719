import type { StopReason } from '../../core/chat.ts';

const STOPS: Readonly<Record<string, StopReason>> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  content_filter: 'filter',
  sensitive: 'filter',
};

/**
 * Some servers send `stop` after tool calls, and some `tool_calls` without any: the calls themselves decide. A truncated
 * reply stays truncated, with or without calls.
 */
export function decodeStop(reason: string, matched: string | undefined, called: boolean): StopReason {
  const stop = Object.hasOwn(STOPS, reason) ? STOPS[reason] : undefined;
  if (stop !== undefined) return stop;
  if (called) return 'tool-calls';
  return matched ? 'stop-sequence' : 'end';
}

const REASONS: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  filter: 'content_filter',
};

export const encodeStop = (stop: StopReason): string => REASONS[stop];
