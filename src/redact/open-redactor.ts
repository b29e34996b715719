import { createRedactor, type Redactor } from './redact.ts';
import { newSalt } from './salt.ts';

interface OpenRedactorOptions {
  /** The home's, see `readOrCreateSalt`; by default one for this process alone. */
  readonly salt?: string;
  /** The keys of this installation; it may read files, and is called every few seconds at most. */
  readonly keys?: () => readonly string[];
}

const KEYS_MS = 5_000;

/** The redactor of a thread or of a command. Without keys it knows secrets by their shape and their place alone. */
export function openRedactor({ salt = newSalt(), keys = () => [] }: OpenRedactorOptions = {}): Redactor {
  let known: readonly string[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return createRedactor({
    salt,
    known: () => {
      const now = performance.now();
      if (now - readAt < KEYS_MS) return known;
      readAt = now;
      known = keys();
      return known;
    },
  });
}
