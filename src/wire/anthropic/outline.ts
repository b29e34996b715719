import type { Outline } from '../../core/wire.ts';
import { outlineObject } from '../outline.ts';
import { appendText, prependItem } from '../place.ts';
import { quoteText } from '../quote-text.ts';
import { isText, type Span, skipValue, viewBytes } from '../scan.ts';

/** A block is appended to `system`, after the client's cache marks, so that the cached prefix stays the same. */
export function outlineAnthropic(body: Uint8Array): Outline | undefined {
  const bytes = viewBytes(body);
  let system: Span | undefined;

  function visit(key: Span, at: number): number {
    const end = skipValue(bytes, at);
    if (isText(bytes, key, 'system')) system = [at, end];
    return end;
  }

  return outlineObject(bytes, visit, (block, object) => {
    const text = quoteText(block);
    if (system === undefined) return [prependItem(bytes, object, `"system":${text}`)];
    const inside = appendText(bytes, system, block, `{"type":"text","text":${text}}`);
    return inside ? [inside] : [];
  });
}
