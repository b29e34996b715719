import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import type { Author, Change, Lesson, LessonText } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import type { Store } from '../../../src/core/store.ts';
import { openLibrary } from '../../../src/lessons/library.ts';
import { renderBlock } from '../../../src/lessons/render-block.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { runsOf } from '../../support/counts.ts';
import { at, end, start } from './facts.ts';
import { scratch } from './scratch.ts';

const SESSIONS = ['s0', 's1', 's2', 's3'];
/** Words that only one session contains. */
const canary = (session: string): string =>
  `zebra${session} quokka${session} lemur${session} okapi${session}`;
const saidIn = (session: string): string =>
  `Please remember that the ${canary(session)} dinner begins at eight.`;
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
const PERSON: Author = { kind: 'person', name: 'owner' };
const LEARNER: Author = { kind: 'learner', name: 'evolver' };

interface World {
  readonly file: string;
  readonly store: Store;
  readonly library: Library;
  skipped(): number;
  reload(): Promise<void>;
}

async function openWorld(file = join(scratch(), 'store.db')): Promise<World> {
  const store = openSqliteStore({ file });
  const opened = await openLibrary({
    load: async (after, limit) => store.factsOf('library-changed', after, limit),
    append: async (fact) => {
      const [appended] = store.append({ facts: [fact] });
      if (appended === undefined) throw new Error('nothing was appended');
      return appended;
    },
    clock: createManualClock(1_000),
    newId: (prefix) => `${prefix}_${Math.random()}`,
    onFault: (error) => {
      throw error;
    },
  });
  return { file, store, library: opened.library, reload: opened.reload, skipped: () => opened.skipped };
}

/** Four sessions with a turn each. */
function record({ store }: World): void {
  for (const session of SESSIONS) {
    const text = JSON.stringify({ role: 'user', content: saidIn(session) });
    store.append({
      facts: at(
        1,
        start(`turn_of_${session}`, session, { request: hashOf(text) }),
        end(`turn_of_${session}`),
      ),
      blocks: [{ hash: hashOf(text), text, session }],
    });
  }
}

const textFrom = (name: string, sessions: readonly string[], extra = ''): LessonText => ({
  name,
  description: 'When somebody plans a dinner.',
  content: ['Ask for the number of guests first.', ...sessions.map(saidIn), extra].filter(Boolean).join('\n'),
  scope: {},
  note: {
    context: `Learned when ${sessions.map(canary).join(' and ')} came up.`,
    keywords: sessions.map((session) => `zebra${session}`),
    tags: [],
    importance: 0.5,
    confidence: 0.5,
    source: 'experience',
    visibility: 'scoped',
    halfLifeDays: 30,
    links: [],
  },
  evidence: {
    turns: sessions.map((session) => `turn_of_${session}`),
    quotes: sessions.map((session) => ({
      turn: `turn_of_${session}`,
      block: hashOf(JSON.stringify({ role: 'user', content: saidIn(session) })),
      start: 5,
      length: 9,
    })),
    learner: 'evolver',
    prompt: hashOf(sessions.map(canary).join()),
  },
  taint: [],
});

let sets = 0;
const publish = (library: Library, by: Author, ...changes: readonly Change[]) =>
  library.publish({
    id: `set-${++sets}`,
    by,
    reason: `about ${changes.map((c) => ('text' in c ? c.text.name : c.op)).join()}`,
    changes,
  });

const add = (id: string, text: LessonText, state: 'proposed' | 'trial' = 'trial'): Change => ({
  op: 'add',
  id,
  kind: 'skill',
  state,
  text,
});

/** Shows lessons to a session, as recall does. */
function recall({ store, library }: World, session: string): void {
  const shown = library.shown(1_000);
  const text = renderBlock(shown);
  if (text === '') return;
  store.append({
    facts: at(5, {
      type: 'lessons-recalled',
      session,
      turn: `turn_of_${session}`,
      thread: 'main fast',
      generation: library.generation,
      why: 'new',
      block: hashOf(text),
      lessons: shown.map(({ id }) => id),
      heldOut: [],
      domain: { name: 'general', reason: 'default' },
      considered: shown.map(({ id, revision, text: { name } }) => ({
        id,
        revision,
        name,
        relevance: 1,
        activation: 1,
        verdict: 'shown',
      })),
      engine: 'none',
    }),
    blocks: [{ hash: hashOf(text), text, session }],
  });
}

