/*
 * Whether the wall clock can be believed. Data is erased by age, so a wrong date must not make it old.
 *
 * - While the machine runs, its uptime says how much time has passed. A wall clock that disagrees by more than `LEAP_MS` was
 *   set: a *leap*. Time then goes on from before the leap, by the uptime.
 * - While the machine was off, nothing says how much time has passed. A clock that is behind the last time seen is wrong: a
 *   leap back. A clock that is more than `LEAP_MS` ahead of it may be right (a holiday) or wrong: an *absence*. Time is then
 *   what the clock shows, since a holiday is the likelier reason, but nothing is erased on the strength of it.
 *
 * Both end when a person confirms the time, or when the clock is back at the time that was expected. An absence also ends
 * when independent servers show the same date; a leap does not, because a person should hear of a clock that was set.
 */

/** Less than a day, so that a date wrong by one day is noticed; more than any error of time zones (14 hours). */
export const LEAP_MS = 20 * 3_600_000;

/** Both clocks at one moment. `wall` in milliseconds since the epoch, `up` since the machine was started. */
export interface TimeReading {
  readonly wall: number;
  readonly up: number;
}

/** Why the clock is not believed. */
export interface TimeDoubt {
  readonly kind: 'leap' | 'absence';
  /** The time that was expected, and the time that the clock showed, when it was noticed. */
  readonly from: number;
  readonly to: number;
}

export interface TimeState {
  /** Time that is certain: at `up` it was `wall`. */
  readonly anchor: TimeReading;
  readonly doubt?: TimeDoubt;
  /** During an absence: what the clock showed first. */
  readonly claim?: TimeReading;
}

/** What an earlier process left: its clocks when it last looked, and the time it held for certain. */
export interface TimeMemory extends TimeReading {
  readonly boot?: string;
  readonly held: number;
  readonly doubt?: TimeDoubt;
  readonly claimed?: number;
}

/** The time that must have passed at least, by the uptime. */
export const heldAt = ({ anchor }: TimeState, { up }: TimeReading): number => anchor.wall + (up - anchor.up);

/** What to take for the time. */
export const timeAt = (state: TimeState, reading: TimeReading): number =>
  state.doubt?.kind === 'leap' ? Math.round(heldAt(state, reading)) : reading.wall;

const isClose = (a: number, b: number): boolean => Math.abs(a - b) <= LEAP_MS;

/** One more look at the clocks. The same object when nothing changed. */
export function stepTime(state: TimeState, reading: TimeReading): TimeState {
  const held = heldAt(state, reading);
  const { anchor, doubt, claim } = state;
  if (isClose(reading.wall, held)) return doubt === undefined ? state : { anchor };
  if (doubt?.kind === 'leap') return state;
  const isStillAway = claim !== undefined && isClose(reading.wall, claim.wall + (reading.up - claim.up));
  if (isStillAway) return state;
  return { anchor, doubt: { kind: 'leap', from: Math.round(held), to: reading.wall } };
}

export const confirmTime = (reading: TimeReading): TimeState => ({ anchor: reading });

/**
 * The state at the start of a process. `memory`: what the process before left. `newest`: the time of the newest fact, which
 * counts where there is no memory, or where it is later and not in the future.
 */
export function startTime(
  reading: TimeReading,
  boot: string | undefined,
  memory: TimeMemory | undefined,
  newest: number | undefined,
): TimeState {
  if (memory !== undefined && isSameBoot(reading, boot, memory)) {
    const { up, held, doubt, claimed } = memory;
    const state: TimeState = {
      anchor: { wall: held, up },
      ...(doubt === undefined ? {} : { doubt }),
      ...(claimed === undefined ? {} : { claim: { wall: claimed, up } }),
    };
    return stepTime(state, reading);
  }
  const doubt = memory?.doubt;
  const last = doubt === undefined ? lastSeen(reading, memory?.wall, newest) : memory?.held;
  if (last === undefined || isClose(reading.wall, last)) return { anchor: reading };
  const anchor = { wall: last, up: reading.up };
  if (reading.wall < last || doubt?.kind === 'leap') {
    const leap: TimeDoubt =
      doubt?.kind === 'leap' ? doubt : { kind: 'leap', from: Math.round(last), to: reading.wall };
    return { anchor, doubt: leap };
  }
  const away: TimeDoubt = doubt ?? { kind: 'absence', from: Math.round(last), to: reading.wall };
  return { anchor, doubt: away, claim: reading };
}

function lastSeen(
  { wall }: TimeReading,
  seen: number | undefined,
  newest: number | undefined,
): number | undefined {
  if (seen === undefined) return newest;
  return newest !== undefined && newest > seen && newest <= wall ? newest : seen;
}

/** Without names of starts: the uptime went on, and both say that the machine was started at the same time. */
function isSameBoot(reading: TimeReading, boot: string | undefined, memory: TimeMemory): boolean {
  if (reading.up < memory.up) return false;
  if (boot !== undefined && memory.boot !== undefined) return boot === memory.boot;
  return isClose(reading.wall - reading.up, memory.wall - memory.up);
}

/** What the next process needs to know. */
export const rememberTime = (
  state: TimeState,
  reading: TimeReading,
  boot: string | undefined,
): TimeMemory => ({
  ...reading,
  ...(boot === undefined ? {} : { boot }),
  held: heldAt(state, reading),
  ...(state.doubt === undefined ? {} : { doubt: state.doubt }),
  ...(state.claim === undefined ? {} : { claimed: state.claim.wall + (reading.up - state.claim.up) }),
});
