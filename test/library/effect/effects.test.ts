import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredFact } from '../../../src/core/fact.ts';
import type { Change } from '../../../src/core/lesson.ts';
import { createEffects, type Effects } from '../../../src/library/effect/effects.ts';
import { readSnapshot } from '../../../src/library/effect/effects-snapshot.ts';
import { createSeenSessions, sessionKey } from '../../../src/library/effect/seen-sessions.ts';
import { scored, textOf } from './sample-lessons.ts';

const fold = (facts: readonly StoredFact[], effects: Effects = createEffects()): Effects => {
  for (const fact of facts) effects.add(fact);
  return effects;
};

const counts = (effects: Effects, lesson: string): readonly [number, number] => {
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
  it('measures a lesson by the sessions that saw it and those it was held back from', () => {
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

  it('says nothing about a lesson that no session was scored with', () => {
    expect(createEffects().of('a')).toEqual({
      with: { n: 0, mean: null },
      without: { n: 0, mean: null },
      difference: null,
      low: -1,
      high: 1,
      verdict: 'unknown',
    });
  });

  it('counts a session once for a lesson, with its first score, and a lesson that it got later with the later one', () => {
    const effects = fold([
      scored(1, 's1', 1, ['a']),
      scored(2, 's1', 0, ['a', 'b']),
      scored(3, 's1', 0, [], ['a', 'b']),
    ]);
    expect(effects.of('a')).toMatchObject({ with: { n: 1, mean: 1 }, without: { n: 0, mean: null } });
    expect(effects.of('b')).toMatchObject({ with: { n: 1, mean: 0 }, without: { n: 0 } });
    expect(effects.usefulness('a').count).toBe(1);
  });

  it('leaves out a lesson that a session both saw and went without, and scores that are none', () => {
    const effects = fold([
      scored(1, 's1', 1, ['a'], ['a']),
      scored(2, 's2', Number.NaN, ['a']),
      scored(3, 's3', 1.5, ['a']),
      scored(4, 's4', -0.1, ['a']),
    ]);
    expect(counts(effects, 'a')).toEqual([0, 0]);
  });

  it('passes over facts that it has taken before', () => {
    const facts = [scored(1, 's1', 1, ['a']), scored(2, 's2', 0, ['a'])];
    const effects = fold([...facts, ...facts]);
    expect(counts(effects, 'a')).toEqual([2, 0]);
    expect(effects.seq).toBe(2);
  });

  it.each<[string, Change]>([
    ['revised', { op: 'revise', id: 'a', from: 1, text: textOf() }],
    ['merged into', { op: 'merge', ids: ['a', 'b'], into: 'a', from: 1, text: textOf() }],
    ['restored', { op: 'restore', id: 'a', revision: 1, state: 'live' }],
  ])('measures a lesson anew after it was %s, and keeps what proved useful', (_, change) => {
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

  it('comes to the same when all changes are told before all scores', () => {
    const change = changed(2, { op: 'revise', id: 'a', from: 1, text: textOf() });
    const scores = [scored(1, 's1', 1, ['a']), scored(3, 's3', 0, ['a']), scored(4, 's4', 0, [], ['a'])];
    expect(counts(fold([change, ...scores]), 'a')).toEqual([1, 1]);
  });

  it('does not start anew when a lesson is promoted, retired or marked', () => {
    const effects = fold([
      scored(1, 's1', 1, ['a']),
      changed(2, { op: 'move', id: 'a', to: 'live' }),
      changed(3, { op: 'retire', id: 'a', reason: 'old' }),
      changed(4, { op: 'mark', id: 'a', pinned: true }),
    ]);
    expect(counts(effects, 'a')).toEqual([1, 0]);
  });

  it('keeps when a lesson was shown in sessions that came out well, the last dozen with their scores', () => {
    const effects = fold(
      Array.from({ length: 40 }, (_, at) => scored(at + 1, `s${at}`, at % 2 ? 0.8 : 0.49, ['a'])),
    );
    const { count, last, uses, isProven } = effects.usefulness('a');
    expect({ count, last, isProven }).toEqual({ count: 20, last: 40_000, isProven: false });
    expect(uses).toHaveLength(12);
    expect(uses.at(-1)).toEqual({ at: 40_000, weight: 0.8 });
    expect(effects.usefulness('nobody')).toEqual({ uses: [], count: 0, isProven: false });
  });

  it('proves a lesson that helps and condemns one that harms, with the interval that `of` prints', () => {
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

describe('a snapshot', () => {
  const facts = fc
    .array(
      fc.record({
        session: fc.integer({ min: 0, max: 12 }),
        score: fc.double({ min: 0, max: 1, noNaN: true }),
        lessons: fc.uniqueArray(fc.constantFrom('a', 'b', '__proto__', 'd'), { maxLength: 3 }),
        heldOut: fc.uniqueArray(fc.constantFrom('a', 'b', '__proto__', 'd'), { maxLength: 2 }),
      }),
      { maxLength: 40 },
    )
    .map((entries) => entries.map((e, at) => scored(at + 1, `s${e.session}`, e.score, e.lessons, e.heldOut)));

  it('taken anywhere and read back from JSON goes on as if nothing had happened', () => {
    fc.assert(
      fc.property(facts, fc.nat(40), (all, cut) => {
        const before = fold(all.slice(0, cut)).snapshot();
        const kept = readSnapshot(JSON.parse(JSON.stringify(before)));
        if (kept === undefined) throw new Error('it could not be read back');
        // From the start: what is in the snapshot is passed over.
        const after = fold(all, createEffects({ snapshot: kept }));
        expect(after.snapshot()).toEqual(fold(all).snapshot());
      }),
    );
  });

  it('is not changed by what is added afterwards', () => {
    const effects = fold([scored(1, 's1', 1, ['a'])]);
    const before = effects.snapshot();
    const copy = JSON.stringify(before);
    fold([scored(2, 's2', 0, ['a']), scored(3, 's1', 0, ['b'])], effects);
    expect(JSON.stringify(before)).toBe(copy);
  });

  it('is refused when it is damaged or of another version', () => {
    const good = JSON.parse(JSON.stringify(fold([scored(1, 's1', 1, ['a'])]).snapshot()));
    expect(readSnapshot(good)).toBeDefined();
    const [lesson] = good.lessons;
    for (const bad of [
      undefined,
      null,
      [],
      'x',
      { ...good, version: 2 },
      { ...good, seq: -1 },
      { ...good, lessons: {} },
      { ...good, lessons: [{ ...lesson, with: { n: 1 } }] },
      { ...good, lessons: [{ ...lesson, uses: { count: 1, recent: [null] } }] },
      { ...good, seen: { recent: [[1, 'a']], older: '' } },
      { ...good, seen: undefined },
    ])
      expect(readSnapshot(bad)).toBeUndefined();
  });
});

describe('createSeenSessions', () => {
  it('never lets a session count twice for a lesson, also long after, also after a restart', () => {
    let seen = createSeenSessions(undefined, 8);
    const keys = Array.from({ length: 100 }, (_, at) => sessionKey(`s${at}`));
    for (const [at, key] of keys.entries()) {
      expect(seen.take(key, 'a')).toBe(true);
      if (at % 13 === 0) seen = createSeenSessions(seen.snapshot(), 8);
    }
    for (const key of keys) expect(seen.take(key, 'a')).toBe(false);
  });

  it('lets a recent session count for another lesson, and an old one for nothing more', () => {
    const seen = createSeenSessions(undefined, 8);
    for (let at = 0; at < 100; at++) seen.take(sessionKey(`s${at}`), 'a');
    expect(seen.take(sessionKey('s99'), 'b')).toBe(true);
    expect(seen.take(sessionKey('s99'), 'b')).toBe(false);
    expect(seen.take(sessionKey('s0'), 'b')).toBe(false);
  });

  it('takes eight characters for an old session', () => {
    const seen = createSeenSessions(undefined, 8);
    for (let at = 0; at < 1000; at++) seen.take(sessionKey(`s${at}`), 'a');
    const { recent, older } = seen.snapshot();
    expect(recent.length).toBeLessThan(16);
    expect(older.length).toBeLessThanOrEqual(8 * (1000 - recent.length) + 4);
  });
});
