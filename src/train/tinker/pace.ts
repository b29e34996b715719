/** Time-outs and intervals of the client. The official client's values where it has them. */
export interface Pace {
  readonly heartbeatMs: number;
  /** After this long without a successful heartbeat it is logged. */
  readonly silenceMs: number;
  /** Time-out of one submission. */
  readonly requestMs: number;
  /** Time-out of one poll; servers hold it for a while. */
  readonly pollMs: number;
  /** The shortest interval between polls: not every server holds them. */
  readonly lookMs: number;
  /** The first pause between tries; it doubles up to `longestMs`. */
  readonly backoffMs: number;
  readonly longestMs: number;
  /** How long a submission is retried. */
  readonly submitForMs: number;
  /** How long an optional request is retried. */
  readonly adviceForMs: number;
  /** A result is given up after the server has not answered for this long. */
  readonly lostAfterMs: number;
  /** The interval of retries after 402 (payment required), and their total time. */
  readonly unpaidMs: number;
  readonly unpaidForMs: number;
  /** The pause of all sampling after a 429; longer when the prompt was large. */
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

/** Exponential backoff with jitter on half of it, so that clients do not retry in lockstep. */
export function backoffOf({ backoffMs, longestMs }: Pace, tries: number, random: () => number): number {
  const pause = Math.min(longestMs, backoffMs * 2 ** Math.min(tries, 30));
  return pause / 2 + (random() * pause) / 2;
}
