import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRingBuffer, type RingSpan } from '../../src/record/writer-messages.ts';
import { runsOf } from '../support/counts.ts';

describe('the ring buffer', () => {
  it('keeps every span unchanged until its release, in any order of puts and releases', () => {
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
          const ring = createRingBuffer(memory);
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
            const isSound = ({ span, fill }: (typeof held)[number]): boolean =>
              new Uint8Array(memory, span.at, span.length).every((byte) => byte === fill);
            if (!held.every(isSound)) throw new Error('a span was overwritten');
          }
        },
      ),
      runsOf(70, 200),
    );
    expect(puts).toBeGreaterThan(2000);
    expect(full).toBeGreaterThan(200);
  });

  it('restarts at its beginning when it is empty (so that little memory is touched under low load)', () => {
    const ring = createRingBuffer(new SharedArrayBuffer(1024));
    for (let n = 0; n < 50; n++) {
      const span = ring.put([new Uint8Array(100)], 100);
      expect(span?.at).toBe(0);
      ring.release(span?.taken ?? 0);
    }
  });
});
