import type { Outline, WireName } from '../core/wire.ts';
import {
  type ByteSpan,
  DOUBLE_QUOTE,
  eachElement,
  eachMember,
  equalsText,
  OPEN_BRACE,
  OPEN_BRACKET,
  readString,
  skipValue,
  viewBytes,
} from './json-scan.ts';

interface SystemText {
  /** The span between the quotes of its JSON string, so that text appended after it stays after it. */
  readonly span: ByteSpan;
  readonly text: string;
}

/** The longest of the client's leading system texts; undefined when there is none. */
export function findSystemText(wire: WireName, body: Uint8Array, outline: Outline): SystemText | undefined {
  const bytes = viewBytes(body);
  let longest: ByteSpan | undefined;
  const consider = (span: ByteSpan): void => {
    const isLonger = longest === undefined || span[1] - span[0] > longest[1] - longest[0];
    if (bytes[span[0]] === DOUBLE_QUOTE && isLonger) longest = span;
  };
  const inContent = ([start, end]: ByteSpan): void => {
    consider([start, end]);
    if (bytes[start] !== OPEN_BRACKET) return;
    eachElement(bytes, start, (at) => {
      if (bytes[at] !== OPEN_BRACE) return skipValue(bytes, at);
      return eachMember(bytes, at, (key, valueAt) => {
        const valueEnd = skipValue(bytes, valueAt);
        if (equalsText(bytes, key, 'text')) consider([valueAt, valueEnd]);
        return valueEnd;
      });
    });
  };
  const inLeading = ([start]: ByteSpan): void => {
    if (bytes[start] !== OPEN_BRACKET) return;
    let isLeading = true;
    eachElement(bytes, start, (at) => {
      if (!isLeading || bytes[at] !== OPEN_BRACE) return skipValue(bytes, at);
      let role: ByteSpan | undefined;
      let content: ByteSpan | undefined;
      const end = eachMember(bytes, at, (key, valueAt) => {
        const span: ByteSpan = [valueAt, skipValue(bytes, valueAt)];
        if (equalsText(bytes, key, 'role')) role = span;
        else if (equalsText(bytes, key, 'content')) content = span;
        return span[1];
      });
      isLeading =
        role !== undefined && (equalsText(bytes, role, 'system') || equalsText(bytes, role, 'developer'));
      if (isLeading && content !== undefined) inContent(content);
      return end;
    });
  };
  const member = (name: string, look: (span: ByteSpan) => void): void => {
    const span = outline.member(name);
    if (span !== undefined) look(span);
  };
  if (wire === 'anthropic') member('system', inContent);
  else if (wire === 'openai-chat') member('messages', inLeading);
  else {
    member('instructions', consider);
    member('input', inLeading);
  }
  if (longest === undefined) return undefined;
  const text = readString(bytes, longest);
  return text === undefined ? undefined : { span: [longest[0] + 1, longest[1] - 1], text };
}
