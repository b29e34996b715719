import { openRedactor } from '../redact/open-redactor.ts';

const LONGEST = 300;
const { redactText } = openRedactor();

/**
 * A provider's error page as one short line of plain text, without tags, control characters and runs of white space.
 * One forward pass, since such a page may be megabytes of anything. Secrets are redacted first: without its tags and its end a
 * page no longer shows which of its words is a password.
 */
export function plainTextExcerpt(body: string): string {
  let out = '';
  let inTag = false;
  let gap = false;
  for (const char of redactText(body.slice(0, 16_384))) {
    const code = char.codePointAt(0) ?? 0;
    if (char === '<') inTag = true;
    else if (char === '>') inTag = false;
    else if (!inTag && code > 0x20 && (code < 0x7f || code > 0x9f)) {
      if (gap && out !== '') out += ' ';
      out += char;
      gap = false;
      if (out.length >= LONGEST) return `${out}…`;
      continue;
    }
    gap = true;
  }
  return out;
}
