import type { BenchModel, Size } from './traffic.ts';

/** A job for the load process. */
export interface LoadOrder {
  readonly port: number;
  readonly model: BenchModel;
  readonly size: Size;
  /** Where chat requests go; the usual place when absent. */
  readonly path?: string;
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

interface Spread {
  readonly p50: number;
  readonly p99: number;
}

export interface LoadResult {
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

export function median(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Half the range as a share of the median: how much rounds disagree. */
export const halfRange = (values: readonly number[]): number =>
  (Math.max(...values) - Math.min(...values)) / 2 / median(values);

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
