import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.ts';

const BYTES = 6;
/** Whole names: a part of one would have less chance in it. */
const POOL = 512 * BYTES;
/** Hexadecimal digits of the number within a millisecond. */
const COUNTED = 4;

/**
 * Names that sort by time, those of one millisecond in the order in which they were made, and do not repeat; randomness is drawn for many
 * of them at once. What is ordered by its name then depends on what happened, not on chance.
 */
export function createIds(clock: Clock): (prefix: string) => string {
  let pool = randomBytes(POOL).toString('hex');
  let at = 0;
  let last = -1;
  let nth = 0;
  return (prefix) => {
    if (at === pool.length) {
      pool = randomBytes(POOL).toString('hex');
      at = 0;
    }
    const chance = pool.slice(at, at + 2 * BYTES);
    at += 2 * BYTES;
    // A clock that was set back, or more names than digits in a millisecond: the time of the last name counts on.
    const now = Math.max(clock.now(), nth === 16 ** COUNTED - 1 ? last + 1 : last);
    nth = now === last ? nth + 1 : 0;
    last = now;
    return `${prefix}_${now.toString(36)}${nth.toString(16).padStart(COUNTED, '0')}${chance}`;
  };
}