const bytesOf = (file: string): string =>
  ['', '-wal']
    .map((tail) => `${file}${tail}`)
    .filter(existsSync)
    .map((name) => readFileSync(name, 'latin1'))
    .join('');

/** The words of a canary that the store's files still have. */
const leftOf = (file: string, session: string): readonly string[] => {
  const bytes = bytesOf(file);
  return canary(session)
    .split(' ')
    .filter((word) => bytes.includes(word));
};

describe('a lesson learned from an erased session', () => {
  it('alone is retired, and its text is in no byte: history, prompts of others, reasons (the words stayed)', async () => {
    const world = await openWorld();
    record(world);
    const { store, library, file } = world;
    await publish(library, LEARNER, add('l1', textFrom('zebras0-dinner', ['s0'])));
    const first = library.lesson('l1')?.revision ?? 0;
    await publish(library, LEARNER, {
      op: 'revise',
      id: 'l1',
      from: first,
      text: textFrom('zebras0-dinner', ['s0'], 'Then book.'),
    });
    recall(world, 's3');
    store.append({
      facts: at(6, {
        type: 'cycle-end',
        cycle: 'c1',
        learner: 'evolver',
        outcome: 'published',
        items: [],
        turns: ['turn_of_s0'],
        sessions: ['s0'],
        judgements: [
          { lesson: 'l1', name: 'zebras0-dinner', outcome: 'trial', why: [`says ${canary('s0')}`] },
        ],
        note: canary('s0'),
        generation: 2,
        cost: { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
        tookMs: 1,
      }),
    });
    expect(leftOf(file, 's0')).toHaveLength(4);
    expect(store.erase('s0', 50, 'asked').lessons).toEqual({
      retired: [{ id: 'l1', name: 'zebras0-dinner' }],
      cleaned: [],
    });
    expect(leftOf(file, 's0')).toEqual([]);
    await world.reload();
    expect(library.lesson('l1')).toMatchObject({ state: 'retired', revision: 2 });
    expect(library.shown(1_000)).toEqual([]);
    expect(library.generation).toBe(3);
    expect(world.skipped()).toBe(0);
    expect(store.check()).toEqual([]);
    store.close();
    expect(leftOf(file, 's0')).toEqual([]);
  });

  it('and from another session stays, without its quotes, context and the sentences of the erased one', async () => {
    const world = await openWorld();
    record(world);
    const { store, library, file } = world;
    await publish(library, LEARNER, add('l1', textFrom('plan-a-dinner', ['s0', 's1'])));
    expect(store.erase('s0', 50, 'asked').lessons).toEqual({
      retired: [],
      cleaned: [{ id: 'l1', name: 'plan-a-dinner' }],
    });
    expect(leftOf(file, 's0')).toEqual([]);
    await world.reload();
    const lesson = library.lesson('l1');
    expect(lesson).toMatchObject({ state: 'trial', revision: 2 });
    expect(lesson?.text.content).toBe(`Ask for the number of guests first.\n${saidIn('s1')}`);
    expect(lesson?.text.evidence.turns).toEqual(['turn_of_s1']);
    expect(lesson?.text.evidence.quotes).toHaveLength(1);
    expect(lesson?.text.note.context).toBeUndefined();
    expect(store.erase('s1', 51, 'asked').lessons.retired).toEqual([{ id: 'l1', name: 'plan-a-dinner' }]);
    expect(leftOf(file, 's1')).toEqual([]);
    store.close();
  });

  it('and gained a keyword from what the erased one said about the same: the word goes, the sentence stays', async () => {
    const world = await openWorld();
    record(world);
    const { store, library, file } = world;
    const text = textFrom('plan-a-dinner', ['s1']);
    const note = { ...text.note, keywords: ['zebras1', 'okapis0'] };
    const evidence = { ...text.evidence, turns: ['turn_of_s1', 'turn_of_s0'] };
    await publish(library, LEARNER, add('l1', { ...text, note, evidence }));
    store.erase('s0', 50, 'asked');
    expect(leftOf(file, 's0')).toEqual([]);
    await world.reload();
    expect(library.lesson('l1')).toMatchObject({ state: 'trial', text: { content: text.content } });
    expect(library.lesson('l1')?.text.note.keywords).toEqual(['zebras1']);
    store.close();
  });

  it.each(['approved', 'pinned', 'edited'] as const)(
    'stays when a person %s it (it is not retired), without its quotes',
    async (how) => {
      const world = await openWorld();
      record(world);
      const { store, library } = world;
      const text = textFrom('plan-a-dinner', ['s0']);
      await publish(library, LEARNER, add('l1', text, 'proposed'));
      const change: Readonly<Record<typeof how, Change>> = {
        approved: { op: 'move', id: 'l1', to: 'live' },
        pinned: { op: 'mark', id: 'l1', pinned: true },
        edited: { op: 'revise', id: 'l1', from: 1, text: { ...text, content: 'My words.' } },
      };
      await publish(library, PERSON, change[how]);
      const before = library.lesson('l1');
      expect(store.erase('s0', 50, 'asked').lessons).toMatchObject({ retired: [], cleaned: [{ id: 'l1' }] });
      await world.reload();
      expect(library.lesson('l1')).toMatchObject({
        state: before?.state,
        revision: before?.revision,
        text: { content: before?.text.content, evidence: { quotes: [] } },
      });
      expect(library.lesson('l1')?.text.note.context).toBeUndefined();
      store.close();
    },
  );

  it('returns to the text that a person approved when a later revision rested on it', async () => {
    const world = await openWorld();
    record(world);
    const { store, library, file } = world;
    await publish(library, LEARNER, add('l1', textFrom('plan-a-dinner', ['s1'], 'First.')));
    await publish(library, PERSON, { op: 'move', id: 'l1', to: 'live' });
    await publish(library, LEARNER, {
      op: 'revise',
      id: 'l1',
      from: 1,
      text: textFrom('plan-a-dinner', ['s0'], 'Second.'),
    });
    expect(store.erase('s0', 50, 'asked').lessons.cleaned).toMatchObject([{ id: 'l1' }]);
    await world.reload();
    expect(library.lesson('l1')).toMatchObject({ state: 'live', revision: 3 });
    expect(library.lesson('l1')?.text.content).toContain('First.');
    expect(leftOf(file, 's0')).toEqual([]);
    store.close();
  });

  it('that expired stays where other sessions went well with it (they do not bring back an erased one)', async () => {
    for (const isExpired of [true, false]) {
      const world = await openWorld();
      record(world);
      const { store, library } = world;
      await publish(library, LEARNER, add('l1', textFrom('plan-a-dinner', ['s0'])));
      store.append({
        facts: at(7, { type: 'session-scored', session: 's2', score: 0.9, lessons: ['l1'], heldOut: [] }),
      });
      if (isExpired) store.append({ facts: at(90, ...['s1', 's2', 's3'].map((s) => start(`late_${s}`, s))) });
      if (isExpired) expect(store.expire(50, 95, 9)).toBe(1);
      else store.erase('s0', 50, 'asked');
      await world.reload();
      expect(library.lesson('l1')?.state).toBe(isExpired ? 'trial' : 'retired');
      store.close();
    }
  });

  it('is not stored when its learner publishes it after the erasure', async () => {
    const world = await openWorld();
    record(world);
    const { store, library, file } = world;
    store.erase('s0', 50, 'asked');
    const { results } = await publish(
      library,
      LEARNER,
      add('l1', textFrom('plan-one', ['s0'])),
      add('l2', textFrom('plan-two', ['s1'])),
    );
    expect(results).toEqual([
      { status: 'refused', id: 'l1', why: 'the session it was learned from was erased' },
      { status: 'applied', id: 'l2', revision: 1 },
    ]);
    expect(leftOf(file, 's0')).toEqual([]);
    expect(world.skipped()).toBe(0);
    store.close();
  });

  it('leaves a prompt that was recorded while the text was still in memory, at the second call', async () => {
    const world = await openWorld();
    record(world);
    const { store, library, file } = world;
    await publish(library, LEARNER, add('l1', textFrom('plan-a-dinner', ['s0'])));
    store.erase('s0', 50, 'asked');
    // This library has not been read again.
    recall(world, 's3');
    expect(leftOf(file, 's0')).toHaveLength(4);
    store.erase('s0', 51, 'asked');
    expect(leftOf(file, 's0')).toEqual([]);
    expect(store.check()).toEqual([]);
    store.close();
  });
});

type Step =
  | { readonly what: 'learn' | 'revise'; readonly lesson: number; readonly sessions: readonly string[] }
  | { readonly what: 'approve' | 'edit' | 'merge' | 'back'; readonly lesson: number }
  | { readonly what: 'recall' | 'erase'; readonly session: string };

const lesson = fc.nat(3);
const session = fc.constantFrom(...SESSIONS);
const steps = fc.array(
  fc.oneof(
    fc.record({
      what: fc.constantFrom('learn' as const, 'revise' as const),
      lesson,
      sessions: fc.oneof(
        session.map((one) => [one]),
        fc.subarray(SESSIONS, { minLength: 1 }),
      ),
    }),
    fc.record({ what: fc.constantFrom('approve', 'edit', 'merge', 'back'), lesson }),
    fc.record({ what: fc.constantFrom('recall', 'erase'), session }),
  ) as fc.Arbitrary<Step>,
  { minLength: 8, maxLength: 20 },
);

describe('after any learning, approving, merging, rolling back and erasing', () => {
  it('no byte has words of an erased session that no person vouched for, and supported lessons remain', async () => {
    const seen = { retired: 0, cleaned: 0 };
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = await openWorld();
        record(world);
        const { store, library, file } = world;
        const erased = new Set<string>();
        const vouched = new Set<string>();
        const isSupported = ({ text }: Lesson): boolean =>
          vouched.has(text.content) ||
          text.evidence.turns.some((turn) => !erased.has(turn.slice('turn_of_'.length)));
        for (const step of all) {
          const id = 'lesson' in step ? `l${step.lesson}` : '';
          const now = library.lesson(id);
          if (step.what === 'learn' || step.what === 'revise') {
            const from = step.sessions.filter((one) => !erased.has(one));
            if (from.length === 0) continue;
            const text = textFrom(`dinner-${id}`, from, `Number ${sets}.`);
            if (now === undefined) await publish(library, LEARNER, add(id, text));
            else await publish(library, LEARNER, { op: 'revise', id, from: now.revision, text });
          } else if (step.what === 'approve' && now !== undefined) {
            const { results } = await publish(library, PERSON, { op: 'move', id, to: 'live' });
            if (results[0]?.status === 'applied') vouched.add(now.text.content);
          } else if (step.what === 'edit' && now !== undefined) {
            const text = { ...now.text, content: `${now.text.content}\nEdited ${sets}.` };
            const { results } = await publish(library, PERSON, {
              op: 'revise',
              id,
              from: now.revision,
              text,
            });
            if (results[0]?.status === 'applied') vouched.add(text.content);
          } else if (step.what === 'merge' && now !== undefined) {
            const other = library.lesson('l0');
            if (other === undefined || other === now) continue;
            const turns = [...new Set([...now.text.evidence.turns, ...other.text.evidence.turns])];
            const text = { ...now.text, evidence: { ...now.text.evidence, turns } };
            const change = { op: 'merge', ids: [id, 'l0'], into: id, from: now.revision, text } as const;
            await publish(library, PERSON, change);
          } else if (step.what === 'back') {
            const set = library.rollback(Math.max(0, library.generation - 1), PERSON);
            if (set !== undefined) await library.publish(set);
          } else if (step.what === 'recall') recall(world, step.session);
          else if (step.what === 'erase') {
            erased.add(step.session);
            const before = library.lessons();
            const { retired, cleaned } = store.erase(step.session, 60, 'asked').lessons;
            seen.retired += retired.length;
            seen.cleaned += cleaned.length;
            await world.reload();
            for (const one of before.filter(isSupported)) {
              const after = library.lesson(one.id);
              expect([one.id, after?.state]).toEqual([one.id, one.state]);
              if (vouched.has(one.text.content)) expect(after?.text.content).toBe(one.text.content);
            }
          }
        }
        const kept = [...vouched].join('\n');
        for (const one of erased)
          expect(leftOf(file, one).filter((word) => !kept.includes(word))).toEqual([]);
        expect(store.check()).toEqual([]);
        expect(world.skipped()).toBe(0);
        // A new process folds the same library.
        store.close();
        const again = await openWorld(file);
        expect(again.skipped()).toBe(0);
        expect(again.library.lessons()).toEqual(library.lessons());
        expect(again.library.generation).toBe(library.generation);
        again.store.close();
      }),
      runsOf(12, 60),
    );
    expect(seen.retired).toBeGreaterThan(2);
    expect(seen.cleaned).toBeGreaterThan(2);
  });
});
