import { describe, expect, it } from 'vitest';
import type { Change, Lesson } from '../../../src/core/lesson.ts';
import {
  decodeChange,
  decodeLesson,
  decodeLessons,
  encodeChange,
  encodeLesson,
} from '../../../src/lessons/codec.ts';
import { add, text } from './samples.ts';

const overJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const lesson: Lesson = {
  id: 'a',
  kind: 'skill',
  state: 'retired',
  revision: 3,
  text: text({ category: 'build', scope: { agent: 'x*' }, taint: ['web'] }),
  pinned: true,
  frozen: false,
  expiresAt: 500,
  createdAt: 0,
  changedAt: 7,
  reason: 'merged into b',
  mergedInto: 'b',
};

const changes: readonly Change[] = [
  add('a', { expiresAt: 900 }),
  { op: 'revise', id: 'a', from: 1, text: text() },
  { op: 'merge', ids: ['a', 'b'], into: 'a', from: 1, text: text() },
  { op: 'retire', id: 'a', reason: 'old' },
  { op: 'move', id: 'a', to: 'live' },
  { op: 'mark', id: 'a', pinned: true },
  { op: 'expire', id: 'a' },
  { op: 'restore', id: 'a', revision: 1, state: 'live' },
];

describe('the codec', () => {
  it('gives back a lesson with all its fields', () => {
    expect(decodeLesson(overJson(encodeLesson(lesson)))).toEqual({ ok: true, lesson });
  });

  it.each(changes.map((change) => [change.op, change] as const))('gives back a change: %s', (_, change) => {
    expect(decodeChange(overJson(encodeChange(change)))).toEqual(change);
  });

  it.each([
    ['no object', 7, 'a lesson must be an object'],
    ['another state', { ...lesson, state: 'new' }, 'state must be one of'],
    ['a missing flag', { ...lesson, pinned: undefined }, 'pinned must be true or false'],
    ['a text without a name', { ...lesson, text: { ...lesson.text, name: '' } }, 'the name must be'],
    ['a time that is not a number', { ...lesson, createdAt: 'now' }, 'createdAt must be a time'],
  ])('refuses a lesson with %s', (_, value, why) => {
    expect(decodeLesson(value)).toEqual({ ok: false, why: expect.stringContaining(why) });
  });

  it('leaves out lessons of a list that it cannot read (and keeps the others)', () => {
    expect(decodeLessons([{ ...lesson, kind: 'new-kind' }, overJson(lesson)])).toEqual([lesson]);
    expect(decodeLessons('none')).toEqual([]);
  });
});
