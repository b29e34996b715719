import { describe, expect, it } from 'vitest';
import type { Change, LessonText } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { add, instar, openOn, person, setOf, text } from './samples.ts';

/** A library in which each list of changes was published as a separate set. */
async function libraryAfter(...sets: readonly (readonly Change[])[]): Promise<Library> {
  const { library } = await openOn(createMemoryStore());
  for (const [index, changes] of sets.entries()) {
    const { results } = await library.publish(setOf(`s${index}`, changes));
    expect(results.filter(({ status }) => status === 'refused')).toEqual([]);
  }
  return library;
}

const words = (library: Library): Readonly<Record<string, LessonText>> =>
  Object.fromEntries(library.shown(0).map((lesson) => [lesson.id, lesson.text]));

const revise = (id: string, from: number, content: string, name = `lesson-${id}`): Change => ({
  op: 'revise',
  id,
  from,
  text: text({ name, content }),
});

async function rollBack(library: Library, generation: number): Promise<void> {
  const set = library.rollback(generation, person);
  expect(set).toBeDefined();
  if (set === undefined) return;
  const { results } = await library.publish(set);
  expect(results.filter(({ status }) => status !== 'applied')).toEqual([]);
}

describe('a generation', () => {
  it('advances by one for a set that changes what prompts may contain (not by one per change)', async () => {
    const library = await libraryAfter([add('a'), add('b', { state: 'trial' }), revise('a', 1, 'two')]);
    expect(library.generations()).toEqual([{ generation: 1, at: 1_000, reason: 'why s0', by: person }]);
  });

  it.each<[string, Change]>([
    ['a proposal', add('n', { state: 'proposed' })],
    ['a pin', { op: 'mark', id: 'a', pinned: true }],
    ['a date of expiry, even a past one', { op: 'expire', id: 'a', expiresAt: 1 }],
    ['a revision of a proposal', revise('p', 1, 'two')],
    ['the rejection of a proposal', { op: 'move', id: 'p', to: 'rejected' }],
    ['the promotion of what is on trial', { op: 'move', id: 't', to: 'live' }],
  ])('does not advance for %s', async (_, change) => {
    const library = await libraryAfter(
      [add('a'), add('t', { state: 'trial' }), add('p', { state: 'proposed' })],
      [change],
    );
    expect(library.generation).toBe(1);
  });

  it.each<[string, Change]>([
    ['a lesson on trial', add('n', { state: 'trial' })],
    ['an approval', { op: 'move', id: 'p', to: 'trial' }],
    ['a revision', revise('a', 1, 'two')],
    ['a retirement', { op: 'retire', id: 'a', reason: '' }],
    ['a demotion to a proposal', { op: 'move', id: 'a', to: 'proposed' }],
  ])('advances for %s', async (_, change) => {
    const library = await libraryAfter([add('a'), add('p', { state: 'proposed' })], [change]);
    expect(library.generation).toBe(2);
  });

  it('does not advance for a set that undoes itself', async () => {
    const library = await libraryAfter([add('a')], [add('b'), { op: 'retire', id: 'b', reason: '' }]);
    expect(library.generation).toBe(1);
    expect(library.lesson('b')?.state).toBe('retired');
  });
});

