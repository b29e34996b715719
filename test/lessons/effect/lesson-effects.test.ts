import { describe, expect, it } from 'vitest';
import type { StoredFact } from '../../../src/core/fact.ts';
import type { Change } from '../../../src/core/lesson.ts';
import { createLessonEffects, type LessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import { countOutcomes } from '../../../src/stats/effect-posterior.ts';
import { scored, textOf } from './sample-lessons.ts';

const fold = (
  facts: readonly StoredFact[],
  effects: LessonEffects = createLessonEffects(),
): LessonEffects => {
  for (const fact of facts) effects.add(fact);
  return effects;
};

const counts = (effects: LessonEffects, lesson: string): readonly [number, number] => {
  const { with: shown, without } = effects.sessionsOf(lesson);
  return [countOutcomes(shown), countOutcomes(without)];
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
    expect(effects.sessionsOf('a')).toMatchObject({ with: { praise: 2 }, without: { complaint: 1 } });
    expect(effects.sessionsOf('b')).toMatchObject({
      with: { praise: 1 },
      without: { praise: 1, complaint: 1 },
    });
  });

  it('counts silent sessions, and a score that comes later in the place of the silence', () => {
    const silent = (seq: number, session: string): StoredFact => ({
      seq,
      at: seq,
      fact: { type: 'session-scored', session, lessons: ['a'], heldOut: [] },
    });
    const effects = fold([silent(1, 's1'), silent(2, 's2'), scored(3, 's1', 0, ['a'])]);
    expect(effects.sessionsOf('a').with).toMatchObject({ silent: 1, complaint: 1, praise: 0 });
    expect(effects.all()).toMatchObject({ silent: 1, complaint: 1 });
  });

  it('takes the score of a check for the outcome, and a person’s for a reaction', () => {
    const { fact, ...stored } = scored(1, 's1', 0.75, ['a']);
    if (fact.type !== 'session-scored') throw new Error('no score');
    const effects = fold([{ ...stored, fact: { ...fact, by: 'check' } }, scored(2, 's2', 0.75, ['a'])]);
    expect(effects.sessionsOf('a').with).toMatchObject({ success: 0.75, failure: 0.25, praise: 1 });
  });

  it('counts a session once per lesson, also when it is scored again', () => {
    const effects = fold([
      scored(1, 's1', 1, ['a']),
      scored(2, 's1', 0, ['a', 'b']),
      scored(3, 's1', 0, [], ['a', 'b']),
    ]);
    expect(counts(effects, 'a')).toEqual([1, 0]);
    expect(counts(effects, 'b')).toEqual([1, 0]);
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

  it('knows the verdict about the text that a lesson has now, and what was decided about its kind', () => {
    const ended = (seq: number, outcome: 'helpful' | 'untested'): StoredFact => ({
      seq,
      at: seq,
      fact: { type: 'trial-ended', subject: 'lesson/a/1', outcome, why: '' },
    });
    const add = changed(1, { op: 'add', id: 'a', kind: 'skill', state: 'trial', text: textOf() });
    const effects = fold([add, ended(2, 'helpful')]);
    expect(effects.verdict('a')).toBe('helpful');
    expect(effects.usefulness('a').isProven).toBe(true);
    expect(effects.decided('skill')).toEqual({ helpful: 1, harmful: 0, noDifference: 0 });
    const other = textOf({ content: 'Do it otherwise.' });
    fold([changed(3, { op: 'revise', id: 'a', from: 1, text: other })], effects);
    expect([effects.verdict('a'), effects.hasEnded('a')]).toEqual(['unknown', false]);
    fold([ended(4, 'untested')], effects);
    expect([effects.verdict('a'), effects.hasEnded('a')]).toEqual(['unknown', true]);
  });
});
