import type { Json } from '../core/json.ts';
import { hasTellingName, isUntouched, redactJsonWith } from './redact-json.ts';
import { createSecretFinder } from './secrets/find-secrets.ts';
import { markFor } from './secrets/mark.ts';

export interface RedactorOptions {
  /** The keys of this installation. Called each time, so that a changed key takes effect at once. */
  readonly known: () => readonly string[];
  /** The HMAC key of the marks, random and private to this installation: a guessed secret cannot be verified from its mark. */
  readonly salt: string;
}

/**
 * Replaces secrets by marks (`[[secret:xxxxxxxx]]`) before anything is written. Never throws. Redaction is idempotent, and
 * `hasSecret` is false for redacted text.
 */
export interface Redactor {
  /** Any text. JSON text stays valid JSON. */
  redactText(text: string): string;
  /** The same structure with strings and names redacted; a string under a name of a secret is replaced as a whole. */
  redactJson(value: Json): Json;
  /** The JSON text of `redactJson`'s result, cheaper when there is nothing to redact. */
  redactToText(value: Json): string;
  /** Whether `redactText` would change the text. */
  hasSecret(text: string): boolean;
}

export function createRedactor({ known, salt }: RedactorOptions): Redactor {
  let keys: readonly string[] = [];
  let finder = createSecretFinder(keys);

  const finderNow = (): typeof finder => {
    const now = known();
    if (now.length !== keys.length || now.some((key, i) => key !== keys[i])) {
      keys = [...now];
      finder = createSecretFinder(keys);
    }
    return finder;
  };
  const mark = (secret: string): string => markFor(secret, salt);

  /** Removing one secret can expose the next, so this repeats until nothing is found; each round leaves less to find. */
  const redactText = (text: string): string => {
    const { find } = finderNow();
    let current = text;
    for (let spans = find(current); spans.length > 0; spans = find(current)) {
      let out = '';
      let from = 0;
      for (const span of spans) {
        out += current.slice(from, span.start) + mark(span.secret ?? current.slice(span.start, span.end));
        from = span.end;
      }
      current = out + current.slice(from);
    }
    return current;
  };

  const redaction = { redactText, mark };
  const redactJson = (value: Json): Json => redactJsonWith(redaction, value);
  /** Most values contain nothing to redact, and most of those no trigger of any rule. */
  const isClean = (value: Json, text: string): boolean => {
    const { isPlain, find } = finderNow().look(text);
    if (isPlain && !hasTellingName(value)) return true;
    return isUntouched(redaction, value) && find().length === 0;
  };

  return {
    redactText,
    redactJson,
    redactToText: (value) => {
      const text = JSON.stringify(value);
      return isClean(value, text) ? text : JSON.stringify(redactJson(value));
    },
    hasSecret: (text) => finderNow().find(text).length > 0,
  };
}
