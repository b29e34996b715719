import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Author, Change, ChangeSet } from '../../../src/core/lesson.ts';
import { createChangeSetDraft } from '../../../src/lessons/apply-change.ts';
import { decodeChange } from '../../../src/lessons/codec.ts';
import { createLibraryState, type LibraryState } from '../../../src/lessons/library-state.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { author, CURRENT, change, type Draw, draw } from './arbitraries.ts';
import { add, openOn, person, setOf, text } from './samples.ts';

const filledIn = (shelf: LibraryState, drawn: Change): Change =>
  'from' in drawn && drawn.from === CURRENT
    ? { ...drawn, from: shelf.lesson('into' in drawn ? drawn.into : drawn.id)?.revision ?? 1 }
    : drawn;

function publishOn(shelf: LibraryState, id: string, by: Author, changes: readonly Change[], at: number) {
  const draft = createChangeSetDraft(shelf, by, at);
  const results = changes.map((one) => draft.apply(decodeChange(filledIn(shelf, one))));
  shelf.commit(draft, { id, by, reason: '', at });
  return results;
}

function shelfAfter(draws: readonly Draw[]): LibraryState {
  const shelf = createLibraryState();
  for (const [index, { by, changes }] of draws.entries()) publishOn(shelf, `s${index}`, by, changes, index);
  return shelf;
}

const everything = (shelf: LibraryState) =>
  shelf.ids().map((id) => [shelf.lesson(id), shelf.history(id), shelf.generation]);

const draws = fc.array(draw, { maxLength: 8, size: 'max' });

describe('a change', () => {
  it('that is applied twice takes effect once', () => {
    let applied = 0;
    fc.assert(
      fc.property(draws, change, author, (before, drawn, by) => {
        const shelf = shelfAfter(before);
        const once = filledIn(shelf, drawn);
        const [first] = publishOn(shelf, 'first', by, [once], 50);
        const state = everything(shelf);
        const [second] = publishOn(shelf, 'second', by, [once], 60);
        if (first?.status === 'applied') applied++;
        expect(second?.status).not.toBe('applied');
        expect(everything(shelf)).toEqual(state);
      }),
      { numRuns: 300 },
    );
    expect(applied).toBeGreaterThan(20);
  });

  it('that is refused or the same changes nothing', () => {
    fc.assert(
      fc.property(draws, change, author, (before, drawn, by) => {
        const shelf = shelfAfter(before);
        const state = everything(shelf);
        const [result] = publishOn(shelf, 'one', by, [drawn], 50);
        if (result?.status !== 'applied') expect(everything(shelf)).toEqual(state);
      }),
    );
  });

  it('by a person to existing lessons is applied or refused with a reason', () => {
    fc.assert(
      fc.property(draws, change, author, (before, drawn, by) => {
        const [result] = publishOn(shelfAfter(before), 'one', by, [drawn], 50);
        if (result?.status === 'refused') expect(result.why.length).toBeGreaterThan(10);
      }),
    );
  });

  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
  });
  const field = fc.constantFrom(
    'op',
    'id',
    'ids',
    'into',
    'from',
    'text',
    'kind',
    'state',
    'to',
    'reason',
    'revision',
    'expiresAt',
    'pinned',
    '__proto__',
  );
  /** Changes with one invalid field, and values that are not changes. */
  const hostile = fc.oneof(
    anything,
    fc.jsonValue(),
    fc
      .tuple(
        change,
        field,
        fc.oneof(anything, fc.constantFrom(-0, Number.NaN, 1e308, '', '__proto__', 'constructor')),
      )
      .map(([drawn, name, value]) => Object.defineProperty({ ...drawn }, name, { value, enumerable: true })),
    fc
      .tuple(fc.constantFrom('name', 'scope', 'note', 'evidence', 'taint'), anything)
      .map(([name, value]) => add('a', { text: { ...text(), [name]: value } })),
  );

  it('never throws for any value, and its result survives a round trip through JSON', async () => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { maxLength: 6 }), author, async (changes, by) => {
        const store = createMemoryStore();
        const { library } = await openOn(store);
        await library.publish(setOf('s0', [add('a'), add('b')]));
        const { results } = await library.publish(setOf('s1', changes as readonly Change[], by));
        expect(results).toHaveLength(changes.length);
        applied += results.filter(({ status }) => status === 'applied').length;
        const reopened = await openOn(store);
        expect(reopened.skipped).toBe(0);
        expect(reopened.library.lessons()).toEqual(library.lessons());
      }),
      { numRuns: 500 },
    );
    expect(applied).toBeGreaterThan(20);
  });

  it('set of any shape gets results and does not throw', async () => {
    const { library } = await openOn(createMemoryStore());
    await fc.assert(
      fc.asyncProperty(anything, async (set) => {
        expect((await library.publish(set as ChangeSet)).generation).toBe(0);
      }),
    );
  });
});

describe('rolling back', () => {
  it('to any generation shows its texts again, in at most one new generation', async () => {
    let rolled = 0;
    await fc.assert(
      fc.asyncProperty(draws, fc.nat(), async (before, pick) => {
        const { library } = await openOn(createMemoryStore());
        const words = () => library.shown(0).map((lesson) => ({ id: lesson.id, text: lesson.text }));
        const seen = [words()];
        for (const [index, { by, changes }] of before.entries()) {
          const filled = changes.map((one) =>
            'from' in one && one.from === CURRENT
              ? { ...one, from: library.lesson('into' in one ? one.into : one.id)?.revision ?? 1 }
              : one,
          );
          const { generation } = await library.publish(setOf(`s${index}`, filled, by));
          seen[generation] = words();
        }
        const generation = pick % seen.length;
        const set = library.rollback(generation, person);
        if (set === undefined) throw new Error(`generation ${generation} was lost`);
        const newest = library.generation;
        await library.publish(set);
        expect(words()).toEqual(seen[generation]);
        expect(library.generation - newest).toBe(
          JSON.stringify(seen[generation]) === JSON.stringify(seen[newest]) ? 0 : 1,
        );
        if (generation !== newest) rolled++;
      }),
      { numRuns: 150 },
    );
    expect(rolled).toBeGreaterThan(20);
  });
});
