import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compact, parseJson } from '../../src/core/json.ts';

const member = fc.oneof(fc.constant(undefined), fc.constant(null), fc.integer(), fc.string(), fc.object());
const record = fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), member, {
  noNullPrototype: true,
});

describe('a copy without what is undefined', () => {
  it('has the other members, in their order, whatever they are called', () => {
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

  it('keeps a member that is called __proto__ (and does not become its child)', () => {
    const copy = compact(parseJson('{"__proto__":{"admin":true},"name":"x"}') as object);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"admin":true},"name":"x"}');
    expect((copy as { admin?: boolean }).admin).toBeUndefined();
  });
});
