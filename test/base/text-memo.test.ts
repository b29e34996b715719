import { describe, expect, it } from 'vitest';
import { createTextMemo, memoByText } from '../../src/base/text-memo.ts';

describe('a memo by text', () => {
  it('does not ask again about a text that it was asked about a moment ago', () => {
    let asked = 0;
    const length = memoByText((text) => {
      asked++;
      return { length: text.length };
    });
    expect([length('abc'), length('abc'), length('abcd')]).toEqual([
      { length: 3 },
      { length: 3 },
      { length: 4 },
    ]);
    expect(asked).toBe(2);
  });

  it('holds no more than so many characters, keeps what is used, and takes no text that is too long', () => {
    const memo = createTextMemo<number>(10_000);
    memo.set('x'.repeat(6000), 1);
    expect(memo.get('x'.repeat(6000))).toBeUndefined();
    memo.set('used', 2);
    for (let nth = 0; nth < 50; nth++) {
      memo.set(`${nth} ${'y'.repeat(900)}`, nth);
      expect(memo.get('used')).toBe(2);
    }
    expect(memo.get(`0 ${'y'.repeat(900)}`)).toBeUndefined();
    expect(memo.get(`49 ${'y'.repeat(900)}`)).toBe(49);
  });
});
