import { readFileSync } from 'node:fs';

/** Texts that look like secrets and are not; redaction must not change them. */
export const HARMLESS: readonly string[] = readFileSync(new URL('harmless.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => (JSON.parse(line) as { readonly text: string }).text);
