import { describe, expect, it } from 'vitest';
import type { Author, Change, ChangeResult, Lesson, LessonState } from '../../../src/core/lesson.ts';
import { createChangeSetDraft } from '../../../src/lessons/apply-change.ts';
import { decodeChange } from '../../../src/lessons/codec.ts';
import { createLibraryState } from '../../../src/lessons/library-state.ts';
import { add, instar, learner, person, text } from './samples.ts';

/** A library state to which each call applies a separate set. */
function newShelf() {
  const shelf = createLibraryState();
  let sets = 0;
  const apply = (change: Change, by: Author = person, at = 5): ChangeResult => {
    const draft = createChangeSetDraft(shelf, by, at);
    const result = draft.apply(decodeChange(change));
    shelf.commit(draft, { id: `s${++sets}`, by, reason: '', at });
    return result;
  };
  return { shelf, apply, lesson: (id: string): Lesson | undefined => shelf.lesson(id) };
}

const applied = (id: string, revision: number) => ({ status: 'applied', id, revision });
const same = (id: string) => ({ status: 'same', id });
const refused = (id: string, why: RegExp) => ({ status: 'refused', id, why: expect.stringMatching(why) });

/** Changes that lead to each state. */
const TO: Readonly<Record<LessonState, readonly Change[]>> = {
  proposed: [add('a', { state: 'proposed' })],
  trial: [add('a', { state: 'trial' })],
  live: [add('a', { state: 'live' })],
  retired: [add('a'), { op: 'retire', id: 'a', reason: 'old' }],
  rejected: [add('a', { state: 'proposed' }), { op: 'move', id: 'a', to: 'rejected', reason: 'no' }],
};

function shelfWith(state: LessonState) {
  const made = newShelf();
  for (const change of TO[state]) made.apply(change);
  expect(made.lesson('a')?.state).toBe(state);
  return made;
}

describe('adding', () => {
  it('makes a lesson of revision 1', () => {
    const { apply, lesson } = newShelf();
    expect(apply(add('a', { expiresAt: 99 }), learner, 7)).toEqual(applied('a', 1));
    expect(lesson('a')).toEqual({
      ...{ id: 'a', kind: 'skill', state: 'live', revision: 1, text: text({ name: 'lesson-a' }) },
      ...{ pinned: false, frozen: false, expiresAt: 99, createdAt: 7, changedAt: 7 },
    });
  });

  it('is the same for an existing text, also in another state, and refuses another text under its id', () => {
    const { apply } = shelfWith('retired');
    expect(apply(add('a', { state: 'trial' }))).toEqual(same('a'));
    expect(apply(add('a', { kind: 'fix' }))).toEqual(
      refused('a', /exists already with another text: revise it/),
    );
    expect(apply(add('a', { text: text() }))).toEqual(refused('a', /exists already/));
  });

  it('refuses a name that is taken in the same scope, with the id of its holder', () => {
    const { apply } = newShelf();
    apply(add('a', { state: 'proposed', text: text() }));
    expect(apply(add('b', { text: text({ content: 'other' }) }))).toEqual(refused('b', /^a has the name/));
    expect(apply(add('c', { text: text({ scope: { agent: 'x' } }) }))).toEqual(applied('c', 1));
    expect(apply({ op: 'retire', id: 'a', reason: '' })).toEqual(applied('a', 1));
    expect(apply(add('b', { text: text({ content: 'other' }) }))).toEqual(applied('b', 1));
  });

  it('stores a copy of the text', () => {
    const { apply, lesson } = newShelf();
    const keywords = ['one'];
    const mine = text({ note: { ...text().note, keywords } });
    apply(add('a', { text: mine }));
    keywords.push('two');
    expect(lesson('a')?.text.note.keywords).toEqual(['one']);
  });

  it('refuses an invalid text', () => {
    expect(newShelf().apply(add('a', { text: text({ content: '\u202e' }) }))).toEqual(
      refused('a', /U\+202E/),
    );
  });
});

