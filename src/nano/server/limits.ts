/** What one server takes in, keeps and waits for. */
export interface Limits {
  readonly bodyBytes: number;
  /** Requests that wait for one model, and for all of them. One more is answered with 429. */
  readonly perModel: number;
  readonly total: number;
  /** Samplings that wait, and those that run at the same time. */
  readonly samples: number;
  readonly samplesAtOnce: number;
  /** How far ahead of its turn a request may come, and how long it then waits for those before it. */
  readonly gap: number;
  readonly gapMs: number;
  /** How long a client is held that asks for an answer which is not there yet. */
  readonly pollMs: number;
  /** A larger answer is announced first, if the client allows it, so that it can make room. */
  readonly inlineBytes: number;
  /** A session whose client was not heard of for so long is dropped. */
  readonly sessionMs: number;
  /** How often what has run out is looked for. */
  readonly sweepMs: number;
  /** Steps after which a model is written down whole, and bytes of requests after which it is. */
  readonly snapshotSteps: number;
  readonly journalBytes: number;
  readonly kept: number;
  readonly keptBytes: number;
  readonly readForMs: number;
}

export const DEFAULT_LIMITS: Limits = {
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
