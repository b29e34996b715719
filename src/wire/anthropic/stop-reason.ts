import type { StopReason } from '../../core/chat.ts';

const DECODED: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ['end_turn', 'end'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop-sequence'],
  ['tool_use', 'tool-calls'],
  ['pause_turn', 'end'],
  ['refusal', 'filter'],
  ['model_context_window_exceeded', 'length'],
]);

const ENCODED: Record<StopReason, string> = {
  end: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'stop-sequence': 'stop_sequence',
  filter: 'refusal',
};

export const decodeStopReason = (reason: string | undefined, hasCalls: boolean): StopReason =>
  DECODED.get(reason ?? '') ?? (hasCalls ? 'tool-calls' : 'end');

/** Some models end a turn with tool calls like a turn without; a client of this wire waits for `tool_use`. */
export const encodeStopReason = (stop: StopReason, hasCalls: boolean): string =>
  ENCODED[stop === 'end' && hasCalls ? 'tool-calls' : stop];
