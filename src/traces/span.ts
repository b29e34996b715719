import { createHash } from 'node:crypto';

/** One value of a span; lists have strings only. */
export type SpanValue = string | number | boolean | readonly string[];

/** Members that are undefined are left out. `double` marks a number that stays one with a fraction, whatever its value. */
export type SpanAttributes = Readonly<Record<string, SpanValue | Double | undefined>>;

export interface Double {
  readonly double: number;
}

/** The ids of a span: 32 and 16 hexadecimal digits. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

export interface Span extends SpanContext {
  readonly parentSpanId?: string;
  readonly name: string;
  /** `client`: a call to a model elsewhere. */
  readonly kind: 'internal' | 'client';
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  readonly events?: readonly SpanEvent[];
  readonly links?: readonly SpanContext[];
  /** Present when it failed. */
  readonly error?: string;
}

interface SpanEvent {
  readonly at: number;
  readonly name: string;
  readonly attributes: SpanAttributes;
}

const digest = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);

/** The ids of what has an id of its own, the same in every process: later spans find the span of a turn again. */
export const contextOf = (kind: string, id: string): SpanContext => ({
  traceId: digest(`instar trace ${kind} ${id}`, 32),
  spanId: digest(`instar span ${kind} ${id}`, 16),
});

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

export interface ClientTrace extends SpanContext {
  readonly isSampled: boolean;
}

/** The span that a client's `traceparent` header names (W3C Trace Context); undefined for an absent or invalid one. */
export function parseTraceparent(header: string | undefined): ClientTrace | undefined {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header ?? '') ?? [];
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