describe('revising', () => {
  const next = text({ name: 'lesson-a', content: 'next' });
  const revise = (from: number, words = next): Change => ({ op: 'revise', id: 'a', from, text: words });

  it('counts revisions and keeps the old ones', () => {
    const { apply, shelf, lesson } = shelfWith('live');
    expect(apply(revise(1), learner, 9)).toEqual(applied('a', 2));
    expect(lesson('a')).toMatchObject({ revision: 2, text: next, createdAt: 5, changedAt: 9 });
    expect(shelf.text('a', 1)).toEqual(text({ name: 'lesson-a' }));
    expect(shelf.history('a').map(({ op, revision }) => [op, revision])).toEqual([
      ['add', 1],
      ['revise', 2],
    ]);
  });

  it('refuses an edit of an older revision, unless the text is the present one', () => {
    const { apply } = shelfWith('live');
    apply(revise(1));
    expect(apply(revise(1))).toEqual(same('a'));
    expect(apply(revise(1, text({ name: 'lesson-a', content: 'late' })))).toEqual(
      refused('a', /at revision 2, not 1: read the current/),
    );
  });

  it('refuses an unknown id', () => {
    expect(newShelf().apply(revise(1))).toEqual(refused('a', /^no lesson with id a$/));
  });

  it('refuses a retired or rejected lesson', () => {
    expect(shelfWith('retired').apply(revise(1))).toEqual(refused('a', /is retired: reactivate it/));
    expect(shelfWith('rejected').apply(revise(1))).toEqual(refused('a', /is rejected/));
  });

  it('refuses a name that another lesson has', () => {
    const { apply } = shelfWith('live');
    apply(add('b'));
    expect(apply(revise(1, text({ name: 'lesson-b' })))).toEqual(refused('a', /^b has the name lesson-b/));
  });
});

describe('merging', () => {
  const one = text({ name: 'lesson-b', content: 'both' });
  const merge = (ids: readonly string[], from = 1): Change => ({
    op: 'merge',
    ids,
    into: 'a',
    from,
    text: one,
  });

  it('retires the others, and the remaining lesson may take the name of one of them', () => {
    const { apply, lesson } = shelfWith('live');
    apply(add('b', { state: 'trial' }));
    expect(apply(merge(['a', 'b', 'b']))).toEqual(applied('a', 2));
    expect(lesson('a')).toMatchObject({ state: 'live', revision: 2, text: one });
    expect(lesson('b')).toMatchObject({
      state: 'retired',
      revision: 1,
      mergedInto: 'a',
      reason: 'merged into a',
    });
    expect(apply(merge(['b', 'a']))).toEqual(same('a'));
  });

  it.each([
    ['one lesson', merge(['a', 'a']), /two different lessons/],
    ['a lesson that is not among them', merge(['b', 'c']), /a must be one of/],
    ['an unknown lesson', merge(['a', 'ghost']), /^no lesson with id ghost$/],
    ['an unknown one to merge into', { ...merge(['a', 'ghost']), into: 'ghost' } as Change, /id ghost/],
    ['an old revision', merge(['a', 'b'], 7), /at revision 1, not 7/],
    ['a retired lesson', merge(['a', 'c']), /^c is retired/],
    ['a retired one to merge into', { ...merge(['b', 'c']), into: 'c' } as Change, /^c is retired/],
  ])('refuses %s', (_, change, why) => {
    const { apply } = shelfWith('live');
    apply(add('b'));
    apply(add('c'));
    apply({ op: 'retire', id: 'c', reason: '' });
    expect(apply(change)).toMatchObject({ status: 'refused', why: expect.stringMatching(why) });
  });
});

