import fc from 'fast-check';
import { type Author, type Change, LESSON_STATES, type LessonText } from '../../../src/core/lesson.ts';
import { instar, learner, person, text } from './samples.ts';

/** Few ids, names and texts, so that changes collide. */
export const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const id = fc.constantFrom(...IDS);
const words: fc.Arbitrary<LessonText> = fc
  .tuple(
    fc.constantFrom('one', 'two', 'three', 'four', 'five', 'six'),
    fc.constantFrom('first', 'second', 'third'),
    fc.constantFrom({}, {}, { agent: 'x' }),
  )
  .map(([name, content, scope]) => text({ name, content, scope }));
const revision = fc.integer({ min: 1, max: 4 });
const time = fc.constantFrom(undefined, 500, 1_500, 5_000);
const flag = fc.constantFrom(undefined, true, false);

const withoutUndefined = <T extends object>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** A placeholder for the revision of a lesson when its set is published. */
export const CURRENT = 999;
const from = fc.oneof({ weight: 5, arbitrary: fc.constant(CURRENT) }, { weight: 1, arbitrary: revision });

const kinds = {
  add: fc
    .tuple(
      id,
      fc.constantFrom('skill', 'fix', 'skill', 'fix', 'skill', 'experience', 'skill', 'route'),
      fc.constantFrom('proposed', 'trial', 'live'),
      words,
      time,
    )
    .map(([of, kind, state, said, expiresAt]) => ({ op: 'add', id: of, kind, state, text: said, expiresAt })),
  revise: fc
    .tuple(id, from, words)
    .map(([of, since, said]) => ({ op: 'revise', id: of, from: since, text: said })),
  merge: fc
    .tuple(fc.array(id, { minLength: 1, maxLength: 3 }), id, from, words, fc.boolean())
    .map(([ids, into, since, said, isSound]) => {
      const all = isSound ? [...ids, into] : ids;
      return { op: 'merge', ids: all, into, from: since, text: said };
    }),
  retire: id.map((of) => ({ op: 'retire', id: of, reason: 'old' })),
  move: fc
    .tuple(id, fc.constantFrom('proposed', 'trial', 'live', 'rejected'))
    .map(([of, to]) => ({ op: 'move', id: of, to })),
  mark: fc.tuple(id, flag, flag).map(([of, pinned, frozen]) => ({ op: 'mark', id: of, pinned, frozen })),
  expire: fc.tuple(id, time).map(([of, expiresAt]) => ({ op: 'expire', id: of, expiresAt })),
  restore: fc
    .tuple(id, revision, fc.constantFrom(...LESSON_STATES))
    .map(([of, number, state]) => ({ op: 'restore', id: of, revision: number, state })),
};

export const change: fc.Arbitrary<Change> = fc
  .oneof(
    { weight: 6, arbitrary: kinds.add },
    { weight: 4, arbitrary: kinds.revise },
    { weight: 2, arbitrary: kinds.merge },
    { weight: 2, arbitrary: kinds.retire },
    { weight: 3, arbitrary: kinds.move },
    { weight: 1, arbitrary: kinds.mark },
    { weight: 1, arbitrary: kinds.expire },
    { weight: 3, arbitrary: kinds.restore },
  )
  .map((made) => withoutUndefined(made) as Change);

export const author: fc.Arbitrary<Author> = fc.constantFrom(person, person, person, learner, instar);

export interface Draw {
  readonly by: Author;
  /** Whether it should refer to existing lessons, revisions and states where possible. */
  readonly isApt: boolean;
  readonly changes: readonly Change[];
}

export const draw: fc.Arbitrary<Draw> = fc.record({
  by: author,
  isApt: fc.constantFrom(true, true, true, false),
  changes: fc.array(change, { minLength: 1, maxLength: 4 }),
});
