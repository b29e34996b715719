import type { Outline } from '../../core/wire.ts';
import { findLeading, type Leading, placeAfterLeading } from '../leading.ts';
import { outlineObject } from '../outline.ts';
import { quoteText } from '../quote-text.ts';
import { isText, OPEN_BRACKET, type Span, skipValue, viewBytes } from '../scan.ts';

/** A block is appended to the last of the leading `system` or `developer` messages, else inserted before the first message. */
export function outlineChat(body: Uint8Array): Outline | undefined {
  const bytes = viewBytes(body);
  let messages: Leading | undefined;

  function visit(key: Span, at: number): number {
    if (!isText(bytes, key, 'messages')) return skipValue(bytes, at);
    messages = bytes[at] === OPEN_BRACKET ? findLeading(bytes, at, () => true) : undefined;
    return messages ? messages.array[1] : skipValue(bytes, at);
  }

  return outlineObject(bytes, visit, (block) => {
    if (!messages) return [];
    const text = quoteText(block);
    const part = `{"type":"text","text":${text}}`;
    const message = `{"role":"system","content":${text}}`;
    return [placeAfterLeading(bytes, messages, block, { part, message })];
  });
}
