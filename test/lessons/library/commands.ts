import fc from 'fast-check';
import { expect } from 'vitest';
import type { ManualClock } from '../../../src/core/clock.ts';
import type { Author, Change, ChangeSet, PublishResult } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import type { NewFact, Store } from '../../../src/core/store.ts';
import { CURRENT, type Draw, draw, IDS } from './arbitraries.ts';
import { type Model, publishTo, shownOf } from './library-model.ts';
import { checkAgainst } from './observe.ts';
import { appendTo, openOn, person } from './samples.ts';

/** A library under test, and how to crash it. */
export interface Real {
  readonly clock: ManualClock;
  store: Store;
  library: Library;
  /** The behaviour of the next append. */
  fault: 'none' | 'refuse' | 'lose-answer';
  readonly sets: ChangeSet[];
  /** The same facts, as the next process finds them. */
  readonly reopenStore: (store: Store) => Store;
  readonly tally: Map<string, number>;
}

export async function open(real: Real): Promise<void> {
  const append = async (fact: NewFact) => {
    const { fault } = real;
    real.fault = 'none';
    if (fault === 'refuse') throw new Error('refused');
    const appended = await appendTo(real.store, fact);
    if (fault === 'lose-answer') throw new Error('lost');
    return appended;
  };
  const opened = await openOn(real.store, { clock: real.clock, append });
  expect(opened.skipped).toBe(0);
  real.library = opened.library;
}

const count = (real: Real, what: string): void => void real.tally.set(what, (real.tally.get(what) ?? 0) + 1);

const setFor = (model: Model, real: Real, { by, changes, isApt }: Draw): ChangeSet => {
  const filled = changes.map((change) => filledIn(model, isApt ? aptFor(model, change) : change));
  const set = { id: `set-${real.sets.length}`, by, reason: 'drawn', changes: filled };
  real.sets.push(set);
  return set;
};

function filledIn(model: Model, change: Change): Change {
  if (!('from' in change) || change.from !== CURRENT) return change;
  const id = change.op === 'merge' ? change.into : change.id;
  return { ...change, from: model.lessons.get(id)?.texts.length ?? 1 };
}

/** The change with references to existing lessons and revisions. */
function aptFor(model: Model, change: Change): Change {
  const active = [...model.lessons].filter(([, { state }]) => state !== 'retired' && state !== 'rejected');
  const ids = (change.op === 'merge' ? active : [...model.lessons]).map(([id]) => id);
  const apt = (id: string): string => ids[IDS.indexOf(id) % Math.max(1, ids.length)] ?? id;
  if (change.op === 'add') return change;
  if (change.op === 'merge')
    return { ...change, ids: [...change.ids, change.into].map(apt), into: apt(change.into) };
  const id = apt(change.id);
  if (change.op !== 'restore') return { ...change, id };
  const { texts = [], states = [] } = model.lessons.get(id) ?? {};
  const state = states[change.revision % Math.max(1, states.length)] ?? change.state;
  return { ...change, id, revision: 1 + (change.revision % Math.max(1, texts.length)), state };
}

/** Publishes to the model as well and compares the results. */
function expectSame(model: Model, real: Real, set: ChangeSet, published: PublishResult): void {
  const isRepeated = model.published.has(set.id);
  const statuses = publishTo(model, set.id, set.by, set.changes);
  for (const [index, result] of published.results.entries()) {
    count(real, `${set.changes[index]?.op} ${result.status}`);
    // Changes that did not apply the first time may have another result now, but are not applied.
    if (!isRepeated || statuses[index] === 'applied') expect(result.status).toBe(statuses[index]);
    else expect(result.status).not.toBe('applied');
  }
  expect(published.results).toHaveLength(set.changes.length);
  expect(published.generation).toBe(model.published.get(set.id)?.generation ?? model.shown.length - 1);
}

type Run = (model: Model, real: Real) => Promise<void>;

