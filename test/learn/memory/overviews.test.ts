import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lesson, Note } from '../../../src/core/lesson.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { applyConsolidation, planConsolidation } from '../../../src/learn/memory/consolidate.ts';
import { consolidateOnDemand } from '../../../src/learn/memory/serve-memory.ts';
import type { HoldoutLot } from '../../../src/lessons/effect/hold-out.ts';
import { linkLessonsBothWays } from '../../../src/lessons/links.ts';
import { isOverview, memberIds, quotedLines } from '../../../src/lessons/overviews.ts';
import { createRecall } from '../../../src/lessons/recall/recall.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { at, end, start } from '../../record/store/facts.ts';
import { scratch } from '../../record/store/scratch.ts';
import { DAY, type MemoryLibrary, openMemoryLibrary } from './memory-library.ts';

/** Guidelines of a domain are all due when it is named: then they compete for room. */
const SCOPE = { agent: 'coder', project: 'shop', domain: 'billing' };
const RULES = [
  'Quotes for Orsted are written in Danish.',
  'Invoices for Orsted are sent by post.',
  'Calls with Orsted are noted in the ledger.',
  'Deliveries to Orsted leave from Aarhus.',
  'Contracts with Orsted are kept in the safe.',
];
const NONE_USED = {
  usefulness: () => ({ uses: [], count: 0, isProven: false }),
  verdict: () => 'unknown' as const,
};

/** A note that quotes a rule, linked with the first one. */
const say = (library: MemoryLibrary, nth: number, note: Partial<Note> = {}, scope = SCOPE): Promise<void> =>
  library.add(
    `n${nth}`,
    {
      name: `note-${nth}`,
      description: `"${RULES[nth]}"`,
      content: `The user said:\n\n> ${RULES[nth]}`,
      scope,
      evidence: { turns: [`turn_of_s${nth}`], quotes: [], learner: 'notes' },
      note: { source: 'experience', visibility: 'scoped', links: nth === 0 ? [] : ['n0'], ...note },
    },
    { kind: 'skill' },
  );

async function open(count = 4, library?: MemoryLibrary): Promise<MemoryLibrary> {
  const opened = library ?? (await openMemoryLibrary());
  for (let nth = 0; nth < count; nth++) await say(opened, nth);
  return opened;
}

const plan = ({ library, clock }: MemoryLibrary, overviews = true) =>
  planConsolidation(
    { library, effects: NONE_USED, trials: { of: () => undefined } },
    { now: clock.now(), embed: createNgramEmbed().embed, isByLetters: true, isAsked: false, overviews },
  );

const consolidate = async (library: MemoryLibrary, overviews = true): Promise<void> => {
  const results = await applyConsolidation(await plan(library, overviews), library.library);
  expect(results.filter(({ status }) => status === 'refused')).toEqual([]);
};

const overviewsOf = ({ library, clock }: MemoryLibrary): readonly Lesson[] =>
  library.shown(clock.now()).filter(isOverview);

/** The lessons of one recall with these limits. */
async function recalled(
  { library, clock }: MemoryLibrary,
  limits: { readonly topK: number; readonly tokenBudget: number },
  lotOf?: (id: string) => HoldoutLot,
) {
  const embed = createNgramEmbed();
  const recall = createRecall({
    ...{ embed, fallback: embed, limits },
    ...(lotOf === undefined ? {} : { holdout: { lotOf: (_query: object, id: string) => lotOf(id) } }),
  });
  await recall.update(library.shown(clock.now()));
  const text = 'Prepare quotes, invoices, calls, deliveries and contracts for Orsted.';
  return recall.recall({ text, session: 's', ...SCOPE }, clock.now());
}
const WIDE = { topK: 8, tokenBudget: 4_000 };

