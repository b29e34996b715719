import type { Insertion, Outline, WireName } from '../core/wire.ts';
import { readConversation } from '../wire/conversation.ts';
import { type Replacement, splice } from '../wire/splice.ts';
import type { ShownLessons } from './turn.ts';

/**
 * The body to send: the client's bytes with the lessons inserted, a long system text shortened where the config enables
 * it, and the model's name replaced where the target uses another one. Without any edit it is the same buffer.
 */
export function augment(
  wire: WireName,
  body: Buffer,
  outline: Outline,
  { block, additions, shortened }: ShownLessons,
  model: string | undefined,
): Buffer {
  const insertions: Insertion[] = block === undefined ? [] : [...outline.place(block)];
  if (additions.length > 0) {
    const conversation = readConversation(wire, body);
    for (const { link, text } of additions) insertions.push(...(conversation?.placeAt(link, text) ?? []));
  }
  const replacements: Replacement[] = [];
  if (shortened !== undefined)
    replacements.push({ span: shortened.span, text: JSON.stringify(shortened.text).slice(1, -1) });
  if (model === undefined || model === outline.model) {
    const isSame = insertions.length + replacements.length === 0;
    return isSame ? body : splice(body, { insertions, replacements });
  }
  const text = JSON.stringify(model);
  if (outline.modelSpan !== undefined) {
    replacements.push({ span: outline.modelSpan, text });
    return splice(body, { insertions, replacements });
  }
  const at = body.indexOf('{') + 1;
  const isEmpty = /^\s*\}/.test(body.toString('latin1', at, at + 64));
  insertions.push({ at, text: `"model":${text}${isEmpty && insertions.length === 0 ? '' : ','}` });
  return splice(body, { insertions, replacements });
}
