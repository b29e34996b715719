import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import type { Fact } from '../../../src/core/fact.ts';
import type { Change, ChangeSet, PublishResult } from '../../../src/core/lesson.ts';
import { StoreError } from '../../../src/core/store.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { add, appendTo, learner, openOn, person, setOf, text } from './samples.ts';

type Changed = Extract<Fact, { type: 'library-changed' }>;

const changed = (set: string, changes: readonly unknown[], generation = 1): Changed => ({
  type: 'library-changed',
  set,
  by: person,
  reason: '',
  changes: changes as readonly Change[],
  generation,
});

describe('publishing', () => {
  it('writes one fact with the applied changes only (not the refused or unchanged ones)', async () => {
    const store = createMemoryStore();
    const { library } = await openOn(store);
    const changes: readonly Change[] = [
      add('a'),
      add('a'),
      { op: 'retire', id: 'ghost', reason: '' },
      add('b'),
    ];
    const published = await library.publish(setOf('s1', changes));
    expect(published.results.map(({ status }) => status)).toEqual(['applied', 'same', 'refused', 'applied']);
    expect(store.facts(0, 10)).toEqual([
      {
        seq: 1,
        at: 1_000,
        fact: { ...changed('s1', [add('a'), add('b')]), reason: 'why s1' },
      },
    ]);
  });

  it('writes nothing and notifies no listener when no change of a set applies', async () => {
    const store = createMemoryStore();
    const { library } = await openOn(store);
    const told: PublishResult[] = [];
    library.onChange((published) => told.push(published));
    await library.publish(setOf('s1', [{ op: 'retire', id: 'ghost', reason: '' }]));
    expect(store.totals().facts).toBe(0);
    expect(told).toEqual([]);
  });

  it('applies each change of a set to the result of the previous ones', async () => {
    const { library } = await openOn(createMemoryStore());
    const { results } = await library.publish(
      setOf('s1', [
        add('a'),
        { op: 'revise', id: 'a', from: 1, text: text({ name: 'lesson-a', content: 'two' }) },
        { op: 'restore', id: 'a', revision: 1, state: 'live' },
        { op: 'retire', id: 'a', reason: '' },
        add('b', { text: text({ name: 'lesson-a' }) }),
      ]),
    );
    expect(results.map((result) => ('revision' in result ? result.revision : result))).toEqual([
      1, 2, 3, 3, 1,
    ]);
    expect(library.generation).toBe(1);
    expect(library.shown(0).map(({ id }) => id)).toEqual(['b']);
  });

  it('tracks the holder of a name that moves between lessons within a set', async () => {
    const { library } = await openOn(createMemoryStore());
    await library.publish(setOf('s1', [add('a'), add('b', { text: text({ name: 'wanted' }) })]));
    const { results } = await library.publish(
      setOf('s2', [
        { op: 'mark', id: 'a', pinned: true },
        { op: 'mark', id: 'b', pinned: true },
        { op: 'retire', id: 'b', reason: '' },
        { op: 'revise', id: 'a', from: 1, text: text({ name: 'wanted', content: 'taken over' }) },
        { op: 'mark', id: 'b', pinned: false },
        add('c', { text: text({ name: 'wanted', content: 'too late' }) }),
      ]),
    );
    expect(results.map(({ status }) => status)).toEqual([...Array(5).fill('applied'), 'refused']);
    const late = await library.publish(
      setOf('s3', [add('d', { text: text({ name: 'wanted', content: 'later' }) })]),
    );
    expect(late.results).toEqual([
      { status: 'refused', id: 'd', why: expect.stringMatching(/^a has the name/) },
    ]);
  });

  it('applies sets one after the other when many are published at once', async () => {
    const { library } = await openOn(createMemoryStore());
    const sets = Array.from({ length: 20 }, (_, n) => setOf(`s${n}`, [add('a'), add(`b${n}`)]));
    const published = await Promise.all(sets.map((set) => library.publish(set)));
    expect(published.map(({ generation }) => generation)).toEqual(sets.map((_, n) => n + 1));
    expect(published.filter(({ results }) => results[0]?.status === 'applied')).toHaveLength(1);
  });

  it("ignores later modifications of the caller's set", async () => {
    const { library } = await openOn(createMemoryStore());
    const ids = ['a', 'c'];
    const changes: Change[] = [add('a'), add('c'), { op: 'merge', ids, into: 'a', from: 1, text: text() }];
    const published = library.publish(setOf('s1', changes));
    changes[0] = add('b');
    ids.push('ghost');
    expect((await published).results.map(({ status }) => status)).toEqual(['applied', 'applied', 'applied']);
    expect(library.lessons().map(({ id }) => id)).toEqual(['a', 'c']);
  });

  it('treats negative zero as zero, as the log does', async () => {
    const { library } = await openOn(createMemoryStore());
    const said = text({ note: { ...text().note, importance: -0, confidence: -0 } });
    await library.publish(setOf('s1', [add('a', { text: said })]));
    const { results } = await library.publish(setOf('s2', [add('a', { text: said })]));
    expect(results).toEqual([{ status: 'same', id: 'a' }]);
  });

  it('refuses all of a set without an author, an id or a reason', async () => {
    const { library } = await openOn(createMemoryStore());
    const whole = setOf('s1', [add('a')]);
    const broken: readonly unknown[] = [
      { ...whole, by: undefined },
      { ...whole, by: { kind: 'god', name: 'x' } },
      { ...whole, id: '' },
      { ...whole, id: 7 },
      { ...whole, reason: null },
    ];
    for (const set of broken) {
      const { results } = await library.publish(set as ChangeSet);
      expect(results).toEqual([{ status: 'refused', id: 'a', why: expect.any(String) }]);
    }
    expect((await library.publish({} as ChangeSet)).results).toEqual([]);
    expect(library.lessons()).toEqual([]);
  });
});