const command = (name: string, run: Run): fc.AsyncCommand<Model, Real> => ({
  check: () => true,
  run: async (model, real) => {
    count(real, name.split(' ')[0] ?? '');
    real.clock.advance(10);
    await run(model, real);
    await checkAgainst(model, real);
  },
  toString: () => name,
});

const show = (draws: readonly Draw[]): string =>
  JSON.stringify(draws.map(({ by, changes }) => [by.kind, changes]));

const publish = (draws: readonly Draw[]) =>
  command(`publish ${show(draws)}`, async (model, real) => {
    const sets = draws.map((drawn) => setFor(model, real, drawn));
    const published = await Promise.all(sets.map((set) => real.library.publish(set)));
    for (const [index, set] of sets.entries()) {
      const answer = published[index];
      if (answer !== undefined) expectSame(model, real, set, answer);
    }
  });

const again = (pick: number) =>
  command(`again ${pick}`, async (model, real) => {
    const set = real.sets[pick % Math.max(1, real.sets.length)];
    if (set !== undefined) expectSame(model, real, set, await real.library.publish(set));
  });

/** A set that was published before, under a new id: many of its changes are the same. */
const echo = (pick: number) =>
  command(`echo ${pick}`, async (model, real) => {
    const { by = person, changes = [] } = real.sets.at(-1 - (pick % 3)) ?? {};
    const set = setFor(model, real, { by, changes, isApt: false });
    expectSame(model, real, set, await real.library.publish(set));
  });

const crash = () =>
  command('crash', async (_, real) => {
    real.store = real.reopenStore(real.store);
    await open(real);
  });

/** An append fails before or after writing; then the same set is published, or another one first. */
const fail = (fault: 'refuse' | 'lose-answer', drawn: Draw, other: Draw | undefined) =>
  command(`${fault} ${show([drawn])} then ${other ? show([other]) : 'the same'}`, async (model, real) => {
    const set = setFor(model, real, drawn);
    real.fault = fault;
    const before = real.library.lessons();
    const answer = await real.library.publish(set).catch(() => undefined);
    real.fault = 'none';
    if (answer === undefined) expect(real.library.lessons()).toBe(before);
    if (answer !== undefined) expectSame(model, real, set, answer);
    // It was written: the next publication of any set finds it in the log.
    else if (fault === 'lose-answer') publishTo(model, set.id, set.by, set.changes);
    if (other !== undefined || answer === undefined) {
      const next = other === undefined ? set : setFor(model, real, other);
      expectSame(model, real, next, await real.library.publish(next));
    }
  });

const rollBack = (pick: number, by: Author) =>
  command(`roll-back ${pick} by ${by.kind}`, async (model, real) => {
    const generation = pick % model.shown.length;
    const set = real.library.rollback(generation, by);
    if (set === undefined) throw new Error(`generation ${generation} was lost`);
    expectSame(model, real, set, await real.library.publish(set));
    real.sets.push(set);
    if (by.kind !== 'person') return;
    const words = (shown: ReturnType<typeof shownOf> | undefined) =>
      [...(shown ?? [])].map(([id, { text }]) => [id, text]);
    expect(words(shownOf(model.lessons))).toEqual(words(model.shown[generation]));
  });

const number = fc.nat({ max: 60 });

export const commands = fc.commands(
  [
    fc.array(draw, { minLength: 1, maxLength: 3 }).map(publish),
    fc.array(draw, { minLength: 1, maxLength: 3 }).map(publish),
    fc.array(draw, { minLength: 1, maxLength: 3 }).map(publish),
    number.map(again),
    number.map(echo),
    fc.constant(undefined).map(crash),
    fc
      .tuple(fc.constantFrom('refuse', 'lose-answer'), draw, fc.option(draw, { nil: undefined }))
      .map(([fault, drawn, other]) => fail(fault, drawn, other)),
    fc
      .tuple(number, fc.constantFrom(person, person, person, { kind: 'learner', name: 'x' } as const))
      .map(([pick, by]) => rollBack(pick, by)),
  ],
  { maxCommands: 40, size: 'max' },
);