describe('the difference of two generations', () => {
  it('lists added, removed and revised lessons in both directions, without those added and removed in between', async () => {
    const library = await libraryAfter(
      [add('a'), add('b')],
      [revise('a', 1, 'two'), add('x')],
      [
        revise('a', 2, 'three'),
        { op: 'retire', id: 'x', reason: '' },
        { op: 'retire', id: 'b', reason: '' },
        add('c'),
      ],
    );
    expect(library.diff(1, 3)).toEqual({
      added: [{ id: 'c', revision: 1 }],
      removed: [{ id: 'b', revision: 1 }],
      revised: [{ id: 'a', from: 1, to: 3 }],
    });
    expect(library.diff(3, 1)).toEqual({
      added: [{ id: 'b', revision: 1 }],
      removed: [{ id: 'c', revision: 1 }],
      revised: [{ id: 'a', from: 3, to: 1 }],
    });
    expect(library.diff(2, 2)).toEqual({ added: [], removed: [], revised: [] });
    expect(library.diff(0, 1)?.added).toHaveLength(2);
  });

  it('is undefined for a generation that never existed', async () => {
    const library = await libraryAfter([add('a')]);
    for (const never of [-1, 2, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(library.diff(0, never)).toBeUndefined();
      expect(library.diff(never, 1)).toBeUndefined();
      expect(library.rollback(never, person)).toBeUndefined();
    }
  });
});

describe('rolling back', () => {
  it('restores the texts of a generation in a new one, in the states they had', async () => {
    const library = await libraryAfter([add('a'), add('b', { state: 'trial' })]);
    const then = words(library);
    for (const [index, change] of [
      revise('a', 1, 'two'),
      { op: 'retire', id: 'b', reason: '' } as const,
      add('c'),
      { op: 'mark', id: 'a', frozen: true } as const,
    ].entries())
      await library.publish(setOf(`later${index}`, [change]));
    await rollBack(library, 1);
    expect(words(library)).toEqual(then);
    expect(library.generation).toBe(5);
    expect(library.lesson('a')).toMatchObject({ revision: 3, state: 'live' });
    expect(library.lesson('b')).toMatchObject({ revision: 1, state: 'trial' });
    expect(library.lesson('c')).toMatchObject({ state: 'retired', reason: 'rolled back to generation 1' });
    expect(library.history('a').at(-1)).toMatchObject({ op: 'restore', reason: 'roll back to generation 1' });
  });

  it('can be rolled back itself', async () => {
    const library = await libraryAfter([add('a')], [revise('a', 1, 'two'), add('b')]);
    const two = words(library);
    await rollBack(library, 1);
    await rollBack(library, 2);
    expect(words(library)).toEqual(two);
    expect(library.generation).toBe(4);
  });

  it('works back to the empty library', async () => {
    const library = await libraryAfter([add('a')], [add('b')]);
    await rollBack(library, 0);
    expect(library.shown(0)).toEqual([]);
  });

  it('handles lessons that have swapped their names since', async () => {
    const library = await libraryAfter([
      add('a', { text: text({ name: 'first', content: 'a' }) }),
      add('b', { text: text({ name: 'second', content: 'b' }) }),
    ]);
    const then = words(library);
    const swap = [revise('a', 1, 'a', 'third'), revise('b', 1, 'b', 'first'), revise('a', 2, 'a', 'second')];
    await library.publish(setOf('swap', swap));
    await rollBack(library, 1);
    expect(words(library)).toEqual(then);
  });

  it('retires a proposal that has taken a restored name', async () => {
    const proposal = add('p', { state: 'proposed', text: text({ name: 'lesson-a', content: 'p' }) });
    const library = await libraryAfter([add('a')], [{ op: 'retire', id: 'a', reason: '' }], [proposal]);
    await rollBack(library, 1);
    expect(Object.keys(words(library))).toEqual(['a']);
    expect(library.lesson('p')).toMatchObject({
      state: 'retired',
      reason: expect.stringMatching(/^replaced by a/),
    });
  });

  it('keeps the promotion of a lesson whose text has not changed', async () => {
    const library = await libraryAfter(
      [add('a', { state: 'trial' })],
      [add('b')],
      [{ op: 'move', id: 'a', to: 'live' }],
    );
    await rollBack(library, 1);
    expect(library.lesson('a')?.state).toBe('live');
  });

  it('makes no changes for the generation in force', async () => {
    const library = await libraryAfter([add('a')]);
    expect(library.rollback(1, person)?.changes).toEqual([]);
  });

  it('gives each set a new id', async () => {
    const library = await libraryAfter([add('a')]);
    expect(library.rollback(0, person)?.id).not.toBe(library.rollback(0, person)?.id);
  });

  it('does not change frozen lessons unless a person rolls back', async () => {
    const library = await libraryAfter([add('a'), { op: 'mark', id: 'a', frozen: true }]);
    const set = library.rollback(0, instar);
    if (set !== undefined) await library.publish(set);
    expect(Object.keys(words(library))).toEqual(['a']);
  });
});
