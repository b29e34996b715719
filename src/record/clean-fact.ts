import { isFact } from '../core/fact.ts';
import { toJson } from '../core/json.ts';
import type { Block, NewFact } from '../core/store.ts';
import type { Redactor } from '../redact/redact.ts';

/** The edge of the store: what others append passes here, whichever thread or command writes it. */
export interface FactCleaner {
  fact(given: NewFact): NewFact;
  block(given: Block): Block;
}

export type FactRedactor = Pick<Redactor, 'redactJson' | 'redactText' | 'redactName' | 'digest'>;

export const createFactCleaner = (redactor: FactRedactor): FactCleaner => ({
  fact: ({ callerKey, key, ...given }) => {
    const fact = redactor.redactJson(toJson(given.fact));
    if (!isFact(fact)) throw new TypeError('a redacted fact has lost its type');
    const stored = callerKey === undefined ? key && redactor.redactName(key) : digestKey(redactor, callerKey);
    return stored === undefined ? { ...given, fact } : { ...given, fact, key: stored };
  },
  // The name is that of the text before: it is a reference, and the fact that refers to it has the same one.
  block: ({ hash, text, session }) => ({
    hash,
    session: redactor.redactName(session),
    ...(text === undefined ? {} : { text: redactor.redactText(text) }),
  }),
});

/** A caller may put anything into its idempotency key, so it is stored as a keyed hash; its purpose stays readable. */
function digestKey({ digest }: FactRedactor, { purpose, text }: NonNullable<NewFact['callerKey']>): string {
  return `${purpose}:${digest(text)}`;
}