describe('an overview of lessons about one subject', () => {
  it('has their own sentences, a line each, rests on all their evidence, and is linked with them', async () => {
    const library = await open();
    const { records } = library;
    const parts = { library: library.library, effects: NONE_USED, records, clock: library.clock };
    const described = await consolidateOnDemand(
      { ...parts, embed: createNgramEmbed().embed, isByLetters: true, overviews: true },
      true,
    );
    expect(described.changes).toContainEqual(
      expect.objectContaining({
        step: 'overview',
        names: ['overview-orsted'],
        why: 'one line each of note-0, note-1, note-2, note-3',
      }),
    );
    const [overview] = overviewsOf(library);
    expect(overview?.text.content).toBe(
      `What the user said on this subject:\n\n${RULES.slice(0, 4)
        .map((rule) => `> ${rule}`)
        .join('\n')}`,
    );
    expect(overview?.text).toMatchObject({ scope: SCOPE, note: { visibility: 'scoped' }, taint: [] });
    expect(overview?.text.evidence.turns).toEqual([0, 1, 2, 3].map((nth) => `turn_of_s${nth}`));
    const links = linkLessonsBothWays(library.library.lessons());
    expect(links.of('n2')).toContainEqual({ type: 'part-of', to: overview?.id });
    expect(links.of(overview?.id ?? '')).toHaveLength(4);
    // It comes to rest.
    expect((await plan(library)).changes).toEqual([]);
  });

  it('is written only where it is switched on, of four lessons or more, for the same readers, without a conflict', async () => {
    await expect(open().then((library) => plan(library, false))).resolves.toMatchObject({ changes: [] });
    const kinds = async (library: MemoryLibrary) =>
      (await plan(library)).changes.filter(({ step }) => step === 'overview');
    expect(await kinds(await open(3))).toEqual([]);
    const elsewhere = await open(3);
    await say(elsewhere, 3, {}, { ...SCOPE, project: 'mail' });
    expect(await kinds(elsewhere)).toEqual([]);
    const secret = await open(3);
    await say(secret, 3, { visibility: 'private' });
    expect(await kinds(secret)).toEqual([]);
    const marked = await open(3);
    await say(marked, 3, { relations: [{ type: 'contradicts', to: 'n1' }] });
    expect(await kinds(marked)).toEqual([]);
  });

  it('stands for its members where they do not all fit, and never beside one of them (or a line is there twice)', async () => {
    const library = await open(5);
    await consolidate(library);
    const [overview] = overviewsOf(library);
    const members = new Set(overview === undefined ? [] : memberIds(overview));
    expect(members.size).toBe(5);
    const wide = await recalled(library, WIDE);
    expect(wide.lessons.map(({ id }) => id)).toEqual([...members].sort());
    const narrow = await recalled(library, { topK: 3, tokenBudget: 4_000 });
    expect(narrow.lessons.map(({ id }) => id)).toEqual([overview?.id]);
    expect(narrow.considered.find(({ id }) => id === 'n1')).toMatchObject({
      verdict: 'near-duplicate',
      of: overview?.id,
    });
    expect(narrow.unmeasured).toEqual([overview?.id]);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 0, max: 400 }),
        async (topK, tokenBudget) => {
          const { lessons, index } = await recalled(library, { topK, tokenBudget });
          const hasMember = [...lessons, ...index].some(({ id }) => members.has(id));
          expect(hasMember && lessons.some(isOverview)).toBe(false);
          expect(lessons.length).toBeLessThanOrEqual(topK);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('is not shown to a session that goes without a member, and that session measures none of them', async () => {
    const library = await open(5);
    await consolidate(library);
    const limits = { topK: 3, tokenBudget: 4_000 };
    const found = await recalled(library, limits, (id) => (id === 'n0' ? 'held-out' : 'shown'));
    expect(found.heldOut).toEqual(['n0']);
    const shown = found.lessons.map(({ id }) => id);
    expect(shown).toHaveLength(2);
    expect(found.lessons.some(isOverview)).toBe(false);
    expect(found.unmeasured?.toSorted()).toEqual(['n0', ...shown].sort());
  });

  it('is not used from the moment a member leaves, loses its line in the next run, and goes with the third last', async () => {
    const library = await open(5);
    await consolidate(library);
    const [overview] = overviewsOf(library);
    await library.change({ op: 'retire', id: 'n4', reason: 'the user asked to forget it' });
    const narrow = await recalled(library, { topK: 2, tokenBudget: 4_000 });
    expect(narrow.lessons.some(isOverview)).toBe(false);
    await consolidate(library);
    const now = library.lesson(overview?.id ?? '');
    expect(quotedLines(now.text.content)).toEqual(RULES.slice(0, 4));
    expect(now.text.evidence.turns).not.toContain('turn_of_s4');
    expect((await recalled(library, { topK: 2, tokenBudget: 4_000 })).lessons.map(({ id }) => id)).toEqual([
      now.id,
    ]);
    for (const id of ['n3', 'n2']) await library.change({ op: 'retire', id, reason: 'old' });
    await consolidate(library);
    expect(library.lesson(now.id).state).toBe('retired');
  });

  it('is retired when overviews are switched off, unless a person pinned it', async () => {
    const library = await open();
    await consolidate(library);
    const [overview] = overviewsOf(library);
    const id = overview?.id ?? '';
    await library.change({ op: 'mark', id, pinned: true }, 'person');
    await consolidate(library, false);
    expect(library.lesson(id).state).toBe('live');
    await library.change({ op: 'mark', id, pinned: false }, 'person');
    await consolidate(library, false);
    expect(library.lesson(id).state).toBe('retired');
  });

  it('loses the words of an erased session in every byte, and is written again from what is left', async () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    for (let nth = 0; nth < 5; nth++) {
      const text = JSON.stringify({ role: 'user', content: RULES[nth] });
      const hash = `${nth}`.repeat(32);
      store.append({
        facts: at(1, start(`turn_of_s${nth}`, `s${nth}`, { request: hash }), end(`turn_of_s${nth}`)),
        blocks: [{ hash, text, session: `s${nth}` }],
      });
    }
    const before = await open(5, await openMemoryLibrary(store));
    await consolidate(before);
    expect(readFileSync(file, 'latin1') + readFileSync(`${file}-wal`, 'latin1')).toContain('Aarhus');
    store.erase('s3', before.clock.now() + DAY, 'asked');
    const bytes = readFileSync(file, 'latin1') + readFileSync(`${file}-wal`, 'latin1');
    expect(bytes).not.toContain('Aarhus');
    const after = await openMemoryLibrary(store, before.clock);
    await consolidate(after);
    expect(overviewsOf(after).flatMap(({ text }) => quotedLines(text.content))).toEqual(
      RULES.filter((_, nth) => nth !== 3),
    );
    store.close();
  });
});