describe('the same set again', () => {
  const set = setOf('s1', [add('a'), { op: 'retire', id: 'ghost', reason: '' }]);
  const later = setOf('s2', [
    { op: 'revise', id: 'a', from: 1, text: text({ name: 'lesson-a', content: 'two' }) },
    add('ghost'),
  ]);

  it('returns the same results again, also after a restart and later changes, and changes nothing', async () => {
    const store = createMemoryStore();
    const { library } = await openOn(store);
    const first = await library.publish(set);
    expect(await library.publish(set)).toEqual(first);
    await library.publish(later);
    const reopened = (await openOn(store)).library;
    for (const one of [library, reopened]) {
      const again = await one.publish(set);
      expect(again.generation).toBe(1);
      expect(again.results[0]).toEqual({ status: 'applied', id: 'a', revision: 1 });
      expect(again.results[1]).toEqual({
        status: 'refused',
        id: 'ghost',
        why: expect.stringContaining('publish it in a new set'),
      });
      expect(one.lesson('ghost')?.state).toBe('live');
      expect(one.generation).toBe(2);
    }
    expect(store.totals().facts).toBe(2);
  });

  it('is refused when its changes differ', async () => {
    const { library } = await openOn(createMemoryStore());
    await library.publish(set);
    const { results } = await library.publish(setOf('s1', [add('b')]));
    expect(results).toEqual([
      { status: 'refused', id: 'b', why: expect.stringMatching(/was published before/) },
    ]);
    expect(library.lesson('b')).toBeUndefined();
  });

  it('after a write whose reply was lost is found in the log and folded once', async () => {
    const store = createMemoryStore();
    let isLosing = true;
    const { library } = await openOn(store, {
      append: async (fact) => {
        const appended = await appendTo(store, fact);
        if (!isLosing) return appended;
        isLosing = false;
        throw new StoreError('closed', 'lost');
      },
    });
    const told: PublishResult[] = [];
    library.onChange((published) => told.push(published));
    await expect(library.publish(set)).rejects.toThrow('lost');
    expect(library.generation).toBe(0);
    const again = await library.publish(set);
    expect(again).toMatchObject({ generation: 1, results: [{ status: 'applied' }, { status: 'refused' }] });
    expect(library.history('a')).toHaveLength(1);
    expect(told).toHaveLength(1);
    expect(store.totals().facts).toBe(1);
  });

  it('that another process appended is read from the log (not from memory)', async () => {
    const store = createMemoryStore();
    const { library } = await openOn(store);
    store.append({ facts: [{ at: 1, fact: changed('s1', [add('b')]), key: 'set:s1' }] });
    const { results } = await library.publish(setOf('s1', [add('a')]));
    expect(results[0]?.status).toBe('refused');
    expect(library.lessons().map(({ id }) => id)).toEqual(['b']);
  });
});

