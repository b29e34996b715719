import { createProtobufWriter } from '../base/protobuf.ts';
import type { Span, SpanAttributes, SpanContext, SpanValue } from './span.ts';

/** Where spans come from: `service.name` and the like, and the name and version of what made them. */
interface SpanOrigin {
  readonly resource: SpanAttributes;
  readonly scope: { readonly name: string; readonly version: string };
}

const KINDS = { internal: 1, client: 3 } as const;
const ERROR = 2;

/**
 * An ExportTraceServiceRequest of OTLP 1.x in protobuf, the encoding that every receiver of OTLP over HTTP accepts. The numbers
 * are those of opentelemetry-proto: trace.proto, common.proto, resource.proto.
 */
export function encodeTraces({ resource, scope }: SpanOrigin, spans: readonly Span[]): Uint8Array {
  const request = createProtobufWriter();
  const resourceSpans = createProtobufWriter();
  const described = createProtobufWriter();
  writeAttributes(described, 1, resource);
  resourceSpans.message(1, described.finish());
  const scopeSpans = createProtobufWriter();
  const instrumentation = createProtobufWriter();
  instrumentation.text(1, scope.name);
  instrumentation.text(2, scope.version);
  scopeSpans.message(1, instrumentation.finish());
  for (const span of spans) scopeSpans.message(2, encodeSpan(span));
  resourceSpans.message(2, scopeSpans.finish());
  request.message(1, resourceSpans.finish());
  return request.finish();
}

type Writer = ReturnType<typeof createProtobufWriter>;

function encodeSpan(span: Span): Uint8Array {
  const { name, kind, startedAt, endedAt, attributes, events = [], links = [], error } = span;
  const writer = createProtobufWriter();
  writer.bytes(1, fromHex(span.traceId));
  writer.bytes(2, fromHex(span.spanId));
  if (span.parentSpanId !== undefined) writer.bytes(4, fromHex(span.parentSpanId));
  writer.text(5, name);
  writer.integer(6, KINDS[kind]);
  writer.fixed64(7, toNanoseconds(startedAt));
  writer.fixed64(8, toNanoseconds(endedAt));
  writeAttributes(writer, 9, attributes);
  for (const event of events) {
    const inner = createProtobufWriter();
    inner.fixed64(1, toNanoseconds(event.at));
    inner.text(2, event.name);
    writeAttributes(inner, 3, event.attributes);
    writer.message(11, inner.finish());
  }
  for (const link of links) writer.message(13, encodeLink(link));
  if (error !== undefined) {
    const status = createProtobufWriter();
    status.text(2, error);
    status.integer(3, ERROR);
    writer.message(15, status.finish());
  }
  return writer.finish();
}

function encodeLink({ traceId, spanId }: SpanContext): Uint8Array {
  const writer = createProtobufWriter();
  writer.bytes(1, fromHex(traceId));
  writer.bytes(2, fromHex(spanId));
  return writer.finish();
}

function writeAttributes(writer: Writer, field: number, attributes: SpanAttributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    const entry = createProtobufWriter();
    entry.text(1, key);
    entry.message(2, encodeValue(value));
    writer.message(field, entry.finish());
  }
}

/** AnyValue: a oneof, so that members are written even when they have their default. */
function encodeValue(value: SpanValue | { readonly double: number }): Uint8Array {
  const writer = createProtobufWriter();
  if (typeof value === 'string') writer.message(1, Buffer.from(value, 'utf8'));
  else if (typeof value === 'boolean') writer.present(2, value ? 1 : 0);
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) writer.present(3, value);
    else writer.double(4, value);
  } else if ('double' in value) writer.double(4, value.double);
  else {
    const list = createProtobufWriter();
    for (const member of value) list.message(1, encodeValue(member));
    writer.message(5, list.finish());
  }
  return writer.finish();
}

const fromHex = (digits: string): Uint8Array => Buffer.from(digits, 'hex');

/** Times have a fraction of a millisecond at most; nanoseconds as a number would be rounded. */
const toNanoseconds = (milliseconds: number): bigint => BigInt(Math.round(milliseconds * 1000)) * 1000n;
