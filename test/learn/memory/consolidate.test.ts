import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import {
  applyConsolidation,
  type PlanOptions,
  planConsolidation,
} from '../../../src/learn/memory/consolidate.ts';
import { archiveDecayed } from '../../../src/learn/memory/wake-archived.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { DAY, type MemoryLibrary, openMemoryLibrary } from './memory-library.ts';

const embed = createNgramEmbed();
const TOLD = { source: 'told' } as const;
const EMPTY = { turns: [], quotes: [], learner: 'distiller' };

const planOf = (library: MemoryLibrary, more: Partial<PlanOptions> = {}) =>
  planConsolidation(library, {
    now: library.clock.now(),
    embed: embed.embed,
    isByLetters: true,
    isAsked: false,
    ...more,
  });
const run = async (library: MemoryLibrary, more: Partial<PlanOptions> = {}) => {
  const plan = await planOf(library, more);
  await applyConsolidation(plan, library.library);
  return plan;
};

const SORT = 'Sort the rows of the ledger by their booking day before you save the file.';

describe('near-duplicates', () => {
  it('become the better evidenced lesson, word for word, with links to its sources and all evidence', async () => {
    const library = await openMemoryLibrary();
    await library.add('first', { description: 'When you sort a ledger.', content: SORT });
    await library.add('second', { description: 'When you sort a ledger.', content: `${SORT} ` });
    const [before] = [library.lesson('first')];
    await run(library);
    expect(library.lesson('second')).toMatchObject({ state: 'retired', mergedInto: 'first' });
    const { text } = library.lesson('first');
    expect(text.content).toBe(before?.text.content);
    expect(text.note.links).toEqual(['second']);
    expect(text.evidence.turns).toEqual(['t_first', 't_second']);
  });

  it.each([
    ['a name', 'Deploy the shop from the main branch.', 'Deploy the shop from the staging branch.'],
    ['a topic', 'Keep the log of the shop as csv.', 'Keep the log of the bank as csv.'],
    ['a number', 'Set the timeout of the shop to 10 seconds.', 'Set the timeout of the shop to 30 seconds.'],
    ['a negation', 'Run the linter on the shop.', 'Do not run the linter on the shop.'],
    ['a condition', 'Never push to the main branch.', 'Never push to the main branch on a Friday.'],
    ['the order', 'Copy the staging data to the main data.', 'Copy the main data to the staging data.'],
    ['the order of steps', '1. Stop the shop.\n2. Copy its data.', '1. Copy its data.\n2. Stop the shop.'],
    ['a sign', 'Retry the upload when the count is > 3.', 'Retry the upload when the count is < 3.'],
    [
      'the end of a long text',
      `${'Look at the shop. '.repeat(60)}Say yes.`,
      `${'Look at the shop. '.repeat(60)}Say so.`,
    ],
    ['a literal', 'Start the shop with `npm run dev`.', 'Start the shop with `npm run dev2`.'],
  ])('that differ in %s stay two lessons', async (_, one, other) => {
    const library = await openMemoryLibrary();
    await library.add('one', { description: 'When you work.', content: one });
    await library.add('two', { description: 'When you work.', content: other });
    await run(library);
    for (const id of ['one', 'two']) expect(library.lesson(id).state).toBe('live');
  });

  it.each([
    ['Set the timeout of the shop to 30 seconds.', 'Please set the timeout of the shop to 30 seconds.'],
    ['Sort the rows of the shop by day.', 'The rows of the shop must be sorted by day.'],
    ['Write the log in English.', 'The log should be written in English.'],
    ['Never skip the tests.', 'Do not skip the tests, because they found bugs.'],
  ])('are recognised in other words of no weight: %s', async (one, other) => {
    const library = await openMemoryLibrary();
    await library.add('one', { description: 'When you work.', content: one });
    await library.add('two', { description: 'When you work.', content: other });
    await run(library);
    expect(library.lesson('two')).toMatchObject({ state: 'retired', mergedInto: 'one' });
  });

  it('do not absorb a person’s words that they do not have', async () => {
    const library = await openMemoryLibrary();
    await library.add('learned', { description: 'When you sort a ledger.', content: SORT });
    await library.add('told', {
      description: 'When you sort a ledger.',
      content: SORT.replace('before you save', 'before you ever save'),
      note: TOLD,
      evidence: EMPTY,
    });
    library.clock.advance(100 * DAY);
    await run(library);
    expect(library.lesson('told').state).toBe('live');
  });

  it('of private lessons stay apart: their evidence says who may read them', async () => {
    const library = await openMemoryLibrary();
    for (const id of ['one', 'two'])
      await library.add(id, { description: 'When.', content: SORT, note: { visibility: 'private' } });
    expect((await planOf(library)).changes).toEqual([]);
  });
});