describe('a store that fails', () => {
  it('changes nothing, and the next set is published', async () => {
    const store = createMemoryStore();
    let isFull = true;
    const { library } = await openOn(store, {
      append: async (fact) => {
        if (isFull) throw new StoreError('full', 'no space');
        return appendTo(store, fact);
      },
    });
    const first = library.publish(setOf('s1', [add('a')]));
    const second = library.publish(setOf('s2', [add('b')]));
    await expect(first).rejects.toMatchObject({ code: 'full' });
    await expect(second).rejects.toMatchObject({ code: 'full' });
    expect(library.lessons()).toEqual([]);
    isFull = false;
    expect(await library.publish(setOf('s2', [add('b')]))).toMatchObject({ generation: 1 });
    expect(library.lessons().map(({ id }) => id)).toEqual(['b']);
  });

  it('rejects a set that cannot be read back, until it can', async () => {
    const store = createMemoryStore();
    let isBlind = false;
    const { library } = await openOn(store, {
      load: async (after, limit) => {
        if (isBlind) throw new StoreError('io', 'blind');
        return store.factsOf('library-changed', after, limit);
      },
    });
    isBlind = true;
    await expect(library.publish(setOf('s1', [add('a')]))).rejects.toThrow('blind');
    expect(library.lesson('a')).toBeUndefined();
    isBlind = false;
    expect(await library.publish(setOf('s1', [add('a')]))).toMatchObject({
      generation: 1,
      results: [{ status: 'applied', id: 'a', revision: 1 }],
    });
  });

  it('rejects (and does not loop) when the log repeats itself', async () => {
    const store = createMemoryStore();
    await expect(
      openOn(store, { load: async () => [{ seq: 0, at: 0, fact: changed('s', [add('a')]) }] }),
    ).rejects.toBeInstanceOf(StoreError);
  });
});

