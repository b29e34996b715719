/**
 * Whether a person is present, according to one source. `unknown` is not `away`: a tool that is missing, hangs or prints
 * something unexpected tells nothing.
 */
export interface Presence {
  /** `x11`, `calendar`, `sleep`, `gateway` … */
  readonly source: string;
  readonly state: 'present' | 'away' | 'unknown';
  /** For people: `no input for 42 min`, `in a meeting until 15:00`. */
  readonly why: string;
  /** Time since the last input, for sources that measure it. */
  readonly idleMs?: number;
  /** When this is expected to change, milliseconds since the epoch. */
  readonly until?: number;
}

/** A source of presence. Never rejects; answers within its own time-out. */
export interface PresenceSource {
  readonly name: string;
  /** What it can detect and what not, in one sentence. */
  readonly sees: string;
  read(now: number, signal: AbortSignal): Promise<Presence>;
}
