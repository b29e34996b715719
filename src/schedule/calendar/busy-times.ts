/** From `start` up to, not including, `end`, in milliseconds since the epoch. */
export interface BusySpan {
  readonly start: number;
  readonly end: number;
}

export type BusyAnswer =
  /** In order, none touching another, all with a part between the asked times. */
  { readonly ok: true; readonly spans: readonly BusySpan[] } | BusyFailure;

export interface BusyFailure {
  readonly ok: false;
  /** For people. Never holds an address or a credential: both are secrets here. */
  readonly why: string;
  /** Asking again is of no use before a person has mended it: access was withdrawn, the address is gone. */
  readonly isOff: boolean;
  /** How long the server asked us to wait. */
  readonly retryAfterMs?: number;
}

/** One calendar, asked when its owner is busy. Never rejects; stops at the signal. */
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

/** Meetings that overlap or follow one another without a break are one span. */
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
