import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clip, truncateEnd, truncateMiddle, truncateMiddleBytes } from '../../src/text/truncate.ts';
import { runsOf } from '../support/counts.ts';

const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', 'é', '😀', '👩‍💻'), maxLength: 60 });
const limit = fc.integer({ min: 1, max: 60 });
const LONE_SURROGATE = /\p{Surrogate}/u;

describe('truncated text', () => {
  it('fits, keeps the beginning and ends with a whole character', () => {
    fc.assert(
      fc.property(text, limit, (whole, most) => {
        for (const short of [clip(whole, most), truncateEnd(whole, most)]) {
          expect(short.length).toBeLessThanOrEqual(most);
          if (whole.length > most) expect(whole.startsWith(short.slice(0, -1))).toBe(true);
          else expect(short).toBe(whole);
          expect(short).not.toMatch(LONE_SURROGATE);
        }
      }),
      runsOf(100, 300),
    );
  });

  it('ends at a blank in the second half (not in the middle of a word), else wherever the limit is', () => {
    expect(truncateEnd('one two three four', 12)).toBe('one two…');
    expect(truncateEnd('a bcdefghijklmnop', 12)).toBe('a bcdefghij…');
    expect(clip('one two three four', 12)).toBe('one two thr…');
  });
});

describe('text without its middle', () => {
  it('keeps the beginning and the end, counts the rest, and never halves a character', () => {
    const longer = text.filter((whole) => whole !== '');
    fc.assert(
      fc.property(longer, fc.double({ min: 0, max: 0.99, noNaN: true }), (whole, share) => {
        const most = Math.floor(share * whole.length);
        const gap = (left: number, length: number) => `[${left} of ${length}]`;
        expect(truncateMiddle(whole, whole.length, { gap })).toBe(whole);
        const short = truncateMiddle(whole, most, { gap });
        const [note = '', left, all] = /\n\[(\d+) of (\d+)\]\n/.exec(short) ?? [];
        const [head = '', tail = ''] = short.split(note);
        expect(Number(all)).toBe(whole.length);
        expect(head.length + Number(left) + tail.length).toBe(whole.length);
        expect(head.length + tail.length).toBeLessThanOrEqual(most);
        expect(head.length + tail.length).toBeGreaterThanOrEqual(most - 2);
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        expect(short).not.toMatch(LONE_SURROGATE);
      }),
      runsOf(100, 300),
    );
  });

  it('takes more from the end by default (errors are printed last), or the share that is asked for', () => {
    const digits = '0123456789'.repeat(2);
    expect(truncateMiddle(digits, 10)).toBe('0123\n[… 10 characters left out …]\n456789');
    expect(truncateMiddle(digits, 10, { headShare: 0.5 })).toBe('01234\n[… 10 characters left out …]\n56789');
  });

  it('fits a limit in bytes, the note included', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 200 }), (short, most) => {
        const whole = short.repeat(4);
        expect(Buffer.byteLength(truncateMiddleBytes(whole, most))).toBeLessThanOrEqual(most);
      }),
      runsOf(100, 300),
    );
  });
});