describe('contradictions', () => {
  const say = (library: MemoryLibrary, id: string, content: string, more = {}) =>
    library.add(id, { description: 'When you commit.', content, note: TOLD, evidence: EMPTY, ...more });

  it('in a person’s own words: the newest win, and the older lesson names its successor', async () => {
    const library = await openMemoryLibrary();
    await say(library, 'old', 'Always commit the lockfile.');
    library.clock.advance(DAY);
    await say(library, 'new', 'Never commit the lockfile.');
    await run(library);
    expect(library.lesson('old')).toMatchObject({ state: 'retired', supersededBy: 'new' });
    expect(library.lesson('old').reason).toContain('the user has said otherwise since');
    expect(library.lesson('new').state).toBe('live');
  });

  it('are left to the person where the older words say more, hold in more places, or are pinned', async () => {
    const library = await openMemoryLibrary();
    await say(library, 'more', 'Always commit the lockfile. Squash before a release.');
    await say(library, 'wider', 'Always update the changelog.');
    await say(library, 'pinned', 'Always squash merge commits.');
    await library.change({ op: 'mark', id: 'pinned', pinned: true }, 'person');
    library.clock.advance(DAY);
    await say(library, 'a', 'Never commit the lockfile.');
    await say(library, 'b', 'Never update the changelog.', { scope: { project: 'x' } });
    await say(library, 'c', 'Never squash merge commits.');
    const plan = await run(library);
    expect(plan.open.map(({ by }) => by)).toEqual(['ask', 'ask', 'ask']);
    for (const id of ['more', 'wider', 'pinned']) expect(library.lesson(id).state).toBe('live');
  });

  it('between learned lessons wait for practice; a person’s word wins over what was learned before it', async () => {
    const library = await openMemoryLibrary();
    const learn = (id: string, content: string) =>
      library.add(id, { description: 'When you release.', content });
    await learn('a', 'Tag the release commit first.');
    await learn('b', 'Never tag the release commit first.');
    await learn('c', 'Always publish release notes.');
    library.clock.advance(DAY);
    await say(library, 'd', 'Never publish release notes.');
    const plan = await run(library);
    expect(plan.open.map(({ a, b, by }) => [a.id, b.id, by])).toEqual([['a', 'b', 'practise']]);
    expect(library.lesson('c')).toMatchObject({ state: 'retired', supersededBy: 'd' });
    for (const id of ['a', 'b', 'd']) expect(library.lesson(id).state).toBe('live');
  });

  it('with a rule that was learned after the person’s words are left to the person, and both stay', async () => {
    const library = await openMemoryLibrary();
    await say(library, 'told', 'Write the summary of the login export in French.');
    library.clock.advance(DAY);
    await library.add('later', {
      description: 'When you work on the login export.',
      content: 'The summary of the login export must be written in German.',
    });
    const plan = await run(library);
    expect(plan.open).toMatchObject([{ by: 'ask', isDoubtful: false }]);
    for (const id of ['told', 'later']) expect(library.lesson(id).state).toBe('live');
  });

  it('that may be none, since only a value differs, retire nobody’s words: they are listed as possible', async () => {
    const library = await openMemoryLibrary();
    await say(library, 'one', 'Send the report about the login export to Anna.');
    library.clock.advance(DAY);
    await say(library, 'two', 'Please send the report about the login export to Boris.');
    const plan = await run(library);
    expect(plan.open).toMatchObject([
      { by: 'ask', isDoubtful: true, why: 'another value: “Anna” and “Boris”' },
    ]);
    for (const id of ['one', 'two']) expect(library.lesson(id).state).toBe('live');
  });
});

