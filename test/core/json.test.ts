import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compact, parseJson } from '../../src/core/json.ts';

const member = fc.oneof(fc.constant(undefined), fc.constant(null), fc.integer(), fc.string(), fc.object());
const record = fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), member, {
  noNullPrototype: true,
});

describe('compact', () => {
  it('keeps all defined members in order, whatever their names', () => {
    let dropped = 0;
    let kept = 0;
    fc.assert(
      fc.property(record, (value) => {
        const members = Object.entries(value);
        const copy = compact(value);
        expect(Object.entries(copy)).toEqual(members.filter(([, one]) => one !== undefined));
        expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
        kept += Object.keys(copy).length;
        dropped += members.length - Object.keys(copy).length;
      }),
    );
    expect(Math.min(kept, dropped)).toBeGreaterThan(20);
  });

  it('keeps a member called __proto__ (it does not become the prototype)', () => {
    const copy = compact(parseJson('{"__proto__":{"admin":true},"name":"x"}') as object);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"admin":true},"name":"x"}');
    expect((copy as { admin?: boolean }).admin).toBeUndefined();
  });
});
