import { describe, expect, it } from 'vitest';
import { isOpenVote, pluralityState } from '../../../lab/measure/practice/plurality-state.ts';
import { createRandom } from '../../../src/base/random.ts';

const left = (...states: readonly string[]) => states.map((state, place) => ({ state, place }));

describe('the most common final state', () => {
  it('is the one that most attempts left, and of several as common the one that came first', () => {
    expect(pluralityState(left('a', 'b', 'b'))).toEqual({ state: 'b', place: 1 });
    expect(pluralityState(left('a', 'b', 'b', 'a'))).toEqual({ state: 'a', place: 0 });
  });

  it('counts no attempt that could not be graded', () => {
    expect(pluralityState([{}, {}, { state: 'a' }])).toEqual({ state: 'a' });
    expect(pluralityState([{}, {}])).toBeUndefined();
  });

  it('is the same when attempts that cannot change it are not made', () => {
    const random = createRandom('votes');
    let saved = 0;
    for (let round = 0; round < 2_000; round++) {
      const kinds = 1 + random.below(4);
      const all = left(...Array.from({ length: 1 + random.below(16) }, () => `s${random.below(kinds)}`));
      let made = 1;
      while (isOpenVote(all.slice(0, made), all.length - made)) made++;
      saved += all.length - made;
      expect(pluralityState(all.slice(0, made))?.state).toBe(pluralityState(all)?.state);
    }
    expect(saved).toBeGreaterThan(2_000);
  });
});
