import type { Model } from './replies.ts';
import type { Size } from './requests.ts';

/** A job for the load process. */
export interface Order {
  readonly port: number;
  readonly model: Model;
  readonly size: Size;
  readonly headers: Readonly<Record<string, string>>;
  /** Keep-alive connections; each sends its next request after the reply. */
  readonly connections: number;
  /** The connections are opened evenly over this time. */
  readonly openOverMs: number;
  /** Rate limit of all connections together; without it they send as fast as they can. */
  readonly perSecond?: number;
  /** No request starts after this time or this number of requests. */
  readonly until: { readonly ms?: number; readonly requests?: number };
  /** Whether replies must be byte-identical to the upstream's. */
  readonly isExact: boolean;
}

export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

export interface Tally {
  readonly requests: number;
  /** Requests without a complete and correct reply. */
  readonly lost: number;
  readonly ms: number;
  /** From the request's first byte to the reply's last, in milliseconds. */
  readonly latency: Spread;
  /** From sending an event at the upstream to its arrival, in milliseconds. */
  readonly lag: Spread;
  /** The first few errors. */
  readonly faults: readonly string[];
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}
