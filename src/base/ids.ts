import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.ts';

const POOL = 4096;
const BYTES = 8;

/** Names that sort by time and do not repeat; randomness is drawn for many of them at once. */
export function createIds(clock: Clock): (prefix: string) => string {
  let pool = randomBytes(POOL).toString('hex');
  let at = 0;
  return (prefix) => {
    if (at === pool.length) {
      pool = randomBytes(POOL).toString('hex');
      at = 0;
    }
    const chance = pool.slice(at, at + 2 * BYTES);
    at += 2 * BYTES;
    return `${prefix}_${clock.now().toString(36)}${chance}`;
  };
}
