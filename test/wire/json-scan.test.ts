import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  eachElement,
  eachMember,
  equalsText,
  readString,
  skipSpace,
  skipValue,
  viewBytes,
} from '../../src/wire/json-scan.ts';
import { anyMember, anyTree, type JsonTree, text, writeJsonText } from './json-text.ts';
import { createRandom } from './random.ts';

const write = (tree: JsonTree, seed: number): string => writeJsonText(tree, createRandom(seed)).trim();
const parse = (bytes: Buffer, start: number, end: number): unknown =>
  JSON.parse(bytes.toString('utf8', start, end));

describe('scan', () => {
  it('finds the end of any value, whatever surrounds it', () => {
    fc.assert(
      fc.property(
        anyTree,
        fc.nat(),
        text,
        fc.constantFrom('', ',', ']', '}', ' ', '\n,"x"'),
        (tree, seed, before, after) => {
          const value = write(tree, seed);
          const bytes = Buffer.from(`${before}${value}${after}`);
          const at = Buffer.byteLength(before);
          expect(skipValue(bytes, at)).toBe(at + Buffer.byteLength(value));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('visits every member in order, a repeated key each time', () => {
    fc.assert(
      fc.property(fc.array(anyMember, { maxLength: 6 }), fc.nat(), (object, seed) => {
        const bytes = Buffer.from(write({ object }, seed));
        const seen: unknown[] = [];
        const end = eachMember(bytes, 0, (key, at) => {
          const valueEnd = skipValue(bytes, at);
          seen.push([readString(bytes, key), parse(bytes, at, valueEnd)]);
          return valueEnd;
        });
        expect(end).toBe(bytes.length);
        expect(seen).toStrictEqual(object.map(([key, value]) => [key, JSON.parse(write(value, 0))]));
      }),
      { numRuns: 1_000 },
    );
  });

  it('visits every element in order', () => {
    fc.assert(
      fc.property(fc.array(anyTree, { maxLength: 6 }), fc.nat(), (array, seed) => {
        const bytes = Buffer.from(write({ array }, seed));
        const seen: unknown[] = [];
        const end = eachElement(bytes, 0, (at) => {
          const valueEnd = skipValue(bytes, at);
          seen.push(parse(bytes, at, valueEnd));
          return valueEnd;
        });
        expect(end).toBe(bytes.length);
        expect(seen).toStrictEqual(array.map((value) => JSON.parse(write(value, 0))));
      }),
      { numRuns: 1_000 },
    );
  });

  it('reads a string as JSON.parse does, and nothing else as a string', () => {
    fc.assert(
      fc.property(anyTree, fc.nat(), (tree, seed) => {
        const bytes = Buffer.from(write(tree, seed));
        const value: unknown = JSON.parse(bytes.toString());
        expect(readString(bytes, [0, bytes.length])).toBe(typeof value === 'string' ? value : undefined);
      }),
      { numRuns: 1_000 },
    );
    expect(readString(Buffer.from('"\\x"'), [0, 4])).toBeUndefined();
  });

  it('recognises a text in any spelling, and no other text', () => {
    const name = fc.constantFrom('model', 'role', 'type', 'a');
    const value = fc.oneof(
      name,
      fc.tuple(name, text).map((both) => both.join('')),
      text,
    );
    let hits = 0;
    fc.assert(
      fc.property(value, name, fc.nat(), (string, wanted, seed) => {
        const bytes = Buffer.from(write({ string }, seed));
        if (string === wanted) hits++;
        expect(equalsText(bytes, [0, bytes.length], wanted)).toBe(string === wanted);
      }),
      { numRuns: 2_000 },
    );
    expect(hits).toBeGreaterThan(100);
    expect(equalsText(Buffer.from('[1,2]'), [0, 5], '1,2')).toBe(false);
  });

  it('returns -1 or an end inside the bytes for random bytes, and never throws', () => {
    const alphabet = Buffer.from('"\\{}[],: 0te\n\u00e9');
    const random = createRandom(11);
    let ends = 0;
    for (let run = 0; run < 50_000; run++) {
      const bytes = Buffer.alloc(Math.floor(random() * 24));
      for (let i = 0; i < bytes.length; i++) bytes[i] = alphabet[Math.floor(random() * alphabet.length)] ?? 0;
      const skip = (at: number) => skipValue(bytes, at);
      for (const end of [
        skip(0),
        eachMember(bytes, 0, (_key, at) => skip(at)),
        eachElement(bytes, 0, skip),
      ]) {
        if (end !== -1) ends++;
        if (end !== -1 && (end < 1 || end > bytes.length)) throw new Error(`run ${run}: ${end} in ${bytes}`);
      }
    }
    expect(ends).toBeGreaterThan(1_000);
  });

  it.each(['', ' ', ',', ']', '}', ':', '"', '"\\"', '[', '{"a"', '["]"', '\ufeff1'])(
    'finds no value in %j',
    (bytes) => {
      expect(skipValue(Buffer.from(bytes), 0)).toBe(-1);
    },
  );

  it('skips only the four white-space bytes of JSON (not a no-break space)', () => {
    expect(skipSpace(Buffer.from(' \t\r\n\u00a0'), 0)).toBe(4);
    expect(skipSpace(Buffer.from('\v'), 0)).toBe(0);
  });

  it('views memory without a copy', () => {
    const memory = new Uint8Array([1, 2, 3, 4]);
    const view = viewBytes(memory.subarray(1, 3));
    memory[1] = 9;
    expect([...view]).toEqual([9, 3]);
  });
});
