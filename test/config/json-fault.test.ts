import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonFault } from '../../src/config/json-fault.ts';

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('findJsonFault', () => {
  it.each([
    ['{\n  "a": 1,\n}', 3, 1, 'trailing comma'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected ","'],
    ['{ // why\n}', 1, 3, 'comments are not allowed'],
    ["{ 'a': 1 }", 1, 3, 'double quotes'],
    ['{ a: 1 }', 1, 3, 'unexpected character'],
    ['{ "a" 1 }', 1, 7, 'expected ":"'],
    ['[1, 2', 1, 6, 'ends too early'],
    ['', 1, 1, 'ends too early'],
    ['{} {}', 1, 4, 'after the end'],
    ['{"a": 1,\r\n "a": 2}', 2, 2, 'duplicate key'],
    ['{"__proto__": 1}', 1, 2, 'not allowed'],
    ['"a\nb"', 1, 1, 'without an end'],
    ['[1}', 1, 3, 'is unexpected'],
  ])('finds the fault in %j at line %i, column %i', (text, line, column, what) => {
    const fault = findJsonFault(text);
    expect(fault).toMatchObject({ line, column });
    expect(fault?.what).toContain(what);
  });

  it('does not repeat the text, which may contain a secret', () => {
    expect(findJsonFault('{"key": sk-secret}')?.what).not.toContain('sk-');
  });

  it('rejects nesting that JSON.parse would accept', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(findJsonFault(deep)?.what).toContain('deep');
  });

  it('reads a megabyte of text in one string', () => {
    const long = 'x'.repeat(1_000_000);
    expect(findJsonFault(`{"a":"${long}"}`)).toBeUndefined();
    expect(findJsonFault(`"${long}`)?.what).toContain('without an end');
  });

  it('finds no fault in what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(0, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        if (!text.includes('"__proto__"')) expect(findJsonFault(text)).toBeUndefined();
      }),
    );
  });

  it('agrees with JSON.parse on text with one character changed', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 3 }),
        fc.nat(),
        fc.oneof(
          fc.constantFrom('', ',', '}', ']', '{', '[', '"', ':', '0', '-', 'e', '\\', ' ', '\n'),
          fc.string({ maxLength: 2 }),
        ),
        (value, seed, put) => {
          const text = JSON.stringify(value);
          const at = seed % (text.length + 1);
          const changed = text.slice(0, at) + put + text.slice(at + 1);
          const fault = findJsonFault(changed);
          // These two are told before anything that may be wrong further on.
          if (fault !== undefined && /duplicate key|not allowed/.test(fault.what)) return;
          expect(fault === undefined).toBe(parses(changed));
        },
      ),
      { numRuns: 1000 },
    );
  });
});
