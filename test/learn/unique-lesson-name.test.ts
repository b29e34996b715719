import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uniqueLessonName } from '../../src/learn/draft-lesson.ts';

describe('a unique lesson name', () => {
  it('is the given name if unused, else numbered, however many lessons have it', () => {
    const taken = new Set<string>();
    for (let count = 0; count < 300; count++) taken.add(uniqueLessonName('unit-amount-client', taken));
    expect(taken.size).toBe(300);
    expect([...taken].slice(0, 3)).toEqual([
      'unit-amount-client',
      'unit-amount-client-2',
      'unit-amount-client-3',
    ]);
    expect(taken).toContain('unit-amount-client-300');
  });

  it('is unused, valid and within the length limit', () => {
    const slug = fc
      .stringMatching(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      .filter(({ length }) => length > 0 && length <= 64);
    fc.assert(
      fc.property(slug, fc.integer({ min: 0, max: 30 }), (name, times) => {
        const taken = new Set<string>();
        for (let count = 0; count <= times; count++) {
          const free = uniqueLessonName(name, taken);
          expect(taken.has(free)).toBe(false);
          expect(free).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
          expect(free.length).toBeLessThanOrEqual(64);
          taken.add(free);
        }
      }),
    );
  });
});
