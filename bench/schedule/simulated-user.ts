import type { Random } from '../../src/stats/random.ts';

/** A period of presence. */
export interface Stay {
  readonly from: number;
  readonly to: number;
  readonly kind: 'work' | 'evening' | 'weekend' | 'surprise at night';
  /** What the user does first: a request through the gateway, or keyboard and mouse only. */
  readonly beginsWith: 'request' | 'input';
}

export interface SimulatedUser {
  readonly stays: readonly Stay[];
  readonly meetings: readonly { readonly from: number; readonly to: number }[];
  /** Inputs and requests in order. */
  readonly acts: readonly { readonly at: number; readonly kind: 'input' | 'request' }[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Office days with lunch and meetings (some of them skipped), some evenings and weekends, and some nights with a return at about
 * two. Hours are UTC.
 */
export function simulateUser(start: number, days: number, random: Random): SimulatedUser {
  const stays: Stay[] = [];
  const meetings: { from: number; to: number }[] = [];
  const chance = (share: number): boolean => random.next() < share;
  const stay = (kind: Stay['kind'], from: number, to: number): void => {
    const at = from + random.below(20) * MINUTE;
    if (to > at) stays.push({ kind, from: at, to, beginsWith: chance(0.5) ? 'request' : 'input' });
  };
  for (let day = 0; day < days; day++) {
    const midnight = start + day * DAY;
    const weekday = new Date(midnight).getUTCDay();
    if (weekday === 0 || weekday === 6) {
      if (chance(0.5)) stay('weekend', midnight + 11 * HOUR, midnight + 13 * HOUR);
    } else {
      const meeting = midnight + (14 + random.below(2)) * HOUR;
      const end = meeting + (30 + 30 * random.below(2)) * MINUTE;
      meetings.push({ from: meeting, to: end });
      const isSkipped = chance(0.2);
      stay('work', midnight + 9 * HOUR, midnight + 12 * HOUR);
      stay('work', midnight + 13 * HOUR, isSkipped ? midnight + 18 * HOUR : meeting);
      if (!isSkipped) stay('work', end, midnight + 18 * HOUR);
      if (chance(0.4)) stay('evening', midnight + 20 * HOUR, midnight + 22.5 * HOUR);
    }
    if (chance(0.25))
      stay(
        'surprise at night',
        midnight + DAY + 2 * HOUR,
        midnight + DAY + 2 * HOUR + (25 + random.below(30)) * MINUTE,
      );
  }
  const ordered = stays.sort((a, b) => a.from - b.from);
  return { stays: ordered, meetings, acts: ordered.flatMap((one) => actsOf(one, random)) };
}

function actsOf(stay: Stay, random: Random): SimulatedUser['acts'] {
  const acts: { at: number; kind: 'input' | 'request' }[] = [{ at: stay.from, kind: stay.beginsWith }];
  if (stay.beginsWith === 'request') acts.push({ at: stay.from, kind: 'input' });
  for (let at = stay.from; ; ) {
    at += (20 + random.below(120)) * 1000;
    if (at >= stay.to) return acts;
    acts.push({ at, kind: 'input' });
    if (random.next() < 0.2) acts.push({ at, kind: 'request' });
  }
}
