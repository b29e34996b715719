import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import { type Change, type LessonText, LINK_INVERSES, type Note } from '../../src/core/lesson.ts';
import type { Library } from '../../src/core/library.ts';
import { isErasedText } from '../../src/lessons/codec.ts';
import { openLibrary } from '../../src/lessons/library.ts';
import { linkLessonsBothWays } from '../../src/lessons/links.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { at, end, start } from '../record/store/facts.ts';
import { runsOf } from '../support/counts.ts';
import { person, text } from './library/samples.ts';

const IDS = ['a', 'b', 'c', 'd', 'e'];
const anyId = fc.constantFrom(...IDS, 'missing');
const id = fc.constantFrom(...IDS);
const SESSIONS = ['s0', 's1'];

/** Anything that a text may hold of links, also the tags of earlier versions, and links that lead nowhere or to itself. */
const held = fc.record({
  of: id,
  links: fc.uniqueArray(anyId, { maxLength: 3 }),
  relations: fc.array(
    fc.record({ type: fc.constantFrom('contradicts', 'revises', 'summarises'), to: anyId }),
    { maxLength: 2 },
  ),
  tags: fc.constantFrom([], ['contradicts:a'], ['contradicts:missing']),
  session: fc.constantFrom(...SESSIONS),
});
type Held = typeof held extends fc.Arbitrary<infer One> ? One : never;

const textOf = ({ of, links, relations, tags, session }: Held): LessonText => {
  const base = text({ name: `lesson-${of}`, content: `Words of ${of} from ${session}: ${links.join(' ')}.` });
  const note: Note = { ...base.note, links, tags, ...(relations.length === 0 ? {} : { relations }) };
  return {
    ...base,
    note,
    evidence: {
      turns: [`turn_of_${session}`],
      quotes: [],
      learner: 'notes',
    },
  };
};

type Step =
  | { readonly do: 'change'; readonly change: (library: Library) => Change }
  | { readonly do: 'rollback'; readonly to: number }
  | { readonly do: 'erase'; readonly session: string };
const changing = (change: (library: Library) => Change): Step => ({ do: 'change', change });
const revisionOf = (library: Library, of: string): number => library.lesson(of)?.revision ?? 1;

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: held.map((one) =>
      changing(() => ({ op: 'add', id: one.of, kind: 'skill', state: 'live', text: textOf(one) })),
    ),
  },
  {
    weight: 4,
    arbitrary: held.map((one) =>
      changing((library) => ({
        op: 'revise',
        id: one.of,
        from: revisionOf(library, one.of),
        text: textOf(one),
      })),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(id, id)
      .map(([of, by]) => changing(() => ({ op: 'retire', id: of, reason: 'old', supersededBy: by }))),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(held, id).map(([one, other]) =>
      changing((library) => ({
        op: 'merge',
        ids: [one.of, other],
        into: one.of,
        from: revisionOf(library, one.of),
        text: textOf(one),
      })),
    ),
  },
  {
    weight: 2,
    arbitrary: id.map((of) =>
      changing((library) => ({ op: 'restore', id: of, revision: revisionOf(library, of), state: 'live' })),
    ),
  },
  { weight: 1, arbitrary: fc.nat(8).map((to): Step => ({ do: 'rollback', to })) },
  { weight: 1, arbitrary: fc.constantFrom(...SESSIONS).map((session): Step => ({ do: 'erase', session })) },
);

async function openWorld() {
  const store = createMemoryStore();
  for (const session of SESSIONS)
    store.append({ facts: at(1, start(`turn_of_${session}`, session, {}), end(`turn_of_${session}`)) });
  const opened = await openLibrary({
    load: async (after, limit) => store.factsOf('library-changed', after, limit),
    append: async (fact) => {
      const [appended] = store.append({ facts: [fact] });
      if (appended === undefined) throw new Error('nothing was appended');
      return appended;
    },
    clock: createManualClock(1_000),
    newId: (prefix) => `${prefix}_1`,
    onFault: (error) => {
      throw error;
    },
  });
  return { store, opened };
}

/** What is true of the links of every library. */
function checkLinks(library: Library): number {
  const links = linkLessonsBothWays(library.lessons());
  let found = 0;
  for (const { id: from } of library.lessons()) {
    const mine = links.of(from);
    expect(new Set(mine.map(({ type, to }) => `${type} ${to}`)).size).toBe(mine.length);
    for (const { type, to } of mine) {
      found++;
      expect(to).not.toBe(from);
      expect(links.of(to)).toContainEqual({ type: LINK_INVERSES[type], to: from });
      const [one, other] = [library.lesson(from), library.lesson(to)];
      expect(one !== undefined && !isErasedText(one.text)).toBe(true);
      if (type === 'replaces') expect([other?.supersededBy, other?.mergedInto]).toContain(from);
      if (type === 'contradicts') expect([one?.state, other?.state]).not.toContain('retired');
      if (type === 'about') expect(mine.filter((link) => link.to === to)).toHaveLength(1);
    }
  }
  return found;
}

describe('links between lessons', () => {
  it('have two ends that agree after any changes: revisions, merges, retirements, rollbacks and erasures', async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
        const { store, opened } = await openWorld();
        try {
          const { library } = opened;
          for (const [nth, one] of steps.entries()) {
            if (one.do === 'erase') {
              store.erase(one.session, 50, 'asked');
              await opened.reload();
            } else {
              const set =
                one.do === 'rollback'
                  ? library.rollback(one.to, person)
                  : { id: `set-${nth}`, by: person, reason: 'a test', changes: [one.change(library)] };
              if (set !== undefined) await library.publish(set);
            }
            found += checkLinks(library);
          }
        } finally {
          store.close();
        }
      }),
      runsOf(13, 40),
    );
    expect(found).toBeGreaterThan(200);
  });

  it('say that a lesson was replaced only while it is: restored, it is about the same again', async () => {
    const { store, opened } = await openWorld();
    const { library } = opened;
    const one = { links: [], relations: [], tags: [], origin: undefined, session: 's0' } as const;
    const publish = (change: Change, nth: number) =>
      library.publish({ id: `set-${nth}`, by: person, reason: 'a test', changes: [change] });
    const added = (of: string, links: string[]): Change => ({
      op: 'add',
      id: of,
      kind: 'skill',
      state: 'live',
      text: textOf({ ...one, of, links, relations: [], tags: [] }),
    });
    await publish(added('a', []), 1);
    await publish(added('b', ['a']), 2);
    await publish({ op: 'retire', id: 'a', reason: 'old', supersededBy: 'b' }, 3);
    expect(linkLessonsBothWays(library.lessons()).of('a')).toEqual([{ type: 'replaced-by', to: 'b' }]);
    expect(linkLessonsBothWays(library.lessons()).of('b')).toEqual([{ type: 'replaces', to: 'a' }]);
    await publish({ op: 'restore', id: 'a', revision: 1, state: 'live' }, 4);
    expect(linkLessonsBothWays(library.lessons()).of('a')).toEqual([{ type: 'about', to: 'b' }]);
    store.close();
  });
});
