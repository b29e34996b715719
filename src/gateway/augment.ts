import type { Insertion, Outline, WireName } from '../core/wire.ts';
import { readConversation } from '../wire/conversation.ts';
import { splice } from '../wire/splice.ts';
import type { ShownLessons } from './turn.ts';

/**
 * The body to send: the client's bytes with the lessons put in and, where the target has a name of its own
 * for the model, that name in place of the client's. With neither, the very same buffer.
 */
export function augment(
  wire: WireName,
  body: Buffer,
  outline: Outline,
  { block, additions }: ShownLessons,
  model: string | undefined,
): Buffer {
  const insertions: Insertion[] = block === undefined ? [] : [...outline.place(block)];
  if (additions.length > 0) {
    const conversation = readConversation(wire, body);
    for (const { link, text } of additions) insertions.push(...(conversation?.placeAt(link, text) ?? []));
  }
  if (model === undefined || model === outline.model) {
    return insertions.length === 0 ? body : splice(body, { insertions });
  }
  const text = JSON.stringify(model);
  if (outline.modelSpan !== undefined)
    return splice(body, { insertions, replace: { span: outline.modelSpan, text } });
  const at = body.indexOf('{') + 1;
  const isEmpty = /^\s*\}/.test(body.toString('latin1', at, at + 64));
  insertions.push({ at, text: `"model":${text}${isEmpty && insertions.length === 0 ? '' : ','}` });
  return splice(body, { insertions });
}
