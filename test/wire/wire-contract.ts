import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/chat.ts';
import { createFailure, type FailureKind } from '../../src/core/failure.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { type SseEvent, type Wire, WireError } from '../../src/core/wire.ts';
import { createSseDecoder } from '../../src/wire/sse.ts';
import { chatRequests, grammarFault, joined, type Loss, replies } from './arbitraries.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

export function readStream(wire: Wire, text: string): ChatEvent[] {
  const decoder = wire.createStreamDecoder();
  const sse = createSseDecoder();
  return [...sse.push(bytes(text)).flatMap((event) => decoder.decode(event)), ...decoder.end()];
}

export function writeStream(wire: Wire, events: readonly ChatEvent[]): string {
  const encoder = wire.createStreamEncoder();
  return events.map((event) => encoder.encode(event)).join('');
}

const KINDS: readonly FailureKind[] = [
  'bad-request',
  'unauthorized',
  'forbidden',
  'not-found',
  'too-large',
  'rate-limited',
  'overloaded',
  'upstream-error',
  'timeout',
];

/** The laws of every wire; `losses` names what its format cannot express. */
export function describeWire(wire: Wire, losses: ReadonlySet<Loss>): void {
  describe(`the ${wire.name} wire`, () => {
    it('decodes every request that it encodes to the same request', () => {
      fc.assert(
        fc.property(chatRequests(losses), (request) => {
          const body = JSON.parse(JSON.stringify(wire.encodeRequest(request))) as JsonObject;
          expect(wire.decodeRequest(body)).toEqual(request);
        }),
        { numRuns: 200 },
      );
    });

    it('decodes every streamed reply that it encodes to the same events', () => {
      fc.assert(
        fc.property(replies(losses), (events) => {
          const decoded = readStream(wire, writeStream(wire, events));
          expect(grammarFault(decoded)).toBeUndefined();
          expect(joined(decoded)).toEqual(joined(events));
        }),
        { numRuns: 200 },
      );
    });

    it('decodes every complete reply that it encodes to the same events', () => {
      fc.assert(
        fc.property(replies(losses), (events) => {
          const body = JSON.parse(JSON.stringify(wire.encodeReply(events))) as JsonObject;
          expect(joined(wire.decodeReply(body))).toEqual(joined(events));
        }),
        { numRuns: 200 },
      );
    });

    it('reports a stream that breaks off anywhere as truncated (not complete)', () => {
      let cuts = 0;
      fc.assert(
        fc.property(replies(losses), fc.double({ min: 0, max: 1, noNaN: true }), (events, where) => {
          const open = writeStream(wire, events.slice(0, -1));
          const decoded = readStream(wire, open.slice(0, Math.floor(open.length * where)));
          expect(grammarFault(decoded)).toBeUndefined();
          const last = decoded.at(-1);
          expect(last?.type === 'failure' && last.failure.kind).toBe('truncated');
          cuts++;
        }),
        { numRuns: 150 },
      );
      expect(cuts).toBeGreaterThan(100);
    });

    it('keeps a failure’s kind, status and message, as a body and inside a stream', () => {
      fc.assert(
        fc.property(
          fc.constantFrom(...KINDS),
          fc.string({ minLength: 1 }),
          replies(losses),
          (kind, message, events) => {
            const failure = createFailure(kind, message);
            const read = wire.decodeFailure(failure.status, JSON.stringify(wire.encodeFailure(failure)));
            expect(read).toMatchObject({ kind, status: failure.status, message });
            const cut = [...events.slice(0, -1), { type: 'failure' as const, failure }];
            const decoded = readStream(wire, writeStream(wire, cut));
            expect(grammarFault(decoded)).toBeUndefined();
            expect(decoded.at(-1)).toMatchObject({ type: 'failure', failure: { message } });
            const late = readStream(
              wire,
              writeStream(wire, events.slice(0, -1)) + wire.encodeStreamFailure(failure),
            );
            expect(late.at(-1)).toMatchObject({ type: 'failure', failure: { message } });
          },
        ),
        { numRuns: 150 },
      );
    });

    it('turns an error body that is not JSON into a failure with its status', () => {
      const failure = wire.decodeFailure(
        502,
        '<html><body><h1>502 Bad Gateway</h1>\u001b[31m nginx</body></html>',
      );
      expect(failure).toMatchObject({ kind: 'upstream-error', status: 502 });
      expect(failure.message).toContain('502 Bad Gateway');
      expect(['<', '>', '\u001b'].filter((mark) => failure.message.includes(mark))).toEqual([]);
    });

    it('refuses an invalid request with a WireError (and throws nothing else)', () => {
      let refused = 0;
      const members = fc.constantFrom(
        'model',
        'messages',
        'input',
        'system',
        'tools',
        'tool_choice',
        'content',
        'role',
      );
      fc.assert(
        fc.property(
          fc.dictionary(fc.oneof(members, fc.string()), fc.jsonValue({ depthSize: 'medium' }), {
            maxKeys: 8,
          }),
          (body) => {
            try {
              wire.decodeRequest(body as JsonObject);
            } catch (error) {
              expect(error).toBeInstanceOf(WireError);
              refused++;
            }
          },
        ),
        { numRuns: 600 },
      );
      expect(refused).toBeGreaterThan(100);
    });

    it('keeps the grammar of ChatEvent for any stream and any reply', () => {
      const valid = fc.array(replies(losses), { minLength: 1, maxLength: 2 }).map((list) => {
        const text = list.map((events) => writeStream(wire, events)).join('');
        return createSseDecoder().push(bytes(text)) as SseEvent[];
      });
      const junk = fc.record({
        event: fc.option(fc.string(), { nil: undefined }),
        data: fc.oneof(
          fc.string(),
          fc.constantFrom('[DONE]', 'null', '{}', '[]'),
          fc.jsonValue().map((value) => JSON.stringify(value)),
        ),
      });
      fc.assert(
        fc.property(
          fc.oneof(valid, fc.constant([] as SseEvent[])),
          fc.array(junk),
          fc.infiniteStream(fc.nat(100)),
          (good, bad, dice) => {
            const events = [...good, ...bad].map((event) => ({ event, at: dice.next().value as number }));
            const decoder = wire.createStreamDecoder();
            const decoded = events
              .sort((a, b) => a.at - b.at)
              .flatMap(({ event }) => decoder.decode(event))
              .concat(decoder.end());
            expect(grammarFault(decoded)).toBeUndefined();
          },
        ),
        { numRuns: 250 },
      );
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
          expect(grammarFault(wire.decodeReply(body as JsonObject))).toBeUndefined();
        }),
        { numRuns: 250 },
      );
    });
  });
}
