import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToWidth, textWidth, wrapText } from '../../src/text/text-width.ts';

describe('textWidth', () => {
  it('counts columns of a terminal (not characters)', () => {
    expect(textWidth('abc')).toBe(3);
    expect(textWidth('日本')).toBe(4);
    expect(textWidth('e\u0301')).toBe(1);
    expect(textWidth('👍')).toBe(2);
  });
});

describe('cutToWidth', () => {
  it('keeps every text within its width, and marks a cut', () => {
    expect(cutToWidth('use ISO dates', 8)).toBe('use ISO…');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 40 }), (text, width) => {
        const cut = cutToWidth(text, width);
        expect(textWidth(cut)).toBeLessThanOrEqual(width);
        expect(cut === text || cut.endsWith('…')).toBe(true);
      }),
    );
  });
});

describe('wrapText', () => {
  it('breaks between words only and loses none', () => {
    expect(wrapText('Lessons are written by a model', 12)).toEqual(['Lessons are', 'written by a', 'model']);
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 })), fc.integer({ min: 1, max: 30 }), (words, width) => {
        const text = words.map((word) => word.replaceAll(' ', 'x')).join(' ');
        expect(wrapText(text, width).join(' ')).toBe(text);
      }),
    );
  });
});
