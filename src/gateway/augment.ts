import type { Insertion, Outline } from '../core/wire.ts';
import { splice } from '../wire/splice.ts';

/**
 * The body to send: the client's bytes with the block of lessons put in and, where the target has a name of its own
 * for the model, that name in place of the client's. With neither, the very same buffer.
 */
export function augment(
  body: Buffer,
  outline: Outline,
  block: string | undefined,
  model: string | undefined,
): Buffer {
  const insertions: Insertion[] = block === undefined ? [] : [...outline.place(block)];
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
