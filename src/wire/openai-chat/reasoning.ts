import type { ReasoningPart } from '../../core/chat.ts';
import { asArray, asObject, asString, type JsonObject } from '../../core/json.ts';

/** One entry of `reasoning_details`; a signature covers its own text and the unsigned text before it. */
interface ReasoningDetail {
  readonly text: string;
  readonly signature: string | undefined;
}

/**
 * `reasoning_content` (DeepSeek, vLLM) or `reasoning` (OpenRouter, Ollama), identical where both are sent; Mistral
 * sends it in the content, as parts of type `thinking`.
 */
export const plainReasoning = (holder: JsonObject): string =>
  asString(holder.reasoning_content) ||
  asString(holder.reasoning) ||
  asArray(holder.content)
    .flatMap((part) => asArray(asObject(part).thinking))
    .map((piece) => asString(asObject(piece).text) ?? '')
    .join('');

/** OpenRouter's structured form. Encrypted details have no counterpart in ChatEvent and are left out. */
export function reasoningDetails(holder: JsonObject): readonly ReasoningDetail[] {
  return asArray(holder.reasoning_details).flatMap((entry) => {
    const detail = asObject(entry);
    if (detail.type === 'reasoning.summary') {
      return [{ text: asString(detail.summary) ?? '', signature: undefined }];
    }
    if (detail.type !== 'reasoning.text') return [];
    return [{ text: asString(detail.text) ?? '', signature: asString(detail.signature) || undefined }];
  });
}

/** The reasoning of a complete message. A client may send the details back in the pieces in which it received them. */
export function decodeReasoning(message: JsonObject): ReasoningPart[] {
  const plain = plainReasoning(message);
  const details = reasoningDetails(message);
  const inDetails = details.some((detail) => detail.text !== '');
  const parts: ReasoningPart[] = [];
  let text = inDetails ? '' : plain;
  for (const detail of details) {
    text += detail.text;
    if (detail.signature === undefined) continue;
    parts.push({ type: 'reasoning', text, signature: detail.signature });
    text = '';
  }
  if (text !== '') parts.push({ type: 'reasoning', text });
  return parts;
}

/** The text for every client, and again with signatures for clients that send them back. */
export function encodeReasoning(parts: readonly ReasoningPart[]): JsonObject {
  const text = parts.map((part) => part.text).join('');
  return {
    ...(text === '' ? {} : { reasoning_content: text }),
    ...(parts.some((part) => part.signature !== undefined)
      ? { reasoning_details: parts.map((part, index) => encodeReasoningDetail(part, index)) }
      : {}),
  };
}

export const encodeReasoningDetail = (
  part: Pick<ReasoningPart, 'text' | 'signature'>,
  index: number,
): JsonObject => ({ type: 'reasoning.text', text: part.text, signature: part.signature ?? null, index });
