import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { findMember, removeMember, setMember } from '../../src/text/json-edit.ts';
import { type Dialect, parseJsonText, plainValue } from '../../src/text/json-text.ts';
import { runsOf } from '../support/counts.ts';

const value = (text: string, dialect: Dialect = 'jsonc') => plainValue(text, parseJsonText(text, dialect));

describe('parseJsonText', () => {
  it('accepts as plain JSON exactly what JSON.parse accepts', () => {
    const mutated = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', '}', '"', '0', ' ', '\\', '/', '\u00a0', '\n', '-'),
      )
      .map(([text, at, part]) => {
        const cut = at % (text.length + 1);
        return text.slice(0, cut) + part + text.slice(cut + (at % 2));
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), mutated), (text) => {
        const accepts = (parse: () => unknown): boolean => {
          try {
            parse();
            return true;
          } catch {
            return false;
          }
        };
        expect(accepts(() => parseJsonText(text, 'json'))).toBe(accepts(() => JSON.parse(text)));
      }),
      runsOf(330, 1000),
    );
  });

  it.each([
    ['{ a: 1, \'b\': 0x1F, c: +Infinity, "d": .5, }', 'json5'],
    ['{ "a": 1, /* x */ "b": [1, 2,], // y\n}', 'jsonc'],
  ] as const)('takes %s as %s', (text, dialect) => {
    expect(() => parseJsonText(text, dialect)).not.toThrow();
    expect(() => parseJsonText(text, 'json')).toThrow();
  });

  it('reports the line of a syntax error', () => {
    expect(() => parseJsonText('{\n  "a": 1\n  "b": 2\n}', 'json')).toThrow('line 3: "," or "}" is missing');
  });
});

/** JSON as people keep it: indented or not, with a comment behind every line or with none. */
const written = fc
  .tuple(
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
    fc.constantFrom(0, 1, 2, 4, '\t'),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
  )
  .map(([object, indent, newline, isNoted]) => {
    const lines = JSON.stringify(object, null, indent).split('\n');
    const notes = isNoted ? lines.map((_, index) => ` // note ${index}.`) : [];
    return { text: lines.map((line, index) => line + (notes[index] ?? '')).join(newline), notes };
  });

const path = fc.array(fc.constantFrom('env', 'a', 'models', 'instar', '', '"', '__proto__'), {
  minLength: 1,
  maxLength: 3,
});

describe('setMember', () => {
  it('sets that member and leaves every other value and every comment as it was', () => {
    fc.assert(
      fc.property(written, path, fc.jsonValue({ maxDepth: 2 }), ({ text, notes }, where, given) => {
        const root = parseJsonText(text, 'jsonc');
        const { depth } = findMember(root, where);
        const parent = findMember(root, where.slice(0, depth)).node;
        fc.pre(depth === where.length || parent?.kind === 'object');
        const isInNotes = depth === where.length;
        const next = setMember(text, where, given as Json, 'jsonc');
        const { node } = findMember(parseJsonText(next, 'jsonc'), where);
        expect(node && plainValue(next, node)).toEqual(value(JSON.stringify(given)));
        // A value that is replaced takes the comments inside it with it.
        if (!isInNotes) for (const note of notes) expect(next).toContain(note);
        if (depth < where.length) {
          const without = removeMember(next, where.slice(0, depth + 1), 'jsonc');
          expect(value(without)).toEqual(value(text));
        }
      }),
      runsOf(100, 300),
    );
  });

  it.each([
    ['{}', '{\n  "x": 1\n}'],
    ['{ }\n', '{\n  "x": 1\n}\n'],
    ['{"a":1}', '{"a":1,"x":1}'],
    ['{ "a": 1 }', '{ "a": 1, "x": 1 }'],
    ['{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"x": 1\n}'],
    ['{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "x": 1\r\n}\r\n'],
    ['{\n  "a": 1 // one\n}', '{\n  "a": 1, // one\n  "x": 1\n}'],
    ['{\n  "a": 1, // one\n  // end\n}', '{\n  "a": 1, // one\n  "x": 1\n  // end\n}'],
    ['{ // nothing yet\n}', '{\n  "x": 1 // nothing yet\n}'],
  ])('puts a member into %j as its owner would', (text, expected) => {
    expect(setMember(text, ['x'], 1, 'jsonc')).toBe(expected);
  });
});

describe('removeMember', () => {
  it.each([
    ['{\n  "x": 1\n}', '{}'],
    ['{\n  "x": 1,\n  "a": 2\n}', '{\n  "a": 2\n}'],
    ['{\n  "a": 2, // two\n  "x": 1\n}', '{\n  "a": 2 // two\n}'],
    ['{\n  "a": 2,\n  "x": 1,\n}', '{\n  "a": 2,\n}'],
    ['{ "a": 2, "x": 1 }', '{ "a": 2 }'],
    ['{ "a": 2 }', '{ "a": 2 }'],
  ])('takes a member out of %j with its comma', (text, expected) => {
    expect(removeMember(text, ['x'], 'jsonc')).toBe(expected);
  });
});
