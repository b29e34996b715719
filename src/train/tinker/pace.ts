/** How long a client waits for what. The numbers of the official client, where it has them. */
export interface Pace {
  readonly heartbeatMs: number;
  /** After so long without a heartbeat that got through, it is said. */
  readonly silenceMs: number;
  /** One request that submits something. */
  readonly requestMs: number;
  /** One look at whether a result is there; servers hold it for a while. */
  readonly pollMs: number;
  /** Looks are at least so far apart: not every server holds them. */
  readonly lookMs: number;
  /** The first pause before another try; it doubles up to `longestMs`. */
  readonly backoffMs: number;
  readonly longestMs: number;
  /** A submission is tried for so long. */
  readonly submitForMs: number;
  /** A question whose answer can be done without is asked for so long. */
  readonly adviceForMs: number;
  /** A result is waited for as long as the server is heard of; when it was not for so long, it is given up. */
  readonly lostAfterMs: number;
  /** Between looks while a bill is unpaid, and for how long in all. */
  readonly unpaidMs: number;
  readonly unpaidForMs: number;
  /** All sampling rests after one was refused for haste; longer when the prompt was large. */
  readonly restMs: number;
}

export const DEFAULT_PACE: Pace = {
  heartbeatMs: 10_000,
  silenceMs: 120_000,
  requestMs: 60_000,
  pollMs: 45_000,
  lookMs: 50,
  backoffMs: 500,
  longestMs: 30_000,
  submitForMs: 300_000,
  adviceForMs: 10_000,
  lostAfterMs: 600_000,
  unpaidMs: 5_000,
  unpaidForMs: 3_600_000,
  restMs: 1_000,
};

/** The pause before the next of several tries: half of it fixed, half random, so that clients do not come back as one. */
export function backoffOf({ backoffMs, longestMs }: Pace, tries: number, random: () => number): number {
  const pause = Math.min(longestMs, backoffMs * 2 ** Math.min(tries, 30));
  return pause / 2 + (random() * pause) / 2;
}
