import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonFault } from '../../src/config/json-fault.ts';
import { runsOf } from '../support/counts.ts';

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
    ['{"a": }', 1, 7, 'a value is missing after the colon'],
    ['{"a": , "b": 1}', 1, 7, 'a value is missing after the colon'],
    ['{\n  "a": \n  "b": 2\n}', 2, 6, 'a value is missing after the colon'],
    ['{"a": "b": 2}', 1, 10, '":" is unexpected: expected "," or "}"'],
    ['{"a":', 1, 6, 'a value is missing after the colon'],
    ['{\n  "a": 1,\n}', 2, 9, 'trailing comma: remove the comma before "}"'],
    ['[1,\n 2,\n]', 2, 3, 'trailing comma: remove the comma before "]"'],
    ['{"a": 1,, "b": 2}', 1, 9, 'two commas in a row'],
    ['[1,,2]', 1, 4, 'two commas in a row'],
    ['{,}', 1, 2, 'expected a key, not ","'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected "," or "}": a comma is missing before this'],
    ['["a" "b"]', 1, 6, 'expected "," or "]": a comma is missing before this'],
    ['{"a": 1; "b": 2}', 1, 8, 'expected "," or "}"'],
    ['{ // why\n}', 1, 3, 'comments are not allowed'],
    ['{\n  /* why */\n}', 2, 3, 'comments are not allowed'],
    ['# mine\n{}', 1, 1, 'comments are not allowed'],
    ["{ 'a': 1 }", 1, 3, 'keys need double quotes'],
    ['{ "a": \'b\' }', 1, 8, 'strings need double quotes'],
    ['{ “a”: 1 }', 1, 3, 'keys need double quotes'],
    ['{ a: 1 }', 1, 3, 'keys need double quotes'],
    ['{ "a": 1, b-c: 2 }', 1, 11, 'keys need double quotes'],
    ['{ "a": debug }', 1, 8, 'text needs double quotes'],
    ['{ "a": NaN }', 1, 8, 'NaN is not a JSON value'],
    ['{ "a": -Infinity }', 1, 8, 'Infinity is not a JSON value'],
    ['{ "a": undefined }', 1, 8, 'use null, or remove the key'],
    ['{ "a": None }', 1, 8, 'use null, or remove the key'],
    ['{ "a": True }', 1, 8, 'write true in lower case'],
    ['{ "a": .5 }', 1, 8, 'not a JSON number'],
    ['{ "a": 007 }', 1, 8, 'not a JSON number'],
    ['{ "a": +1 }', 1, 8, 'not a JSON number'],
    ['{ "a" 1 }', 1, 7, 'expected ":"'],
    ['{ "a" = 1 }', 1, 7, 'expected ":"'],
    ['{ "a" }', 1, 7, 'expected ":" and a value after the key'],
    ['[1, 2', 1, 6, '"]" is missing for the "[" of line 1'],
    ['{\n  "a": {\n    "b": 1\n  }\n', 5, 1, '"}" is missing for the "{" of line 1'],
    ['', 1, 1, 'the file is empty'],
    ['{} {}', 1, 4, 'after the end'],
    ['{}\n}', 2, 1, 'after the end'],
    ['{"a": 1,\r\n "a": 2}', 2, 2, 'duplicate key'],
    ['{"__proto__": 1}', 1, 2, 'not allowed'],
    ['{"a": "b\n}', 1, 7, 'string without an end'],
    ['{"a": "C:\\Users"}', 1, 10, 'write \\\\ for a backslash'],
    ['{"a": "b\tc"}', 1, 9, 'a tab inside a string'],
    ['[1}', 1, 3, '"}" is unexpected: expected "]" for the "[" of line 1'],
    ['}', 1, 1, 'nothing is open here'],
    ['{\u00a0"a": 1}', 1, 2, 'an invisible character (U+00A0)'],
    ['{\n\ufeff"a": 1}', 2, 1, 'an invisible character (U+FEFF)'],
  ])('finds the fault in %j at line %i, column %i', (text, line, column, what) => {
    const fault = findJsonFault(text);
    expect(fault?.what).toContain(what);
    expect(fault).toMatchObject({ line, column });
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
          if (fault !== undefined && /duplicate key|key is not allowed/.test(fault.what)) return;
          expect(fault === undefined).toBe(parses(changed));
        },
      ),
      runsOf(330, 1000),
    );
  });
});