describe('retiring', () => {
  it('stores the reason, and is the same for a retired lesson', () => {
    const { apply, lesson } = shelfWith('trial');
    expect(apply({ op: 'retire', id: 'a', reason: 'it harms' })).toEqual(applied('a', 1));
    expect(lesson('a')).toMatchObject({ state: 'retired', reason: 'it harms' });
    expect(apply({ op: 'retire', id: 'a', reason: 'again' })).toEqual(same('a'));
    expect(lesson('a')?.reason).toBe('it harms');
  });

  it('refuses a rejected lesson', () => {
    expect(shelfWith('rejected').apply({ op: 'retire', id: 'a', reason: '' })).toEqual(
      refused('a', /rejected/),
    );
  });
});

describe('moving', () => {
  const ways: Readonly<Record<LessonState, readonly LessonState[]>> = {
    proposed: ['trial', 'live', 'rejected'],
    trial: ['live', 'rejected', 'proposed'],
    live: ['trial', 'proposed'],
    retired: ['proposed', 'trial', 'live'],
    rejected: ['proposed'],
  };
  const targets = ['proposed', 'trial', 'live', 'rejected'] as const;
  const states = Object.keys(ways) as LessonState[];
  const pairs = states.flatMap((from) => targets.map((to) => [from, to] as const));

  it.each(pairs)('from %s to %s follows the table', (from, to) => {
    const { apply, lesson } = shelfWith(from);
    const result = apply({ op: 'move', id: 'a', to, reason: 'because' });
    if (from === to) expect(result).toEqual(same('a'));
    else if (ways[from].includes(to)) expect(result).toEqual(applied('a', 1));
    else expect(result).toEqual(refused('a', new RegExp(`is ${from} and cannot become ${to}`)));
    const after = lesson('a');
    expect(after?.state).toBe(ways[from].includes(to) ? to : from);
    const reason = {
      rejected: from === 'rejected' ? 'no' : 'because',
      retired: 'old',
      proposed: from === 'proposed' ? undefined : 'because',
    }[after?.state as string];
    expect(after?.reason).toBe(reason);
  });

  it('lets only a person reactivate a rejected lesson', () => {
    for (const by of [learner, instar])
      expect(shelfWith('rejected').apply({ op: 'move', id: 'a', to: 'proposed' }, by)).toEqual(
        refused('a', /only a person/),
      );
  });

  it('refuses to reactivate a lesson whose name another one has', () => {
    const { apply } = shelfWith('retired');
    apply(add('b', { text: text({ name: 'lesson-a' }) }));
    expect(apply({ op: 'move', id: 'a', to: 'live' })).toEqual(refused('a', /^b has the name/));
  });

  it('drops `mergedInto` when a lesson is reactivated', () => {
    const { apply, lesson } = shelfWith('live');
    apply(add('b'));
    apply({ op: 'merge', ids: ['a', 'b'], into: 'a', from: 1, text: text() });
    apply({ op: 'move', id: 'b', to: 'trial' });
    expect(lesson('b')).not.toHaveProperty('mergedInto');
    expect(lesson('b')).not.toHaveProperty('reason');
  });
});

describe('marking and expiring', () => {
  it('apply once and are the same afterwards', () => {
    const { apply, lesson } = shelfWith('live');
    const steps: readonly Change[] = [
      { op: 'mark', id: 'a', pinned: true },
      { op: 'mark', id: 'a', frozen: true },
      { op: 'expire', id: 'a', expiresAt: 50 },
      { op: 'expire', id: 'a' },
    ];
    for (const step of steps) {
      expect(apply(step)).toEqual(applied('a', 1));
      expect(apply(step)).toEqual(same('a'));
    }
    expect(apply({ op: 'mark', id: 'a' })).toEqual(same('a'));
    expect(lesson('a')).toMatchObject({ pinned: true, frozen: true });
    expect(lesson('a')).not.toHaveProperty('expiresAt');
  });
});

