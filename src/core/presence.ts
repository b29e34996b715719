/**
 * Whether a person is there, as far as one source can see. `unknown` is not away: a tool that is missing, hangs or talks
 * nonsense says nothing about anyone.
 */
export interface Presence {
  /** `x11`, `calendar`, `sleep`, `gateway` … */
  readonly source: string;
  readonly state: 'present' | 'away' | 'unknown';
  /** For people: `no input for 42 min`, `in a meeting until 15:00`. */
  readonly why: string;
  /** How long there has been no input, where that is what it sees. */
  readonly idleMs?: number;
  /** When this is expected to change, milliseconds since the epoch. */
  readonly until?: number;
}

/** Something that can be asked who is there. Never rejects; answers within its own time-out. */
export interface PresenceSource {
  readonly name: string;
  /** What it can see and what not, in a sentence. */
  readonly sees: string;
  read(now: number, signal: AbortSignal): Promise<Presence>;
}