describe('decayed lessons', () => {
  it('are archived after four half-lives without use, and not before', async () => {
    const library = await openMemoryLibrary();
    await library.add('idle', { content: 'Rotate the api keys with the vault tool.' });
    library.clock.advance(100 * DAY);
    expect((await planOf(library)).changes).toEqual([]);
    library.clock.advance(30 * DAY);
    await run(library);
    expect(library.lesson('idle')).toMatchObject({
      state: 'retired',
      reason: 'archived: no session needed it for 130 days',
    });
  });

  it('that a person restored stay, for 90 days', async () => {
    const library = await openMemoryLibrary();
    await library.add('idle', {});
    library.clock.advance(150 * DAY);
    await run(library);
    await library.change({ op: 'restore', id: 'idle', revision: 1, state: 'live' }, 'person');
    library.clock.advance(80 * DAY);
    await run(library);
    expect(library.lesson('idle').state).toBe('live');
    library.clock.advance(41 * DAY);
    await run(library);
    expect(library.lesson('idle').state).toBe('retired');
  });

  it('leave a crowded library after two half-lives, the least active first, until it has room', async () => {
    const library = await openMemoryLibrary();
    await library.add('some', {});
    const some = library.lesson('some');
    const lesson = (id: string, halfLifeDays: number): Lesson => ({
      ...some,
      id,
      text: { ...some.text, note: { ...some.text.note, halfLifeDays } },
    });
    const many = Array.from({ length: 300 }, (_, at) => lesson(`kept_${at}`, 365));
    library.clock.advance(70 * DAY);
    const archived = (lessons: readonly Lesson[]) =>
      archiveDecayed({
        lessons,
        usefulness: library.effects.usefulness,
        facts: {
          isProven: () => false,
          isMeasured: () => false,
          history: () => [],
          absorbed: () => [],
          now: library.clock.now(),
          isAsked: false,
        },
        mostInUse: 300,
      }).map(({ id }) => id);
    const old = [lesson('old', 31), lesson('older', 30)];
    expect(archived([...many, ...old])).toEqual(['older', 'old']);
    expect(archived([...many.slice(1), ...old])).toEqual(['older']);
    expect(archived([...many.slice(2), ...old])).toEqual([]);
  });
});

describe('a run', () => {
  const fill = async (library: MemoryLibrary) => {
    for (let at = 0; at < 30; at++) await library.add(`idle_${at}`, { content: `Topic ${at ** 5 * 7919}.` });
    library.clock.advance(200 * DAY);
  };

  it('is budgeted, and says what is left', async () => {
    const library = await openMemoryLibrary();
    await fill(library);
    const plan = await run(library, { mostChanges: 10 });
    expect([plan.changes.length, plan.left > 0]).toEqual([10, true]);
  });

  it('that dies between two sets repeats nothing, and a second run finishes', async () => {
    const store = createMemoryStore();
    const library = await openMemoryLibrary(store);
    await fill(library);
    const plan = await planOf(library);
    const died = applyConsolidation(plan, library.library, {
      onSet: async () => {
        throw new Error('killed');
      },
    });
    await expect(died).rejects.toThrow('killed');
    const again = await openMemoryLibrary(store, library.clock);
    const rest = await run(again);
    expect(rest.changes.length).toBe(plan.changes.length - 25);
    const retirements = again.library
      .lessons()
      .flatMap(({ id }) => again.library.history(id).filter(({ op }) => op === 'retire'));
    expect(retirements.length).toBe(new Set(again.library.lessons().map(({ id }) => id)).size);
    // The first process comes back with its old plan.
    const { generation } = again.library;
    await applyConsolidation(plan, again.library);
    expect(again.library.generation).toBe(generation);
  });
});
