import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import { activationOf, UNKNOWN_USE } from '../../../src/lessons/recall/activation.ts';
import { findForgettable } from '../../../src/lessons/similar/review-library.ts';
import { lessonOf } from '../effect/sample-lessons.ts';

const DAY = 86_400_000;
const presence = {
  activation: (lesson: Lesson, now: number) => activationOf(lesson, UNKNOWN_USE, now),
  isProven: ({ id }: Lesson) => id === 'proven',
};
const forgotten = (lessons: readonly Lesson[], days: number): readonly string[] =>
  findForgettable(lessons, presence, days * DAY).map((change) => (change.op === 'retire' ? change.id : ''));

describe('findForgettable', () => {
  it('retires decayed lessons that never proved useful, with a reason', () => {
    expect(findForgettable([lessonOf('a')], presence, 365 * DAY)).toEqual([
      {
        op: 'retire',
        id: 'a',
        reason: 'forgotten: never proved useful in the 365 days since it last changed',
      },
    ]);
  });

  it('waits until the activation reaches its floor: not after two half-lives, but after six', () => {
    expect(forgotten([lessonOf('a')], 60)).toEqual([]);
    expect(forgotten([lessonOf('a')], 180)).toEqual(['a']);
  });

  it('leaves proven, pinned, frozen, inactive and never shown lessons', () => {
    const left = [
      lessonOf('proven'),
      lessonOf('pinned', { pinned: true }),
      lessonOf('frozen', { frozen: true }),
      lessonOf('waiting', { state: 'proposed' }),
      lessonOf('gone', { state: 'retired' }),
      lessonOf('route', { kind: 'route' }),
      lessonOf('limit', { kind: 'limit' }),
    ];
    expect(forgotten([...left, lessonOf('trial', { state: 'trial' })], 1000)).toEqual(['trial']);
  });
});
