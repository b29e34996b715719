import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteRing, type RingSpan } from '../../src/app/recording/byte-ring.ts';

describe('the ring of bytes', () => {
  it('gives back what was put in until it is released, whatever came between', () => {
    let puts = 0;
    let full = 0;
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            { weight: 3, arbitrary: fc.integer({ min: 0, max: 70 }) },
            fc.constant('release' as const),
          ),
          {
            minLength: 60,
            maxLength: 200,
          },
        ),
        (steps) => {
          const memory = new SharedArrayBuffer(256);
          const ring = createByteRing(memory);
          const held: { span: RingSpan; fill: number }[] = [];
          let next = 1;
          for (const step of steps) {
            if (step === 'release') {
              const first = held.shift();
              if (first !== undefined) ring.release(first.span.taken);
            } else {
              const fill = (next++ % 255) + 1;
              const piece = new Uint8Array(step).fill(fill);
              const half = step >> 1;
              const span = ring.put([piece.subarray(0, half), piece.subarray(half)], step);
              if (span === undefined) full++;
              else {
                puts++;
                held.push({ span, fill });
              }
            }
            for (const { span, fill } of held)
              expect(new Uint8Array(memory, span.at, span.length).every((byte) => byte === fill)).toBe(true);
          }
        },
      ),
      { numRuns: 500 },
    );
    expect(puts).toBeGreaterThan(5000);
    expect(full).toBeGreaterThan(500);
  });

  it('begins at its beginning again when nothing is held: in calm times little memory is touched', () => {
    const ring = createByteRing(new SharedArrayBuffer(1024));
    for (let n = 0; n < 50; n++) {
      const span = ring.put([new Uint8Array(100)], 100);
      expect(span?.at).toBe(0);
      ring.release(span?.taken ?? 0);
    }
  });
});
