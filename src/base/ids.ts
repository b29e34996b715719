import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.ts';

/** Hexadecimal digits: of the number within a millisecond, and of chance. */
const COUNTED = 3;
const RANDOM = 13;
const MOST = 16 ** COUNTED;
/** In bytes, for whole names. */
const POOL = 13 * 256;

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
    const chance = pool.slice(at, at + RANDOM);
    at += RANDOM;
    // A clock that was set back, or more names than digits in a millisecond: the time of the last name counts on.
    const now = Math.max(clock.now(), nth === MOST - 1 ? last + 1 : last);
    nth = now === last ? nth + 1 : 0;
    last = now;
    return `${prefix}_${now.toString(36)}${nth.toString(16).padStart(COUNTED, '0')}${chance}`;
  };
}
