import type { Clock } from '../../core/clock.ts';
import type { IdleReader } from './idle-reader.ts';

/**
 * When the gateway last served someone, on the scale of `clock.monotonic()`; undefined before the first request. Wall
 * time would let a clock that is set forward send everybody away, and is refused as lying in the future.
 */
export type LastActivity = () => number | undefined;

/** A machine without a keyboard: requests are all there is to see. Nobody was seen before it began to look. */
export function createGatewayActivity(lastActivity: LastActivity, clock: Clock): IdleReader {
  const began = clock.monotonic();
  return {
    name: 'gateway',
    sees: 'Requests through this gateway; not whether a person sent them, and nothing of what else is done here.',
    async read() {
      const now = clock.monotonic();
      const last = lastActivity() ?? began;
      if (!Number.isFinite(last)) return { kind: 'unknown', why: 'no time of a last request' };
      if (last > now) return { kind: 'unknown', why: 'the last request lies in the future' };
      return { kind: 'idle', ms: now - Math.max(last, began) };
    },
  };
}
