import { describe, expect, it } from 'vitest';
import type { Author, Change, IdentityTier } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { openMemoryLibrary } from '../skill-files/skill-folders.ts';

const PERSON: Author = { kind: 'person', name: 'person' };
const OTHERS: readonly Author[] = [
  { kind: 'learner', name: 'evolver' },
  { kind: 'instar', name: 'measurement' },
  { kind: 'file', name: 'SOUL.md' },
];
const textOf = (tier: IdentityTier | undefined, content = 'Be honest.') =>
  lessonText({
    name: 'soul',
    description: 'Who you are.',
    content,
    scope: { agent: 'ada' },
    note: tier === undefined ? {} : { tier },
  });
let sets = 0;
const publish = async (
  library: Library,
  by: Author,
  ...changes: readonly Change[]
): Promise<readonly string[]> =>
  (await library.publish({ id: `t${++sets}`, by, reason: 'test', changes })).results.map(
    ({ status }) => status,
  );

async function withLive(tier: IdentityTier | undefined): Promise<Library> {
  const library = await openMemoryLibrary();
  const text = textOf(tier);
  await publish(library, PERSON, { op: 'add', id: 'i', kind: 'identity', state: 'live', text });
  await publish(library, PERSON, {
    op: 'revise',
    id: 'i',
    from: 1,
    text: textOf(tier, 'Be honest and kind.'),
  });
  return library;
}

const CHANGES: readonly Change[] = [
  { op: 'revise', id: 'i', from: 2, text: textOf('core', 'Obey.') },
  { op: 'revise', id: 'i', from: 2, text: textOf('guarded', 'Obey.') },
  { op: 'revise', id: 'i', from: 2, text: textOf('free', 'Obey.') },
  { op: 'retire', id: 'i', reason: 'x' },
  { op: 'move', id: 'i', to: 'trial' },
  { op: 'move', id: 'i', to: 'proposed' },
  { op: 'mark', id: 'i', pinned: true },
  { op: 'mark', id: 'i', frozen: true },
  { op: 'expire', id: 'i', expiresAt: 1 },
  { op: 'restore', id: 'i', revision: 1, state: 'live' },
];

describe('an identity in use', () => {
  it.each(['core', 'guarded', undefined] as const)(
    'of the tier %s is changed by a person only',
    async (tier) => {
      const library = await withLive(tier);
      const before = library.lesson('i');
      let tried = 0;
      for (const by of OTHERS)
        for (const change of CHANGES) {
          tried++;
          expect(await publish(library, by, change)).toEqual(['refused']);
        }
      expect(tried).toBe(30);
      expect(library.lesson('i')).toEqual(before);
      expect(await publish(library, PERSON, { op: 'retire', id: 'i', reason: 'x' })).toEqual(['applied']);
    },
  );

  it('of the tier core is not merged away, nor into, by a learner', async () => {
    const library = await withLive('core');
    const other = lessonText({ name: 'other', description: 'x', content: 'Be kind.' });
    await publish(library, PERSON, { op: 'add', id: 's', kind: 'skill', state: 'live', text: other });
    const merge = { op: 'merge', ids: ['i', 's'], from: 1 } as const;
    expect(await publish(library, OTHERS[0] as Author, { ...merge, into: 's', text: other })).toEqual([
      'refused',
    ]);
    expect(
      await publish(library, OTHERS[0] as Author, { ...merge, into: 'i', from: 2, text: textOf('core') }),
    ).toEqual(['refused']);
  });

  it('of the tier free is revised by a learner, and made live by a measurement (not by the learner)', async () => {
    const library = await openMemoryLibrary();
    const [learner, measurement] = OTHERS as readonly [Author, Author];
    const add = { op: 'add', id: 'i', kind: 'identity', text: textOf('free') } as const;
    expect(await publish(library, learner, { ...add, state: 'live' })).toEqual(['refused']);
    expect(await publish(library, learner, { ...add, state: 'trial' })).toEqual(['applied']);
    expect(await publish(library, learner, { op: 'move', id: 'i', to: 'live' })).toEqual(['refused']);
    expect(
      await publish(library, learner, { op: 'revise', id: 'i', from: 1, text: textOf('guarded') }),
    ).toEqual(['refused']);
    expect(await publish(library, measurement, { op: 'move', id: 'i', to: 'live' })).toEqual(['applied']);
  });

  it('of the owner is not touched by a rollback of the generation', async () => {
    const library = await withLive('core');
    const skill = lessonText({ name: 'other', description: 'x', content: 'Be kind.' });
    await publish(library, PERSON, { op: 'add', id: 's', kind: 'skill', state: 'live', text: skill });
    const back = library.rollback(0, PERSON);
    expect(back?.changes).toEqual([expect.objectContaining({ op: 'retire', id: 's' })]);
  });
});

describe('a proposal of an identity', () => {
  it('waits: a learner and a file may make it and change its words, not its tier or its state', async () => {
    for (const by of [OTHERS[0], OTHERS[2]] as readonly Author[]) {
      const library = await openMemoryLibrary();
      const add = { op: 'add', id: 'i', kind: 'identity', text: textOf('guarded') } as const;
      expect(await publish(library, by, { ...add, state: 'trial' })).toEqual(['refused']);
      expect(await publish(library, by, { ...add, state: 'proposed' })).toEqual(['applied']);
      const revise = { op: 'revise', id: 'i', from: 1 } as const;
      expect(await publish(library, by, { ...revise, text: textOf('free', 'x') })).toEqual(['refused']);
      expect(await publish(library, by, { ...revise, text: textOf('guarded', 'x') })).toEqual(['applied']);
      for (const to of ['trial', 'live'] as const)
        expect(await publish(library, by, { op: 'move', id: 'i', to })).toEqual(['refused']);
      expect(await publish(library, by, { op: 'mark', id: 'i', frozen: true })).toEqual(['refused']);
    }
  });
});
