import type { Model } from './replies.ts';
import type { Size } from './requests.ts';

/** What the load process is asked to do. */
export interface Order {
  readonly port: number;
  readonly model: Model;
  readonly size: Size;
  readonly headers: Readonly<Record<string, string>>;
  /** Each is one keep-alive connection that sends its next request when it has its reply. */
  readonly connections: number;
  /** The connections are opened evenly over this time. */
  readonly openOverMs: number;
  /** All connections together send no more than this; without it, as many as they can. */
  readonly perSecond?: number;
  /** No request is begun after this time, nor after so many. */
  readonly until: { readonly ms?: number; readonly requests?: number };
  /** Replies have exactly the bytes that the upstream sent. */
  readonly isExact: boolean;
}

export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

export interface Tally {
  readonly requests: number;
  /** Requests without a whole and right reply. */
  readonly lost: number;
  readonly ms: number;
  /** From the request's first byte to the reply's last, in milliseconds. */
  readonly latency: Spread;
  /** From an event's sending at the upstream to its arrival, in milliseconds. */
  readonly lag: Spread;
  /** What went wrong, the first few. */
  readonly faults: readonly string[];
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}
