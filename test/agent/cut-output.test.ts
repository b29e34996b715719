import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutOutput } from '../../src/agent/cut-output.ts';

describe('output that is cut', () => {
  it('keeps how it began and how it ended, counts the rest, and never halves a character', () => {
    let cuts = 0;
    const text = fc.string({ unit: fc.constantFrom('a', '\n', 'é', '😀', '👩‍💻'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 60 }), (whole, most) => {
        const shown = cutOutput(whole, most);
        if (whole.length <= most) {
          expect(shown).toBe(whole);
          return;
        }
        cuts++;
        const gap = /\n\[\.\.\. (\d+) of (\d+) characters left out \.\.\.\]\n/.exec(shown);
        const [note = '', left, all] = gap ?? [];
        const [head = '', tail = ''] = shown.split(note);
        expect(Number(all)).toBe(whole.length);
        expect(head.length + Number(left) + tail.length).toBe(whole.length);
        expect(head.length + tail.length).toBeLessThanOrEqual(most + 1);
        expect(head.length + tail.length).toBeGreaterThanOrEqual(most - 2);
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        expect(Buffer.from(shown).toString()).toBe(shown);
      }),
      { numRuns: 500 },
    );
    expect(cuts).toBeGreaterThan(100);
  });
});
