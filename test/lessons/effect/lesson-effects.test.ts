import { describe, expect, it } from 'vitest';
import type { StoredFact } from '../../../src/core/fact.ts';
import type { Change } from '../../../src/core/lesson.ts';
import {
  createCountedSessions,
  createLessonEffects,
  type LessonEffects,
  sessionKey,
} from '../../../src/lessons/effect/lesson-effects.ts';
import { scored, textOf } from './sample-lessons.ts';

const fold = (
  facts: readonly StoredFact[],
  effects: LessonEffects = createLessonEffects(),
): LessonEffects => {
  for (const fact of facts) effects.add(fact);
  return effects;
};

const counts = (effects: LessonEffects, lesson: string): readonly [number, number] => {
  const { with: shown, without } = effects.of(lesson);
  return [shown.n, without.n];
};

const changed = (seq: number, change: Change): StoredFact => ({
  seq,
  at: seq * 1000,
  fact: {
    type: 'library-changed',
    set: `c${seq}`,
    by: { kind: 'person', name: 'person' },
    reason: '',
    changes: [change],
    generation: seq,
  },
});

describe('createEffects', () => {
  it('does not count a session for a lesson that it could not have gone without', () => {
    const { fact, ...stored } = scored(1, 's1', 1, ['a', 'b']);
    if (fact.type !== 'session-scored') throw new Error('no score');
    const effects = fold([{ ...stored, fact: { ...fact, unmeasured: ['b'] } }, scored(2, 's2', 1, ['b'])]);
    expect(counts(effects, 'a')).toEqual([1, 0]);
    expect(counts(effects, 'b')).toEqual([1, 0]);
    expect(effects.usefulness('b').count).toBe(2);
  });

  it('compares the sessions that saw a lesson with those it was held out from', () => {
    const effects = fold([
      scored(1, 's1', 1, ['a', 'b']),
      scored(2, 's2', 0.5, ['a'], ['b']),
      scored(3, 's3', 0, [], ['a', 'b']),
    ]);
    expect(effects.of('a')).toMatchObject({
      with: { n: 2, mean: 0.75 },
      without: { n: 1, mean: 0 },
      difference: 0.75,
      verdict: 'unknown',
    });
    expect(effects.of('b')).toMatchObject({ with: { n: 1, mean: 1 }, without: { n: 2, mean: 0.25 } });
  });

  it('reports unknown for a lesson without scored sessions', () => {
    expect(createLessonEffects().of('a')).toEqual({
      with: { n: 0, mean: null },
      without: { n: 0, mean: null },
      difference: null,
      low: -1,
      high: 1,
      verdict: 'unknown',
    });
  });

  it('counts a session once per lesson with its first score, and a later shown lesson with the later score', () => {
    const effects = fold([
      scored(1, 's1', 1, ['a']),
      scored(2, 's1', 0, ['a', 'b']),
      scored(3, 's1', 0, [], ['a', 'b']),
    ]);
    expect(effects.of('a')).toMatchObject({ with: { n: 1, mean: 1 }, without: { n: 0, mean: null } });
    expect(effects.of('b')).toMatchObject({ with: { n: 1, mean: 0 }, without: { n: 0 } });
    expect(effects.usefulness('a').count).toBe(1);
  });

  it('ignores a lesson that was both shown and held out in a session, and invalid scores', () => {
    const effects = fold([
      scored(1, 's1', 1, ['a'], ['a']),
      scored(2, 's2', Number.NaN, ['a']),
      scored(3, 's3', 1.5, ['a']),
      scored(4, 's4', -0.1, ['a']),
    ]);
    expect(counts(effects, 'a')).toEqual([0, 0]);
  });

  it('ignores facts that were added before', () => {
    const facts = [scored(1, 's1', 1, ['a']), scored(2, 's2', 0, ['a'])];
    const effects = fold([...facts, ...facts]);
    expect(counts(effects, 'a')).toEqual([2, 0]);
    expect(effects.seq).toBe(2);
  });

  it.each<[string, Change]>([
    ['revised', { op: 'revise', id: 'a', from: 1, text: textOf() }],
    ['merged into', { op: 'merge', ids: ['a', 'b'], into: 'a', from: 1, text: textOf() }],
    ['restored', { op: 'restore', id: 'a', revision: 1, state: 'live' }],
  ])('restarts the measurement of a lesson after it was %s, and keeps its proven uses', (_, change) => {
    const effects = fold([
      scored(1, 's1', 1, ['a', 'b']),
      scored(2, 's2', 0, ['b'], ['a']),
      changed(3, change),
      scored(4, 's4', 1, ['a'], ['b']),
    ]);
    expect(counts(effects, 'a')).toEqual([1, 0]);
    expect(counts(effects, 'b')).toEqual([2, 1]);
    expect(effects.usefulness('a').count).toBe(2);
  });

  it('gives the same result when all changes are added before all scores', () => {
    const change = changed(2, { op: 'revise', id: 'a', from: 1, text: textOf() });
    const scores = [scored(1, 's1', 1, ['a']), scored(3, 's3', 0, ['a']), scored(4, 's4', 0, [], ['a'])];
    expect(counts(fold([change, ...scores]), 'a')).toEqual([1, 1]);
  });

  it('does not restart when a lesson is promoted, retired or marked', () => {
    const effects = fold([
      scored(1, 's1', 1, ['a']),
      changed(2, { op: 'move', id: 'a', to: 'live' }),
      changed(3, { op: 'retire', id: 'a', reason: 'old' }),
      changed(4, { op: 'mark', id: 'a', pinned: true }),
    ]);
    expect(counts(effects, 'a')).toEqual([1, 0]);
  });

  it('keeps the last dozen successful sessions of a lesson with their scores', () => {
    const effects = fold(
      Array.from({ length: 40 }, (_, at) => scored(at + 1, `s${at}`, at % 2 ? 0.8 : 0.49, ['a'])),
    );
    const { count, last, uses, isProven } = effects.usefulness('a');
    expect({ count, last, isProven }).toEqual({ count: 20, last: 40_000, isProven: false });
    expect(uses).toHaveLength(12);
    expect(uses.at(-1)).toEqual({ at: 40_000, weight: 0.8 });
    expect(effects.usefulness('nobody')).toEqual({ uses: [], count: 0, isProven: false });
  });

  it('finds a helpful and a harmful lesson, consistent with the interval of `of`', () => {
    const facts = Array.from({ length: 120 }, (_, at) =>
      at % 3 === 0
        ? scored(at + 1, `s${at}`, 0.2, ['bad'], ['good'])
        : scored(at + 1, `s${at}`, 0.9, ['good'], ['bad']),
    );
    const effects = fold(facts);
    expect(effects.usefulness('good').isProven).toBe(true);
    expect(effects.verdict('bad')).toBe('harmful');
    expect(effects.of('bad').high).toBeLessThan(0);
    expect(effects.of('good').low).toBeGreaterThan(0);
    expect(effects.of('good').verdict).toBe('helpful');
  });
});

describe('the counted sessions', () => {
  it('count a session at most once per lesson, also long after', () => {
    const seen = createCountedSessions(8);
    const keys = Array.from({ length: 100 }, (_, at) => sessionKey(`s${at}`));
    for (const key of keys) expect(seen.take(key, 'a')).toBe(true);
    for (const key of keys) expect(seen.take(key, 'a')).toBe(false);
  });

  it('count a recent session for another lesson, and an old one for none', () => {
    const seen = createCountedSessions(8);
    for (let at = 0; at < 100; at++) seen.take(sessionKey(`s${at}`), 'a');
    expect(seen.take(sessionKey('s99'), 'b')).toBe(true);
    expect(seen.take(sessionKey('s99'), 'b')).toBe(false);
    expect(seen.take(sessionKey('s0'), 'b')).toBe(false);
  });
});
