import type { Home } from '../config/home.ts';
import { readKey, readOrCreateKey } from '../config/key.ts';
import type { Clock } from '../core/clock.ts';

const LOOK_AGAIN_MS = 1000;

/** Instar's key as it is now: a changed key file counts within a second, and costs no file read per request. */
export function createKeyInForce(home: Home, env: NodeJS.ProcessEnv, clock: Clock): () => string {
  let { key } = readOrCreateKey(home, env);
  let readAt = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    if (now - readAt < LOOK_AGAIN_MS) return key;
    readAt = now;
    try {
      key = readKey(home, env)?.key ?? key;
    } catch {
      // Half-written or unreadable for a moment: the key that was in force stays in force.
    }
    return key;
  };
}
