import { expect } from 'vitest';
import type { Library } from '../../../src/core/library.ts';
import type { Store } from '../../../src/core/store.ts';
import { IDS } from './arbitraries.ts';
import { type Model, shownOf, textOf } from './library-model.ts';
import { openOn } from './samples.ts';

const TIMES = [0, 499, 500, 1_500, 4_999, 6_000];

/** The complete observable state of a library. */
const everything = (library: Library) => ({
  generation: library.generation,
  lessons: library.lessons(),
  shown: TIMES.map((now) => library.shown(now)),
  histories: IDS.map((id) => library.history(id)),
  found: ['one', 'two', 'three', ...IDS].map((name) => library.find(name)?.id),
  generations: library.generations(),
  whole: library.diff(0, library.generation),
});

/** The library agrees with the model, and so does one that is opened from the same facts. */
export async function checkAgainst(
  model: Model,
  { library, store }: { readonly library: Library; readonly store: Store },
): Promise<void> {
  const newest = model.shown.length - 1;
  expect(library.generation).toBe(newest);
  expect(library.generations().map(({ generation }) => generation)).toEqual(
    model.shown.slice(1).map((_, n) => n + 1),
  );
  expect(
    library.lessons().map(({ id, kind, state, revision, text, pinned, frozen, expiresAt, mergedInto }) => ({
      ...{ id, kind, state, revision, text, pinned, frozen, expiresAt, mergedInto },
      events: library.history(id).length,
    })),
  ).toEqual(
    [...model.lessons]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { kind, state, texts, pinned, frozen, expiresAt, mergedInto, events, ...lesson }]) => ({
        ...{
          id,
          kind,
          state,
          revision: texts.length,
          text: texts.at(-1),
          pinned,
          frozen,
          expiresAt,
          mergedInto,
        },
        ...(lesson && { events }),
      })),
  );
  for (const [id, lesson] of model.lessons) {
    const last = library.history(id).at(-1);
    expect([last?.state, last?.revision, last?.text]).toEqual([
      lesson.state,
      lesson.texts.length,
      textOf(lesson),
    ]);
  }
  for (const now of TIMES) {
    const wanted = [...shownOf(model.lessons)].filter(
      ([id]) => (model.lessons.get(id)?.expiresAt ?? Infinity) > now,
    );
    expect(library.shown(now).map(({ id, revision, text }) => [id, { revision, text }])).toEqual(wanted);
  }
  for (let other = 0; other <= newest; other++) {
    expect(library.diff(other, newest)).toEqual(difference(model, other, newest));
    expect(library.diff(newest, other)).toEqual(difference(model, newest, other));
    const random = (other * 7) % (newest + 1);
    expect(library.diff(other, random)).toEqual(difference(model, other, random));
  }
  expect(library.diff(0, newest + 1)).toBeUndefined();
  expect(everything((await openOn(store)).library)).toEqual(everything(library));
}

function difference(model: Model, from: number, to: number) {
  const before = model.shown[from] ?? new Map();
  const after = model.shown[to] ?? new Map();
  const revisionOf = (shown: Map<string, { revision: number }>, id: string) => shown.get(id)?.revision ?? 0;
  return {
    added: [...after.keys()]
      .filter((id) => !before.has(id))
      .map((id) => ({ id, revision: revisionOf(after, id) })),
    removed: [...before.keys()]
      .filter((id) => !after.has(id))
      .map((id) => ({ id, revision: revisionOf(before, id) })),
    revised: [...after.keys()]
      .filter((id) => before.has(id) && revisionOf(before, id) !== revisionOf(after, id))
      .map((id) => ({ id, from: revisionOf(before, id), to: revisionOf(after, id) })),
  };
}
