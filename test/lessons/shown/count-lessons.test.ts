import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import { isInScope } from '../../../src/lessons/scope.ts';
import { createLessonCounter } from '../../../src/lessons/shown/show-lessons.ts';
import { lesson, query } from '../recall/sample-lessons.ts';

const name = fc.constantFrom('a', 'b', '*', 'a*');
const scope = fc.record({ agent: name, project: name, domain: name }, { requiredKeys: [] });
const shelf = fc
  .array(scope, { maxLength: 12 })
  .map((scopes) => scopes.map((one, at) => lesson(`l${at}`, { scope: one })));

describe('the lesson counter', () => {
  it('counts the lessons in scope, independent of earlier queries', () => {
    let counted = 0;
    fc.assert(
      fc.property(fc.array(shelf, { minLength: 1, maxLength: 4 }), (shelves) => {
        let shown: readonly Lesson[] = [];
        const count = createLessonCounter({ shown: () => shown });
        for (const next of shelves) {
          shown = next;
          for (const agent of ['a', 'b', 'ab', 'a'])
            for (const project of [undefined, 'a']) {
              const asked = query('', { agent, ...(project === undefined ? {} : { project }) });
              const own = next.filter(({ text }) => isInScope(text.scope, asked, undefined));
              expect(count(asked, 0)).toBe(own.length);
              counted += own.length;
            }
        }
      }),
    );
    expect(counted).toBeGreaterThan(100);
  });
});
