import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import type { StoredFact } from '../../../src/core/fact.ts';
import type { Author, Lesson } from '../../../src/core/lesson.ts';
import { StoreError } from '../../../src/core/store.ts';
import { createLessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import { judgeEffect } from '../../../src/lessons/effect/measure-effect.ts';
import { retireHarmful } from '../../../src/lessons/effect/retire-harmful.ts';
import { openLibrary } from '../../../src/lessons/library.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { lessonOf, scored, textOf } from './sample-lessons.ts';

const INSTAR: Author = { kind: 'instar', name: 'measured effect' };
const PERSON: Author = { kind: 'person', name: 'person' };

/** Sessions with a score of 0.2 with the lesson and 0.9 without it. */
const harm = (lesson: string, from = 1): readonly StoredFact[] =>
  Array.from({ length: 90 }, (_, at) =>
    at % 3 === 0
      ? scored(from + at, `${lesson}${from + at}`, 0.9, [], [lesson])
      : scored(from + at, `${lesson}${from + at}`, 0.2, [lesson]),
  );

const measured = (...lessons: readonly string[]) => {
  const effects = createLessonEffects();
  for (const [at, lesson] of lessons.entries())
    for (const fact of harm(lesson, at * 100 + 1)) effects.add(fact);
  return effects;
};

const shelf = (...lessons: readonly Lesson[]) => ({ lessons: () => lessons, history: () => [] });

describe('judgeEffect', () => {
  it('gives a verdict only when zero is outside of the interval', () => {
    expect(judgeEffect({ low: -0.4, high: -0.01 })).toBe('harmful');
    expect(judgeEffect({ low: 0.01, high: 0.4 })).toBe('helpful');
    expect(judgeEffect({ low: -0.4, high: 0 })).toBe('unknown');
    expect(judgeEffect({ low: 0, high: 0.4 })).toBe('unknown');
  });
});

describe('retireHarmful', () => {
  it('retires harmful lessons in one set, with the numbers in the reason', () => {
    const library = shelf(lessonOf('a'), lessonOf('b', { state: 'trial' }), lessonOf('c'));
    const set = retireHarmful({ effects: measured('a', 'b'), library, by: INSTAR });
    expect(set?.by).toEqual(INSTAR);
    expect(set?.changes.map((change) => change.op === 'retire' && change.id)).toEqual(['a', 'b']);
    expect(set?.changes[0]).toMatchObject({
      reason: expect.stringMatching(
        /^harmful: 60 sessions with it scored 0\.200 on average and 30 without it 0\.900; the difference of −0\.700 lies between −0\.\d+ and −0\.\d+/,
      ),
    });
  });

  it('leaves pinned, frozen, inactive and not provably harmful lessons', () => {
    const left = [
      lessonOf('a', { pinned: true }),
      lessonOf('a', { frozen: true }),
      lessonOf('a', { state: 'proposed' }),
      lessonOf('a', { state: 'retired' }),
      lessonOf('a', { state: 'rejected' }),
      lessonOf('b'),
    ];
    for (const lesson of left)
      expect(retireHarmful({ effects: measured('a'), library: shelf(lesson), by: INSTAR })).toBeUndefined();
  });

  it('returns the same set for the same numbers', () => {
    const library = shelf(lessonOf('a'));
    const sets = [1, 2].map(() => retireHarmful({ effects: measured('a'), library, by: INSTAR }));
    expect(sets[0]).toEqual(sets[1]);
  });

  it('is published like other changes, and a lesson that a person restores is not retired again', async () => {
    const store = createMemoryStore();
    let ids = 0;
    const { library } = await openLibrary({
      load: async (after, limit) => store.factsOf('library-changed', after, limit),
      append: async (fact) => {
        const [appended] = store.append({ facts: [fact] });
        if (appended === undefined) throw new StoreError('io', 'no answer');
        return appended;
      },
      clock: createManualClock(1),
      newId: (prefix) => `${prefix}_${++ids}`,
      onFault: (error) => {
        throw error;
      },
    });
    const publish = (changes: Parameters<typeof library.publish>[0]['changes'], by = PERSON) =>
      library.publish({ id: `c${++ids}`, by, reason: 'test', changes });
    await publish([{ op: 'add', id: 'a', kind: 'skill', state: 'live', text: textOf() }]);
    const before = library.generation;

    const effects = measured('a');
    const set = retireHarmful({ effects, library, by: INSTAR });
    if (set === undefined) throw new Error('nothing to retire');
    const { results } = await library.publish(set);
    expect(results[0]).toMatchObject({ status: 'applied', id: 'a' });
    expect(library.lesson('a')).toMatchObject({
      state: 'retired',
      reason: expect.stringContaining('harmful'),
    });
    expect(library.diff(before, library.generation)?.removed).toEqual([{ id: 'a', revision: 1 }]);
    expect(retireHarmful({ effects, library, by: INSTAR })).toBeUndefined();

    await publish([{ op: 'move', id: 'a', to: 'live' }]);
    expect(library.lesson('a')?.state).toBe('live');
    expect(retireHarmful({ effects, library, by: INSTAR })).toBeUndefined();

    // A new text can be retired, once it was measured.
    await publish([{ op: 'revise', id: 'a', from: 1, text: textOf({ content: 'Do it otherwise.' }) }]);
    expect(retireHarmful({ effects, library, by: INSTAR })?.changes).toHaveLength(1);
    for (const fact of store.factsOf('library-changed', 0, 10))
      effects.add({ ...fact, seq: fact.seq + 1000 });
    expect(retireHarmful({ effects, library, by: INSTAR })).toBeUndefined();
    for (const fact of harm('a', 2000)) effects.add(fact);
    expect(retireHarmful({ effects, library, by: INSTAR })?.changes).toHaveLength(1);
  });
});
