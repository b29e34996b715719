import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Text that is safe to show, log and compare: printable ASCII, no control characters and no look-alike letters. */
const PLAIN = /^[\x20-\x7e]{1,128}$/;

/** A header's trimmed value; undefined when the header is missing or empty. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  return text === '' ? undefined : text;
}

/** A caller's text as an id of at most 128 printable characters: the text itself, or its hash when it has others. */
export function toCallerId(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  if (!trimmed) return undefined;
  if (PLAIN.test(trimmed)) return trimmed;
  return `sha256-${createHash('sha256').update(trimmed).digest('hex').slice(0, 32)}`;
}

export const headerId = (headers: IncomingHttpHeaders, name: string): string | undefined =>
  toCallerId(headerText(headers, name));
