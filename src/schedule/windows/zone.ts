interface WallTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** A time zone. Instants are milliseconds since the epoch. */
export interface Zone {
  readonly name: string;
  /** Milliseconds that local time is ahead of UTC. Throws a RangeError for an instant outside the range of `Date`. */
  offsetAt(instant: number): number;
  /**
   * The instant of a local time. A skipped time uses the offset before the gap, a repeated time its first occurrence, as
   * in RFC 5545.
   */
  instantOf(wall: WallTime): number;
  /** The first instant after `from`, up to `to`, with another offset than `from`. */
  nextShift(from: number, to: number): number | undefined;
}

/** No zone has ever changed its offset and changed it back within this time. */
const SHIFT_STEP_MS = 3 * 3_600_000;
const SECOND_MS = 1000;
const DAY_MS = 86_400_000;

/** A zone by its IANA name, or undefined when this machine does not know it. */
export function openZone(name: string): Zone | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { ...DIGITS, timeZone: name });
  } catch {
    return undefined;
  }

  const offsetAt = (instant: number): number => {
    const whole = Math.floor(instant / SECOND_MS) * SECOND_MS;
    // `format` is four times as fast as `formatToParts`.
    const [month, day, year, hour, minute, second] = (format.format(whole).match(/\d+/g) ?? []).map(Number);
    return Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second) - whole;
  };

  const instantOf = (wall: WallTime): number => {
    const local = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
    const before = offsetAt(local - DAY_MS);
    const after = offsetAt(local + DAY_MS);
    const early = local - before;
    if (before === after || offsetAt(early) === before) return early;
    const late = local - after;
    return offsetAt(late) === after ? late : early;
  };

  const nextShift = (from: number, to: number): number | undefined => {
    const offset = offsetAt(from);
    for (let low = from; low < to; low += SHIFT_STEP_MS) {
      const high = Math.min(low + SHIFT_STEP_MS, to);
      if (offsetAt(high) !== offset) return firstWithout(offset, low, high);
    }
    return undefined;
  };

  const firstWithout = (offset: number, from: number, to: number): number => {
    let low = Math.floor(from / SECOND_MS);
    let high = Math.ceil(to / SECOND_MS);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle * SECOND_MS) === offset) low = middle;
      else high = middle;
    }
    return high * SECOND_MS;
  };

  return { name, offsetAt, instantOf, nextShift };
}

const DIGITS = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
} as const;

/** The local time of an instant, such as `07:05`. */
export function clockText(zone: Zone, instant: number): string {
  return new Date(instant + zone.offsetAt(instant)).toISOString().slice(11, 16);
}

/**
 * The system's current time zone. Node caches it at start, which is wrong for a laptop that travels; deleting the unset
 * variable `TZ` makes it look again and changes nothing else.
 */
export function systemZone(): string {
  if (process.env.TZ === undefined) delete process.env.TZ;
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