describe('restoring', () => {
  it('makes a new revision only when the text differs', () => {
    const { apply, lesson } = shelfWith('live');
    apply({ op: 'revise', id: 'a', from: 1, text: text({ name: 'lesson-a', content: 'next' }) });
    apply({ op: 'retire', id: 'a', reason: 'old' });
    expect(apply({ op: 'restore', id: 'a', revision: 1, state: 'live' })).toEqual(applied('a', 3));
    expect(lesson('a')).toMatchObject({ state: 'live', revision: 3, text: text({ name: 'lesson-a' }) });
    expect(lesson('a')).not.toHaveProperty('reason');
    expect(apply({ op: 'restore', id: 'a', revision: 1, state: 'live' })).toEqual(same('a'));
    expect(apply({ op: 'restore', id: 'a', revision: 3, state: 'retired' })).toEqual(applied('a', 3));
  });

  it('refuses a revision and a state that never existed', () => {
    const { apply } = shelfWith('live');
    expect(apply({ op: 'restore', id: 'a', revision: 2, state: 'live' })).toEqual(
      refused('a', /no revision 2/),
    );
    expect(apply({ op: 'restore', id: 'a', revision: 1, state: 'trial' })).toEqual(
      refused('a', /never trial/),
    );
  });
});

describe('a lesson that a person froze or pinned', () => {
  const words = text({ name: 'lesson-a', content: 'next' });
  const touches: readonly Change[] = [
    { op: 'revise', id: 'a', from: 1, text: words },
    { op: 'merge', ids: ['a', 'b'], into: 'a', from: 1, text: words },
    { op: 'merge', ids: ['a', 'b'], into: 'b', from: 1, text: text({ name: 'lesson-b', content: 'next' }) },
    { op: 'retire', id: 'a', reason: '' },
    { op: 'move', id: 'a', to: 'trial' },
    { op: 'mark', id: 'a', frozen: false },
    { op: 'expire', id: 'a', expiresAt: 9 },
    { op: 'restore', id: 'a', revision: 1, state: 'proposed' },
  ];

  it.each(touches)('is out of reach of learners when frozen: $op', (change) => {
    for (const by of [learner, instar, person]) {
      const { apply } = newShelf();
      for (const step of [add('a', { state: 'proposed' }), add('b')]) apply(step);
      apply({ op: 'move', id: 'a', to: 'live' });
      apply({ op: 'mark', id: 'a', frozen: true });
      const result = apply(change, by);
      if (by === person) expect(result.status).toBe('applied');
      else expect(result).toMatchObject({ status: 'refused', why: expect.stringMatching(/^a is frozen/) });
    }
  });

  const takings: readonly Change[] = [
    { op: 'retire', id: 'a', reason: '' },
    { op: 'move', id: 'a', to: 'proposed' },
    { op: 'expire', id: 'a', expiresAt: 9 },
    { op: 'restore', id: 'a', revision: 1, state: 'proposed' },
    { op: 'merge', ids: ['a', 'b'], into: 'b', from: 1, text: text({ name: 'lesson-b', content: 'next' }) },
  ];

  it.each(takings)('is not taken away by a measurement when pinned: $op', (change) => {
    for (const by of [learner, instar]) {
      const { apply } = newShelf();
      for (const step of [add('a', { state: 'proposed' }), add('b')]) apply(step);
      apply({ op: 'move', id: 'a', to: 'live' });
      apply({ op: 'mark', id: 'a', pinned: true });
      expect(apply(change, by).status).toBe(by === learner ? 'applied' : 'refused');
    }
  });

  it('stays pinned until a person unpins it', () => {
    const { apply } = shelfWith('live');
    apply({ op: 'mark', id: 'a', pinned: true });
    for (const by of [learner, instar])
      expect(apply({ op: 'mark', id: 'a', pinned: false }, by)).toEqual(
        refused('a', /only a person may unpin/),
      );
    expect(apply({ op: 'move', id: 'a', to: 'trial' }, instar)).toEqual(applied('a', 1));
    expect(apply({ op: 'mark', id: 'a', pinned: false })).toEqual(applied('a', 1));
  });
});
