import type { ReasoningPart } from '../../core/chat.ts';
import type { JsonObject } from '../../core/json.ts';

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
