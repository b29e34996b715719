import type { Insertion, Outline } from '../../core/wire.ts';
import { findLeading, type Leading, placeAfterLeading } from '../leading.ts';
import { outlineObject } from '../outline.ts';
import { appendText } from '../place.ts';
import { quoteText } from '../quote-text.ts';
import { isText, OPEN_BRACKET, QUOTE, type Span, skipValue, viewBytes } from '../scan.ts';

/**
 * A block is appended to `instructions`, else to the last of the leading `system` or `developer` messages of `input`, else
 * inserted before its first item. Input that is a plain string becomes a list of two messages.
 */
export function outlineResponses(body: Uint8Array): Outline | undefined {
  const bytes = viewBytes(body);
  let instructions: Span | undefined;
  let items: Leading | undefined;
  let inputText: Span | undefined;

  // Codex puts a list of tools with the role `developer` before its messages; the leading messages continue after it.
  const isMessage = (type: Span | undefined) =>
    !type || isText(bytes, type, 'message') || isText(bytes, type, 'additional_tools');

  function visitInput(at: number): number {
    items = bytes[at] === OPEN_BRACKET ? findLeading(bytes, at, isMessage) : undefined;
    const end = items ? items.array[1] : skipValue(bytes, at);
    inputText = bytes[at] === QUOTE ? [at, end] : undefined;
    return end;
  }

  function visit(key: Span, at: number): number {
    if (isText(bytes, key, 'input')) return visitInput(at);
    const end = skipValue(bytes, at);
    if (isText(bytes, key, 'instructions')) instructions = bytes[at] === QUOTE ? [at, end] : undefined;
    return end;
  }

  return outlineObject(bytes, visit, (block) => {
    const text = quoteText(block);
    const part = `{"type":"input_text","text":${text}}`;
    const message = `{"type":"message","role":"developer","content":${text}}`;
    const inside = instructions && appendText(bytes, instructions, block, part);
    if (inside) return [inside];
    if (items) return [placeAfterLeading(bytes, items, block, { part, message })];
    return inputText ? wrapInput(inputText, message) : [];
  });
}

const wrapInput = ([start, end]: Span, message: string): readonly Insertion[] => [
  { at: start, text: `[${message},{"type":"message","role":"user","content":` },
  { at: end, text: '}]' },
];
