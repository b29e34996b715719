import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neutralise, neutraliseJson, neutraliseLine } from '../../src/base/printable.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 200 });
const nasty = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom(
        '\u001b[2J',
        '\u009b31m',
        '\u202e',
        '\u2066',
        '\u200b',
        '\u2028',
        '\u2029',
        '\ufeff',
        '\u061c',
        '\ud800',
        '\r',
      ),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(''));

const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

describe('neutralise', () => {
  it.each([
    ['\u202eevil', '\\u{202e}evil'],
    ['\u001b[31mred', '\\u{1b}[31mred'],
    ['a\rb', 'a\\u{d}b'],
    ['\u007f\u0085', '\\u{7f}\\u{85}'],
    ['\u200e\u200f\u061c\u2066\u2069', '\\u{200e}\\u{200f}\\u{61c}\\u{2066}\\u{2069}'],
    ['\u200b\u2060\ufeff\u2028\u2029', '\\u{200b}\\u{2060}\\u{feff}\\u{2028}\\u{2029}'],
    ['\ud800x\udfff', '\\u{d800}x\\u{dfff}'],
    ['\u{e0041}', '\\u{e0041}'],
  ])('makes %j visible', (given, shown) => {
    expect(neutralise(given)).toBe(shown);
  });

  it('leaves words, emoji, accents, line breaks and tabs as they are', () => {
    const text = 'naïve – 日本語 עברית 😀\n\tline';
    expect(neutralise(text)).toBe(text);
  });

  it('leaves no control character and changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, nasty), (text) => {
        const once = neutralise(text);
        expect(once.replace(/[\n\t]/g, '')).not.toMatch(CONTROL);
        expect(neutralise(once)).toBe(once);
      }),
    );
  });
});

describe('neutraliseLine', () => {
  it('leaves nothing that could start another line', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, nasty), (text) => {
        const once = neutraliseLine(text);
        expect(once).not.toMatch(CONTROL);
        expect(neutraliseLine(once)).toBe(once);
      }),
    );
  });
});

describe('neutraliseJson', () => {
  it('keeps the value and shows nothing unprintable', () => {
    fc.assert(
      fc.property(fc.jsonValue(), nasty, (value, text) => {
        const json = JSON.stringify({ value, text }, null, 2);
        const safe = neutraliseJson(json);
        expect(JSON.parse(safe)).toEqual(JSON.parse(json));
        expect(safe.replaceAll('\n', '')).not.toMatch(CONTROL);
      }),
    );
  });
});
