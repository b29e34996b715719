import type { JsonObject } from '../../core/json.ts';
import { Refusal } from './refusal.ts';

/** Replies by the key that a client gives a request and all its retries. */
export interface KnownKeys {
  /** The reply of before, or what `answer` replies now. A key that stood for something else is refused with 409. */
  once(key: string | undefined, print: string, answer: () => Promise<JsonObject>): Promise<JsonObject>;
  remember(key: string, print: string, reply: JsonObject): void;
}

export function createKnownKeys(limit: number): KnownKeys {
  const known = new Map<string, { readonly print: string; readonly reply: Promise<JsonObject> }>();
  const put = (key: string, print: string, reply: Promise<JsonObject>): void => {
    known.set(key, { print, reply });
    for (const old of known.keys()) {
      if (known.size <= limit) break;
      known.delete(old);
    }
  };
  return {
    once: (key, print, answer) => {
      if (key === undefined) return answer();
      const before = known.get(key);
      if (before !== undefined) {
        if (before.print !== print)
          throw new Refusal(409, 'This X-Idempotency-Key stood for another request.');
        return before.reply;
      }
      const reply = answer();
      put(key, print, reply);
      // What was refused may be tried again.
      reply.catch(() => {
        if (known.get(key)?.reply === reply) known.delete(key);
      });
      return reply;
    },
    remember: (key, print, reply) => put(key, print, Promise.resolve(reply)),
  };
}
