import type { Json } from '../core/json.ts';
import { hasTellingName, isUntouched, redactJsonWith } from './redact-json.ts';
import { createSecretFinder } from './secrets/find-secrets.ts';
import { markFor } from './secrets/mark.ts';

export interface RedactorOptions {
  /** The keys this installation holds. Asked each time, so that a key which was changed a moment ago counts. */
  readonly known: () => readonly string[];
  /** Random and private to this installation: it makes marks useless for guessing what they stand for. */
  readonly salt: string;
}

/**
 * Puts `[[secret:xxxxxxxx]]` where a secret stands, before anything is written. Nothing here throws. What was redacted once
 * does not change when it is redacted again, and `hasSecret` is false for it.
 */
export interface Redactor {
  /** Text of any kind. JSON text stays JSON. */
  redactText(text: string): string;
  /** The same value with its strings and names redacted; a string under a telling name goes as a whole. */
  redactJson(value: Json): Json;
  /** The text of `redactJson`'s value, for less when there is nothing to redact. */
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

  /** Taking one secret out can lay the next one bare, so this goes on until nothing is found; each round leaves less to find. */
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
  /** Most values hold nothing to redact, and most of those hold nothing that even looks like it. */
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
