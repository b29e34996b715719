import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTraces } from '../../src/traces/otlp.ts';
import { contextOf, parseTraceparent, type Span } from '../../src/traces/span.ts';
import { decodeTraces } from '../support/trace-receiver.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('a traceparent header', () => {
  it('names the client’s trace and span, and whether it is sampled', () => {
    expect(parseTraceparent(`00-${TRACE}-${PARENT}-01`)).toEqual({
      traceId: TRACE,
      spanId: PARENT,
      isSampled: true,
    });
    expect(parseTraceparent(`00-${TRACE}-${PARENT}-00`)?.isSampled).toBe(false);
    expect(parseTraceparent(`01-${TRACE}-${PARENT}-01-more`)?.traceId).toBe(TRACE);
  });

  it.each([
    undefined,
    '',
    'nonsense',
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
  ])('that is not valid (%s) is ignored, not guessed', (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});

describe('ids', () => {
  it('are the same for the same turn in every process, and differ between turns and kinds', () => {
    expect(contextOf('turn', 't_1')).toEqual(contextOf('turn', 't_1'));
    expect(contextOf('turn', 't_1').traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(contextOf('turn', 't_1').spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(contextOf('turn', 't_2').spanId).not.toBe(contextOf('turn', 't_1').spanId);
    expect(contextOf('fact', 't_1').spanId).not.toBe(contextOf('turn', 't_1').spanId);
  });
});

describe('OTLP in protobuf', () => {
  const origin = { resource: { 'service.name': 'instar' }, scope: { name: 'instar', version: '1' } };
  const base: Span = {
    ...contextOf('turn', 't_1'),
    name: 'chat m',
    kind: 'client',
    startedAt: 1_700_000_000_123,
    endedAt: 1_700_000_000_456,
    attributes: {},
  };

  it('keeps every kind of value, zero, false and the empty list included', () => {
    const attributes = {
      text: 'Grüezi 👋',
      empty: '',
      zero: 0,
      negative: -7,
      large: 2 ** 53 - 1,
      fraction: 0.25,
      whole: { double: 2 },
      yes: true,
      no: false,
      list: ['a', '', 'ü'],
      none: [],
      left: undefined,
    };
    const { spans, resource } = decodeTraces(encodeTraces(origin, [{ ...base, attributes }]));
    const { left, ...kept } = attributes;
    expect(left).toBeUndefined();
    expect(spans[0]?.attributes).toEqual({ ...kept, whole: 2 });
    expect(resource).toEqual({ 'service.name': 'instar' });
  });

  it('keeps times to the millisecond, the parent, events, links and the error', () => {
    const other = contextOf('turn', 't_2');
    const span: Span = {
      ...base,
      parentSpanId: PARENT,
      events: [{ at: base.endedAt, name: 'seen', attributes: { n: 1 } }],
      links: [other],
      error: 'timeout: late',
    };
    const [read] = decodeTraces(encodeTraces(origin, [span])).spans;
    expect(read).toMatchObject({
      traceId: base.traceId,
      spanId: base.spanId,
      parentSpanId: PARENT,
      startedAt: base.startedAt,
      endedAt: base.endedAt,
      kind: 3,
      events: [{ name: 'seen', attributes: { n: 1 } }],
      links: [other],
      error: 'timeout: late',
    });
  });

  it('reads back whatever texts and numbers it was given', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string({ minLength: 1 }).filter((key) => key !== '__proto__'),
          fc.oneof(
            fc.string({ unit: 'grapheme' }),
            fc.integer(),
            fc.boolean(),
            fc.array(fc.string({ unit: 'grapheme' })),
          ),
        ),
        (attributes) => {
          const { spans } = decodeTraces(encodeTraces(origin, [{ ...base, attributes }]));
          expect(spans[0]?.attributes).toEqual({ ...attributes });
        },
      ),
      { seed: 29, numRuns: 200 },
    );
  });
});
