import type { Json } from '../core/json.ts';
import { redactJsonWith } from './redact-json.ts';
import { createFindSecrets, type FindSecrets } from './secrets/find-secrets.ts';
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
  /** Whether `redactText` would change the text. */
  hasSecret(text: string): boolean;
}

export function createRedactor({ known, salt }: RedactorOptions): Redactor {
  let keys: readonly string[] = [];
  let find: FindSecrets = createFindSecrets(keys);

  const findNow = (): FindSecrets => {
    const now = known();
    if (now.length !== keys.length || now.some((key, i) => key !== keys[i])) {
      keys = [...now];
      find = createFindSecrets(keys);
    }
    return find;
  };
  const mark = (secret: string): string => markFor(secret, salt);

  /** Taking one secret out can lay the next one bare, so this goes on until nothing is found; each round leaves less to find. */
  const redactText = (text: string): string => {
    const findIn = findNow();
    let current = text;
    for (let spans = findIn(current); spans.length > 0; spans = findIn(current)) {
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

  return {
    redactText,
    redactJson: (value) => redactJsonWith({ redactText, mark }, value),
    hasSecret: (text) => findNow()(text).length > 0,
  };
}
