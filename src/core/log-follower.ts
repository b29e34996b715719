import type { Fact, StoredFact } from './fact.ts';

/**
 * Follows a log that several processes append to. Each fact of the types that somebody listens for is delivered once, in the
 * order of the log, also facts of this process; the next one is delivered when the listeners of the one before have resolved.
 * It begins with the first fact after the head at its first connection.
 */
export interface LogFollower {
  /** A listener that is added later misses what was appended before; `onBegun` tells it to look. One that rejects is logged. */
  on(types: readonly Fact['type'][], listener: (stored: StoredFact) => Promise<void>): void;
  /** Called with the types of facts that were appended, by whomever, without reading them. */
  onAppended(listener: (types: readonly string[]) => void): void;
  /** Called once, when it knows the head, or at once if it does: what was read before may lack what was appended since. */
  onBegun(listener: () => Promise<void>): void;
  /** The last number that was delivered or passed over; undefined before the first connection. */
  seq(): number | undefined;
  /** Why it is behind at the moment; undefined while it is connected. */
  problem(): string | undefined;
  close(): Promise<void>;
}
