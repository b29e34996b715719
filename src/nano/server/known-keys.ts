import type { JsonObject } from '../../core/json.ts';
import { Refusal } from './refusal.ts';

/** Replies by idempotency key. */
export interface KnownKeys {
  /** The earlier reply to this key, or the result of `answer`. Throws a Refusal (409) when the key was used for another request. */
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
          throw new Refusal(409, 'This X-Idempotency-Key was used for another request.');
        return before.reply;
      }
      const reply = answer();
      put(key, print, reply);
      // A request that was refused may be retried.
      reply.catch(() => {
        if (known.get(key)?.reply === reply) known.delete(key);
      });
      return reply;
    },
    remember: (key, print, reply) => put(key, print, Promise.resolve(reply)),
  };
}
