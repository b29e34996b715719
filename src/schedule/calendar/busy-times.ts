/** From `start` up to, not including, `end`, in milliseconds since the epoch. */
export interface BusySpan {
  readonly start: number;
  readonly end: number;
}

export type BusyAnswer =
  /** In order, not overlapping or adjacent, each at least partly within the requested times. */
  { readonly ok: true; readonly spans: readonly BusySpan[] } | BusyFailure;

export interface BusyFailure {
  readonly ok: false;
  /** For people. Never contains an address or a credential: both are secrets here. */
  readonly why: string;
  /** Retrying is useless until a person fixes it: access was revoked, or the address is gone. */
  readonly isOff: boolean;
  /** The server's `Retry-After`. */
  readonly retryAfterMs?: number;
}

/** Reads one calendar's busy times. Never rejects; stops at the signal. */
export interface BusyTimes {
  readonly name: string;
  busy(from: number, to: number, signal: AbortSignal): Promise<BusyAnswer>;
}

export const busyFailure = (why: string, isOff = false, retryAfterMs?: number): BusyFailure => ({
  ok: false,
  why,
  isOff,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

/** Merges meetings that overlap or follow each other without a break. */
export function mergeSpans(spans: readonly BusySpan[], from: number, to: number): readonly BusySpan[] {
  const merged: BusySpan[] = [];
  const within = spans.filter(({ start, end }) => end > start && end > from && start < to);
  for (const span of within.sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last === undefined || span.start > last.end) merged.push({ start: span.start, end: span.end });
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
  }
  return merged;
}
