import type { Insertion, Outline, WireName } from '../core/wire.ts';
import { readConversation } from '../wire/conversation.ts';
import { type SpanReplacement, splice } from '../wire/splice.ts';
import type { ShownLessons } from './turn.ts';

/**
 * The body to send: the client's bytes with the lessons inserted, a long system text shortened where the config enables
 * it, and the model's name replaced where the target uses another one. In pieces; without any edit it is the same buffer.
 */
export function augment(
  wire: WireName,
  body: Buffer,
  outline: Outline,
  { block, additions, said, shortened }: ShownLessons,
  model: string | undefined,
): readonly Buffer[] {
  const insertions: Insertion[] = block === undefined ? [] : [...outline.place(block)];
  if (additions.length > 0 || said !== undefined) {
    const conversation = readConversation(wire, body);
    for (const { link, text } of additions) insertions.push(...(conversation?.placeAt(link, text) ?? []));
    if (said !== undefined)
      insertions.push(...(conversation?.placeAt(conversation.taskLink ?? '', said) ?? outline.place(said)));
  }
  const replacements: SpanReplacement[] = [];
  if (shortened !== undefined)
    replacements.push({ span: shortened.span, text: JSON.stringify(shortened.text).slice(1, -1) });
  if (model === undefined || model === outline.model) {
    const isSame = insertions.length + replacements.length === 0;
    return isSame ? [body] : splice(body, { insertions, replacements });
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

/** For those who read the body as one. */
export const joinPieces = (pieces: readonly Buffer[]): Buffer => {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
};