describe('the log', () => {
  it('is what the library holds after the writer has redacted a secret', async () => {
    const store = createMemoryStore();
    const { library } = await openOn(store, {
      append: (fact) => appendTo(store, JSON.parse(JSON.stringify(fact).replaceAll('hunter2', '[redacted]'))),
    });
    const set = setOf('s1', [add('a', { text: text({ content: 'the password is hunter2' }) })]);
    const first = await library.publish(set);
    expect(library.lesson('a')?.text.content).toBe('the password is [redacted]');
    expect((await openOn(store)).library.lessons()).toEqual(library.lessons());
    expect(await library.publish(set)).toEqual(first);
  });

  it('is skipped and counted where it cannot be applied, and the rest is applied', async () => {
    const store = createMemoryStore();
    const facts: readonly Fact[] = [
      changed('s1', [add('a'), { op: 'levitate', id: 'a' }]),
      changed('s2', [{ op: 'retire', id: 'ghost', reason: '' }], 2),
      changed('s3', 'nonsense' as unknown as [], 3),
      { ...changed('s4', [add('b')], 4), by: { kind: 'god', name: '' } as never },
      changed('s5', [add('c', { text: text({ content: '\u202ehidden' }) })], 5),
      changed('s5', [add('d')], 5),
      { type: 'session-end', session: 's', reason: 'quit' },
      changed('s6', [add('e')], 6),
    ];
    store.append({ facts: facts.map((fact, at) => ({ at, fact })) });
    const opened = await openOn(store);
    expect(opened.skipped).toBe(6);
    expect(opened.library.lessons().map(({ id }) => id)).toEqual(['a', 'e']);
    // Turns were stamped with these numbers: an unreadable fact must not give them a second meaning.
    expect(opened.library.generations().map(({ generation }) => generation)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(opened.library.diff(1, 6)).toEqual({
      added: [{ id: 'e', revision: 1 }],
      removed: [],
      revised: [],
    });
  });

  it('cannot set a generation greater than the number of facts', async () => {
    const store = createMemoryStore();
    const claims = [Number.MAX_SAFE_INTEGER, 0.5, -1, 'x' as unknown as number];
    const facts = claims.map((claim, n) => ({ at: n, fact: changed(`s${n}`, [add(`a${n}`)], claim) }));
    store.append({ facts });
    const { library } = await openOn(store);
    expect(library.generation).toBe(4);
  });

  it('is read page by page', async () => {
    const store = createMemoryStore();
    const facts = Array.from({ length: 1_203 }, (_, n) => ({
      at: n,
      fact: changed(`s${n}`, [add(`a${n}`)], n + 1),
    }));
    store.append({ facts });
    const { library } = await openOn(store);
    expect(library.lessons()).toHaveLength(1_203);
    expect(library.generation).toBe(1_203);
  });
});

describe('listeners', () => {
  it('are called after the change is visible, until they unsubscribe', async () => {
    const { library } = await openOn(createMemoryStore());
    const seen: number[] = [];
    const stop = library.onChange(({ generation }) => {
      seen.push(generation, library.lessons().length);
    });
    await library.publish(setOf('s1', [add('a')]));
    stop();
    await library.publish(setOf('s2', [add('b')]));
    expect(seen).toEqual([1, 1]);
  });

  it('do not stop publishing by throwing', async () => {
    const faults: unknown[] = [];
    const { library } = await openOn(createMemoryStore(), { faults });
    const boom = new Error('boom');
    const seen: number[] = [];
    library.onChange(() => {
      throw boom;
    });
    library.onChange(({ generation }) => seen.push(generation));
    await library.publish(setOf('s1', [add('a')]));
    await library.publish(setOf('s2', [add('b')]));
    expect(seen).toEqual([1, 2]);
    expect(faults).toEqual([boom, boom]);
  });
});

describe('reading', () => {
  it('finds by id first, and by name only when one active lesson has it', async () => {
    const { library } = await openOn(createMemoryStore());
    await library.publish(
      setOf('s1', [
        add('a', { text: text({ name: 'twice' }) }),
        add('b', { text: text({ name: 'twice', scope: { agent: 'x' } }) }),
        add('c', { text: text({ name: 'once' }) }),
        add('once', { text: text({ name: 'other' }) }),
        add('d', { text: text({ name: 'gone' }) }),
        { op: 'retire', id: 'd', reason: '' },
      ]),
    );
    expect(library.find('twice')).toBeUndefined();
    expect(library.find('gone')).toBeUndefined();
    expect(library.find('nothing')).toBeUndefined();
    expect(library.find('once')?.id).toBe('once');
    expect(library.find('other')?.id).toBe('once');
    await library.publish(setOf('s2', [{ op: 'retire', id: 'b', reason: '' }]));
    expect(library.find('twice')?.id).toBe('a');
  });

  it.each(['route', 'limit', 'flow'] as const)(
    'refuses a lesson of the kind %s with the reason (not as live and without effect)',
    async (kind) => {
      const { library } = await openOn(createMemoryStore());
      for (const state of ['proposed', 'trial', 'live'] as const) {
        const { results } = await library.publish(setOf(`s-${state}`, [add('a', { kind, state }), add('b')]));
        expect(results[0]).toEqual({
          status: 'refused',
          id: 'a',
          why: expect.stringContaining(`a lesson of the kind ${kind} needs an overlay of the type`),
        });
        expect(results[1]?.status).not.toBe('refused');
      }
      expect(library.lesson('a')).toBeUndefined();
    },
  );

  it('opens an old record with such a lesson, which can be retired and rejected but not used', async () => {
    const store = createMemoryStore();
    const old = { type: 'library-changed', set: 'old', by: person, reason: 'before', generation: 1 } as const;
    const changes = [add('a', { kind: 'route' }), add('p', { kind: 'flow', state: 'proposed' }), add('b')];
    await appendTo(store, { at: 1, fact: { ...old, changes } });
    const { library, skipped } = await openOn(store);
    expect(skipped).toBe(0);
    expect(library.lessons().map(({ id, state }) => [id, state])).toEqual([
      ['a', 'live'],
      ['b', 'live'],
      ['p', 'proposed'],
    ]);
    expect(library.shown(0).map(({ id }) => id)).toEqual(['b']);
    const done = async (id: string, change: Change) =>
      (await library.publish(setOf(id, [change]))).results[0]?.status;
    expect(await done('s1', { op: 'move', id: 'p', to: 'live' })).toBe('refused');
    expect(await done('s2', { op: 'move', id: 'p', to: 'rejected' })).toBe('applied');
    expect(await done('s3', { op: 'retire', id: 'a', reason: 'nothing reads it' })).toBe('applied');
    expect(await done('s4', { op: 'move', id: 'a', to: 'live' })).toBe('refused');
  });

  it('shows trial and live lessons of the kinds for prompts, ordered by id, until they expire', async () => {
    const clock = createManualClock(10);
    const { library } = await openOn(createMemoryStore(), { clock });
    await library.publish(
      setOf('s1', [
        add('d', { state: 'trial', expiresAt: 100 }),
        add('c', { expiresAt: 50 }),
        add('b', { state: 'proposed' }),
        add('B', { kind: 'fix', text: text({ name: 'lesson-upper' }) }),
      ]),
    );
    const ids = (now: number) => library.shown(now).map(({ id }) => id);
    expect([ids(10), ids(49), ids(50), ids(99), ids(100), ids(49)]).toEqual([
      ['B', 'c', 'd'],
      ['B', 'c', 'd'],
      ['B', 'd'],
      ['B', 'd'],
      ['B'],
      ['B', 'c', 'd'],
    ]);
    expect(library.shown(10)).toBe(library.shown(20));
    expect(library.generation).toBe(1);
  });

  it('lists by id, also after many changes at once', async () => {
    const { library } = await openOn(createMemoryStore());
    const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);
    for (const size of [1, 150, 3, 120]) {
      const start = library.lessons().length;
      const adds = Array.from({ length: size }, (_, n) => add(`l${((start + n) * 7919) % 1009}`));
      await library.publish(setOf(`s${start}`, adds));
      expect(library.lessons()).toHaveLength(start + size);
      expect(ids(library.lessons())).toEqual([...ids(library.lessons())].sort());
      expect(library.shown(0)).toEqual(library.lessons());
    }
    await library.publish(setOf('gone', [{ op: 'retire', id: 'l0', reason: '' }]));
    expect(library.shown(0)).toEqual(library.lessons().filter(({ id }) => id !== 'l0'));
  });

  it('records the history of a lesson with author, time, reason and generation', async () => {
    const clock = createManualClock(10);
    const { library } = await openOn(createMemoryStore(), { clock });
    await library.publish(setOf('s1', [add('a', { state: 'proposed' })], learner));
    clock.advance(5);
    await library.publish(setOf('s2', [{ op: 'move', id: 'a', to: 'live' }]));
    await library.publish(setOf('s3', [{ op: 'retire', id: 'a', reason: 'it harms' }]));
    const text1 = add('a').text;
    expect(library.history('a')).toEqual([
      {
        at: 10,
        by: learner,
        reason: 'why s1',
        op: 'add',
        state: 'proposed',
        revision: 1,
        text: text1,
        generation: 0,
      },
      {
        at: 15,
        by: person,
        reason: 'why s2',
        op: 'move',
        state: 'live',
        revision: 1,
        text: text1,
        generation: 1,
      },
      {
        at: 15,
        by: person,
        reason: 'it harms',
        op: 'retire',
        state: 'retired',
        revision: 1,
        text: text1,
        generation: 2,
      },
    ]);
    expect(library.history('ghost')).toEqual([]);
  });
});
