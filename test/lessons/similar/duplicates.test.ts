import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change, Lesson, LessonText } from '../../../src/core/lesson.ts';
import { matchesPattern, scopeCovers, scopesOverlap } from '../../../src/lessons/scope.ts';
import { findDuplicates } from '../../../src/lessons/similar/duplicates.ts';
import { runsOf } from '../../support/counts.ts';
import { lessonOf, textOf } from '../effect/sample-lessons.ts';

/** On a circle: the cosine of two lessons is that of the angle between them, in degrees. */
const at = (...degrees: readonly number[]) =>
  new Map(
    degrees.map((degree, index) => {
      const angle = (degree * Math.PI) / 180;
      return [`l${index}`, new Float32Array([Math.cos(angle), Math.sin(angle)])] as const;
    }),
  );
const lesson = (index: number, more: Partial<Lesson> = {}, text: Partial<LessonText> = {}): Lesson =>
  lessonOf(`l${index}`, { createdAt: index, text: textOf({ name: `l${index}`, ...text }), ...more });
const merged = (changes: readonly Change[]) =>
  changes.map((change) => (change.op === 'merge' ? { into: change.into, ids: change.ids } : undefined));

describe('findDuplicates', () => {
  it('merges near-duplicates into the oldest, and leaves the rest', () => {
    const { pairs, merges } = findDuplicates([lesson(0), lesson(1), lesson(2)], at(0, 10, 90));
    expect(pairs.map(({ a, b }) => [a.id, b.id])).toEqual([['l0', 'l1']]);
    expect(pairs[0]?.similarity).toBeCloseTo(Math.cos(Math.PI / 18), 5);
    expect(merged(merges)).toEqual([{ into: 'l0', ids: ['l0', 'l1'] }]);
    expect(merges[0]).toMatchObject({ from: 1 });
  });

  it('keeps the better proven rather than the older, the live rather than the proven, the pinned before all', () => {
    const proof = ({ id }: Lesson): number => (id === 'l1' ? 5 : 0);
    const into = (...lessons: readonly Lesson[]) =>
      merged(findDuplicates(lessons, at(0, 5, 10), { proof }).merges)[0]?.into;
    expect(into(lesson(0), lesson(1))).toBe('l1');
    expect(into(lesson(0), lesson(1, { state: 'trial' }))).toBe('l0');
    expect(into(lesson(0, { state: 'trial', pinned: true }), lesson(2, { state: 'trial' }))).toBe('l0');
  });

  it('does not merge the distant ends of a chain', () => {
    const { pairs, merges } = findDuplicates([lesson(0), lesson(1), lesson(2)], at(0, 20, 40));
    expect(pairs).toHaveLength(2);
    expect(merged(merges)).toEqual([{ into: 'l0', ids: ['l0', 'l1'] }]);
  });

  it('merges a group of several lessons in one change', () => {
    const { merges } = findDuplicates(
      [lesson(0), lesson(1), lesson(2), lesson(3), lesson(4)],
      at(0, 5, 80, 10, 85),
    );
    expect(merged(merges)).toEqual([
      { into: 'l0', ids: ['l0', 'l1', 'l3'] },
      { into: 'l2', ids: ['l2', 'l4'] },
    ]);
  });

  it('never merges contradicting lessons, at any similarity', () => {
    const lessons = [
      lesson(0, {}, { content: 'Always squash commits.' }),
      lesson(1, {}, { content: 'Never squash commits.' }),
    ];
    expect(findDuplicates(lessons, at(0, 1))).toEqual({ pairs: [], merges: [] });
  });

  it('does not merge other kinds, other scopes and inactive lessons', () => {
    const others = [
      lesson(1, { kind: 'experience' }),
      lesson(1, {}, { scope: { agent: 'b' } }),
      lesson(1, { state: 'retired' }),
      lesson(1, { state: 'rejected' }),
    ];
    for (const other of others)
      expect(findDuplicates([lesson(0, {}, { scope: { agent: 'a' } }), other], at(0, 1)).pairs).toEqual([]);
  });

  it('proposes no merge that would remove advice from a scope, a reader or a time', () => {
    const narrower = lesson(0, {}, { scope: { project: 'x' } });
    const cases: readonly (readonly [Lesson, Lesson])[] = [
      [narrower, lesson(1)],
      [lesson(0, { pinned: true }), lesson(1, { pinned: true })],
      [lesson(0), lesson(1, { frozen: true })],
      [lesson(0, { expiresAt: 5 }), lesson(1)],
      [lesson(0, {}, { note: { ...textOf().note, visibility: 'private' } }), lesson(1)],
    ];
    for (const [one, other] of cases) {
      const { pairs, merges } = findDuplicates([one, other], at(0, 1));
      expect(pairs).toHaveLength(1);
      for (const change of merges) expect(change.op === 'merge' && change.into).toBe('l1');
    }
    expect(merged(findDuplicates([narrower, lesson(1)], at(0, 1)).merges)).toEqual([
      { into: 'l1', ids: ['l1', 'l0'] },
    ]);
  });

  it('keeps the text and joins the evidence, but leaves a frozen lesson unchanged', () => {
    const evidence = (turn: string) => ({ turns: [turn, 'both'], quotes: [], learner: 'test' });
    const lessons = [
      lesson(0, {}, { evidence: evidence('t0') }),
      lesson(1, {}, { evidence: evidence('t1') }),
    ];
    const [merge] = findDuplicates(lessons, at(0, 1)).merges;
    const text = merge?.op === 'merge' ? merge.text : undefined;
    expect(text).toEqual({
      ...lessons[0]?.text,
      evidence: { ...evidence('t0'), turns: ['t0', 'both', 't1'] },
    });
    const frozen = [{ ...lesson(0), frozen: true }, lesson(1, {}, { evidence: evidence('t1') })];
    expect(findDuplicates(frozen, at(0, 1)).merges[0]).toMatchObject({ into: 'l0', text: lesson(0).text });
  });
});

describe('scopes', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 4 });
  const words = ['', 'a', 'b'].flatMap((x) =>
    ['', 'a', 'b'].flatMap((y) =>
      ['', 'a', 'b'].flatMap((z) => ['', 'a', 'b', 'ab', 'ba'].map((w) => x + y + z + w)),
    ),
  );

  it('overlap exactly when some value matches both', () => {
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const meets = words.some((word) => matchesPattern(one, word) && matchesPattern(other, word));
        if (meets) expect(scopesOverlap({ agent: one }, { agent: other })).toBe(true);
        // Words of up to five letters are enough for patterns this short.
        if (one.length + other.length <= 5)
          expect(scopesOverlap({ agent: one }, { agent: other })).toBe(meets);
      }),
      runsOf(170, 500),
    );
  });

  it('cover only scopes that they contain completely', () => {
    fc.assert(
      fc.property(pattern, pattern, (outer, inner) => {
        if (!scopeCovers({ domain: outer }, { domain: inner })) return;
        for (const word of words)
          if (matchesPattern(inner, word)) expect(matchesPattern(outer, word)).toBe(true);
      }),
      runsOf(170, 500),
    );
    expect(scopeCovers({}, { agent: 'a' })).toBe(true);
    expect(scopeCovers({ agent: 'a' }, {})).toBe(false);
  });
});
