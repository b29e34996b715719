/** The limits of one server. */
export interface TinkerServerLimits {
  readonly bodyBytes: number;
  /** Queued requests per model, and for all models. Further ones get 429. */
  readonly perModel: number;
  readonly total: number;
  /** Queued sampling requests, and those that run at the same time. */
  readonly samples: number;
  readonly samplesAtOnce: number;
  /** How far ahead of the next sequence number a request may be, and how long it waits for the missing ones. */
  readonly gap: number;
  readonly gapMs: number;
  /** How long a poll for a pending result is held open. */
  readonly pollMs: number;
  /** A larger result is announced by its size first, if the client allows that. */
  readonly inlineBytes: number;
  /** A session without requests for this long is dropped. */
  readonly sessionMs: number;
  /** How often expired sessions, checkpoints and results are removed. */
  readonly sweepMs: number;
  /** A snapshot of a model is written after this many steps, or this many bytes in its journal. */
  readonly snapshotSteps: number;
  readonly journalBytes: number;
  readonly kept: number;
  readonly keptBytes: number;
  readonly readForMs: number;
}

export const DEFAULT_SERVER_LIMITS: TinkerServerLimits = {
  bodyBytes: 64 * 2 ** 20,
  perModel: 256,
  total: 1024,
  samples: 1024,
  samplesAtOnce: 4,
  gap: 1024,
  gapMs: 60_000,
  pollMs: 30_000,
  inlineBytes: 4 * 2 ** 20,
  sessionMs: 300_000,
  sweepMs: 10_000,
  snapshotSteps: 4,
  journalBytes: 64 * 2 ** 20,
  kept: 4096,
  keptBytes: 256 * 2 ** 20,
  readForMs: 600_000,
};
