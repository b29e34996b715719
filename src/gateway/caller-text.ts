import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** What may be shown, logged and compared as it is; a space inside is fine, a control or a look-alike letter is not. */
const PLAIN = /^[\x20-\x7e]{1,128}$/;

/** A header's value without the space around it; undefined when it is not there or says nothing. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  return text === '' ? undefined : text;
}

/** A caller's own text as an id of at most 128 printable characters: itself, or its hash when it is not fit. */
export function toCallerId(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  if (!trimmed) return undefined;
  if (PLAIN.test(trimmed)) return trimmed;
  return `sha256-${createHash('sha256').update(trimmed).digest('hex').slice(0, 32)}`;
}

export const headerId = (headers: IncomingHttpHeaders, name: string): string | undefined =>
  toCallerId(headerText(headers, name));
