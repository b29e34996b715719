import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Fact } from '../../../src/core/fact.ts';
import type { AsyncStore, NewFact, Store } from '../../../src/core/store.ts';
import { openSqliteReader } from '../../../src/record/store/sqlite-store.ts';
import { steps } from './arbitraries.ts';
import { at, end, start } from './facts.ts';
import { observe, observeViews } from './observe.ts';
import { scratch } from './scratch.ts';

/** The contract of every store. `open` returns a new, empty one. */
export function describeStore(name: string, open: () => Promise<AsyncStore>): void {
  const openStore = async (): Promise<AsyncStore> => {
    const store = await open();
    onTestFinished(() => store.close());
    return store;
  };
  const withTurn = async (): Promise<AsyncStore> => {
    const store = await openStore();
    await store.append({ facts: at(10, start('t1', 's1'), end('t1')) });
    return store;
  };

  describe(`a store (${name}) keeps facts`, () => {
    it('returns each unchanged, numbered from 1 without a gap', async () => {
      const store = await openStore();
      const facts: readonly Fact[] = [
        start('t1', 's1', {
          client: 'claude',
          project: { id: 'p', label: 'Ünïcödé \u2028' },
          lessons: ['l'],
          block: 'b',
        }),
        end('t1', { usage: { inputTokens: 1, outputTokens: 2 }, stop: 'end', firstByteMs: 1 }),
        { type: 'reward-given', turn: 't1', source: 'judge', score: -0.25, note: 'a\u0000b\ud800' },
        { type: 'event-reported', kind: 'k', data: { deep: [1, null, { x: 'y' }], __proto__: null } },
        { type: 'session-end', session: 's1', reason: 'quit' },
      ];
      expect(await store.append({ facts: at(100, ...facts) })).toEqual(
        facts.map((_, index) => ({ seq: index + 1, isNew: true })),
      );
      expect(await store.facts(0, 99)).toEqual(
        facts.map((fact, index) => ({ seq: index + 1, at: 100 + index, fact })),
      );
      expect((await store.facts(2, 2)).map(({ seq }) => seq)).toEqual([3, 4]);
      expect(await store.facts(5, 9)).toEqual([]);
      expect(await store.facts(0, 0)).toEqual([]);
    });

    it.each<readonly [string, () => Partial<NewFact>]>([
      [
        'a score that is no number',
        () => ({ fact: { type: 'reward-given', source: 'judge', score: Number.NaN } }),
      ],
      ['a circle', () => ({ fact: { type: 'event-reported', kind: 'k', data: circle() as never } })],
      ['a big integer', () => ({ fact: { type: 'event-reported', kind: 'k', data: { n: 1n as never } } })],
      ['a time that is none', () => ({ at: Number.POSITIVE_INFINITY })],
      ['half a millisecond', () => ({ at: 0.5 })],
    ])('takes nothing of a batch with %s (not the part before it)', async (_what, wrong) => {
      const store = await withTurn();
      const before = await observe(store);
      const [good] = at(20, start('t2', 's1'));
      if (good === undefined) throw new Error('no fact');
      await expect(
        store.append({
          facts: [good, { ...good, ...wrong() }],
          blocks: [{ hash: 'aa01', text: 'x', session: 's1' }],
          chains: [{ session: 's1', link: 'l' }],
        }),
      ).rejects.toThrow(TypeError);
      expect(await observe(store)).toEqual(before);
      expect(await store.append({ facts: [good] })).toEqual([{ seq: 3, isNew: true }]);
    });

    it('answers a known key with the first number, and changes nothing', async () => {
      const store = await openStore();
      const once = { at: 1, fact: start('t1', 's1'), key: 'k' };
      expect(await store.append({ facts: [once] })).toEqual([{ seq: 1, isNew: true }]);
      const before = await observe(store);
      expect(await store.append({ facts: [once] })).toEqual([{ seq: 1, isNew: false }]);
      expect(await store.append({ facts: [{ ...once, fact: start('t2', 's2') }] })).toEqual([
        { seq: 1, isNew: false },
      ]);
      expect(await observe(store)).toEqual(before);
    });

    it('detects a key that occurs twice in one batch', async () => {
      const store = await openStore();
      const [a, b, c] = at(1, start('t1', 's1'), end('t1'), end('t1')).map((fact) => fact);
      if (!a || !b || !c) throw new Error('no facts');
      const answers = await store.append({
        facts: [a, { ...b, key: 'end' }, { ...c, key: 'end' }, { ...a, key: '' }],
      });
      expect(answers.map(({ seq, isNew }) => `${seq}${isNew ? '' : ' again'}`)).toEqual([
        '1',
        '2',
        '2 again',
        '3',
      ]);
      expect(await store.totals()).toMatchObject({ facts: 3 });
    });

    it('accepts an empty batch', async () => {
      expect(await (await openStore()).append({ facts: [] })).toEqual([]);
    });
  });

  describe(`a store (${name}) folds views`, () => {
    it('shows a turn from its start, and completely after its end', async () => {
      const store = await openStore();
      await store.append({ facts: at(10, start('t1', 's1', { request: 'aa01', lessons: ['l1'] })) });
      const begun = {
        id: 't1',
        session: 's1',
        agent: 'agent',
        role: 'main',
        wire: 'anthropic',
        model: 'fast',
        generation: 1,
        policy: 'maker/fast',
        lessons: ['l1'],
        startedAt: 10,
        request: 'aa01',
      };
      expect(await store.turn('t1')).toEqual(begun);
      expect(await store.openTurns()).toEqual(['t1']);
      const usage = { inputTokens: 3, outputTokens: 4 };
      await store.append({
        facts: at(15, end('t1', { policy: 'other/slow', failure: 'f', usage, reply: 'aa02' })),
      });
      const known = { status: 'complete', endedAt: 15, httpStatus: 200, failure: 'f', usage, reply: 'aa02' };
      const ended = { ...known, totalMs: 5 };
      expect(await store.turn('t1')).toEqual({ ...begun, ...ended, policy: 'other/slow' });
      expect(await store.turns('s1')).toEqual([await store.turn('t1')]);
      expect(await store.openTurns()).toEqual([]);
    });

    it('counts the first end of a turn (not a later one)', async () => {
      const store = await withTurn();
      await store.append({ facts: at(30, end('t1', { status: 'crashed' })) });
      expect(await store.turn('t1')).toMatchObject({ status: 'complete', endedAt: 11 });
    });

    it('stores a fact with a dangling reference, and shows no turn for it', async () => {
      const store = await openStore();
      await store.append({
        facts: at(
          1,
          end('nobody'),
          { type: 'session-end', session: 'nowhere', reason: 'quit' },
          { type: 'reward-given', turn: 'nobody', source: 'person', score: 1 },
          { type: 'reward-given', source: 'person', score: 1 },
        ),
      });
      expect(await store.totals()).toMatchObject({ facts: 4, sessions: 0, turns: 0 });
      expect(await store.turn('nobody')).toBeUndefined();
      expect(await store.session('nowhere')).toBeUndefined();
      expect(await store.rewards({ turn: 'nobody' })).toEqual([
        { seq: 3, at: 3, source: 'person', score: 1 },
      ]);
    });

    it('reopens an ended session with its next turn', async () => {
      const store = await withTurn();
      await store.append({ facts: at(20, { type: 'session-end', session: 's1', reason: 'quit' }) });
      expect(await store.session('s1')).toMatchObject({ endedAt: 20, turns: 1 });
      await store.append({
        facts: at(30, start('t2', 's1', { client: 'claude', project: { id: 'p', label: 'L' } })),
      });
      expect(await store.session('s1')).toEqual({
        id: 's1',
        agent: 'agent',
        client: 'claude',
        project: { id: 'p', label: 'L' },
        turns: 2,
        startedAt: 10,
        lastAt: 30,
        erased: false,
      });
    });

    it('returns the rewards of a turn, and for a session those given to the session as a whole', async () => {
      const store = await withTurn();
      const reward = { type: 'reward-given', source: 'person' } as const;
      await store.append({
        facts: at(
          20,
          { ...reward, turn: 't1', score: 0.5, note: 'n' },
          { ...reward, session: 's1', score: 1 },
          { ...reward, turn: 't1', session: 's1', score: -1 },
        ),
      });
      expect(await store.rewards({ turn: 't1' })).toEqual([
        { seq: 3, at: 20, source: 'person', score: 0.5, note: 'n' },
        { seq: 5, at: 22, source: 'person', score: -1 },
      ]);
      expect(await store.rewards({ session: 's1' })).toEqual([
        { seq: 4, at: 21, source: 'person', score: 1 },
      ]);
      expect((await store.rewards({ turnsOf: 's1' })).map(({ seq }) => seq)).toEqual([3, 5]);
      expect(await store.rewards({ turnsOf: 's2' })).toEqual([]);
    });

    it('finds ids by their beginning and end (not by a part in the middle), in order', async () => {
      const store = await openStore();
      const names = ['abc1', 'abc2x', 'abcd', 'ab', 'xabc', 'abc%', 'ABC9', 'abc\u{1f600}'];
      await store.append({ facts: at(1, ...names.map((name) => start(`t_${name}`, name))) });
      const sessions = async (beginning: string, last = '', limit = 9) =>
        await store.ids('sessions', { beginning, end: last }, limit);
      expect((await sessions('abc')).toSorted()).toEqual(
        ['abc%', 'abc1', 'abc2x', 'abcd', 'abc\u{1f600}'].toSorted(),
      );
      expect(await sessions('abc', 'x')).toEqual(['abc2x']);
      expect(await sessions('abc1', '1')).toEqual([]);
      expect(await sessions('abc', '', 2)).toHaveLength(2);
      expect(await sessions('abc%')).toEqual(['abc%']);
      expect(await store.ids('turns', { beginning: 't_abcd', end: '' }, 9)).toEqual(['t_abcd']);
      expect(await store.ids('turns', { beginning: 'abc', end: '' }, 9)).toEqual([]);
    });

    it('returns the first or the last turns of a session, in order', async () => {
      const store = await openStore();
      await store.append({ facts: at(1, ...['a', 'b', 'c', 'd'].map((turn) => start(turn, 's1'))) });
      const turns = async (page?: Parameters<Store['turns']>[1]) =>
        (await store.turns('s1', page)).map(({ id }) => id);
      expect(await turns()).toEqual(['a', 'b', 'c', 'd']);
      expect(await turns({ limit: 2 })).toEqual(['a', 'b']);
      expect(await turns({ limit: 2, fromEnd: true })).toEqual(['c', 'd']);
      expect(await turns({ limit: 9, fromEnd: true })).toEqual(['a', 'b', 'c', 'd']);
      expect(await turns({ limit: 0 })).toEqual([]);
    });

    it('returns how a session and its turns were judged, by session and type', async () => {
      const store = await withTurn();
      const scored = (session: string, score: number): Fact => ({
        type: 'session-scored',
        session,
        score,
        lessons: [],
        heldOut: [],
      });
      await store.append({ facts: at(20, scored('s1', 0.2), scored('s2', 0.4), scored('s1', 0.9)) });
      expect((await store.judgements('s1', 'session-scored')).map(({ seq }) => seq)).toEqual([3, 5]);
      expect(await store.judgements('s1', 'turn-appraised')).toEqual([]);
    });

    it('returns what a model read in the messages of a session, without quotes after an erasure', async () => {
      const store = await withTurn();
      const read = (turn: string, session: string): Fact => ({
        type: 'message-read',
        session,
        turn,
        model: 'maker/reader',
        spans: [{ quote: 'we use tabs', kind: 'rule' }],
      });
      const facts = [read('t1', 's1'), read('t2', 's2')];
      await store.append({ facts: at(20, ...facts) });
      expect((await store.judgements('s1', 'message-read')).map(({ fact }) => fact)).toEqual([facts[0]]);
      await store.erase('s1', 30, 'asked for');
      await store.append({ facts: at(40, read('t3', 's1')) });
      expect((await store.judgements('s1', 'message-read')).map(({ fact }) => fact)).toMatchObject([
        { turn: 't1', spans: [] },
        { turn: 't3', spans: [] },
      ]);
      expect((await store.judgements('s2', 'message-read')).map(({ fact }) => fact)).toEqual([facts[1]]);
    });

    it('returns the sampled turns of a session in order, without tokens after an erasure', async () => {
      const store = await withTurn();
      const sampled = (turn: string, session: string): Fact => ({
        type: 'turn-sampled',
        turn,
        session,
        version: 1,
        generation: 2,
        temperature: 1,
        tokens: 'sha256:1',
      });
      const facts = [sampled('t1', 's1'), sampled('t2', 's2'), sampled('t3', 's1')];
      await store.append({ facts: at(20, ...facts) });
      expect((await store.sampled('s1')).map(({ fact }) => fact)).toEqual([facts[0], facts[2]]);
      expect(await store.sampled('s3')).toEqual([]);
      await store.erase('s1', 30, 'asked for');
      expect((await store.sampled('s1')).map(({ fact }) => 'tokens' in fact)).toEqual([false, false]);
      expect((await store.sampled('s2')).map(({ fact }) => fact)).toEqual([facts[1]]);
    });

    it('returns the newest link of each session, the newest session first', async () => {
      const store = await openStore();
      const link = async (session: string, name: string) =>
        await store.append({ facts: [], chains: [{ session, link: name }] });
      await link('s1', 'a');
      await link('s2', 'b');
      await link('s1', 'c');
      expect(await store.chains(9)).toEqual([
        { session: 's1', link: 'c' },
        { session: 's2', link: 'b' },
      ]);
      expect(await store.chains(1)).toEqual([{ session: 's1', link: 'c' }]);
    });

    it('pages through all sessions, each once, also when many have the same time', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 25 }),
          fc.integer({ min: 1, max: 7 }),
          async (times, limit) => {
            const store = await open();
            await store.append({
              facts: times.map((when, n) => ({ at: when, fact: start(`t${n}`, `s${n}`) })),
            });
            const seen: string[] = [];
            let before: number | undefined;
            for (;;) {
              const page = await store.sessions({ limit, ...(before === undefined ? {} : { before }) });
              if (page.length === 0) break;
              seen.push(...page.map(({ id }) => id));
              before = page.at(-1)?.lastAt;
            }
            const all = await store.sessions({ limit: 1000 });
            await store.close();
            expect(seen).toEqual(all.map(({ id }) => id));
            expect(seen.toSorted()).toEqual(times.map((_, n) => `s${n}`).toSorted());
            expect(all.map(({ lastAt }) => lastAt)).toEqual(times.toSorted((a, b) => b - a));
          },
        ),
        { numRuns: 25 },
      );
    });

    it('finds sessions of one agent or one project', async () => {
      const store = await openStore();
      await store.append({
        facts: at(
          1,
          start('t1', 's1', { agent: 'a', project: { id: 'p', label: 'P' } }),
          start('t2', 's2', { agent: 'b', project: { id: 'p', label: 'P' } }),
          start('t3', 's3', { agent: 'a' }),
        ),
      });
      const ids = async (query: object) => (await store.sessions({ limit: 9, ...query })).map(({ id }) => id);
      expect(await ids({})).toEqual(['s3', 's2', 's1']);
      expect(await ids({ agent: 'a' })).toEqual(['s3', 's1']);
      expect(await ids({ project: 'p' })).toEqual(['s2', 's1']);
      expect(await ids({ project: 'p', agent: 'a' })).toEqual(['s1']);
      expect(await ids({ agent: 'c' })).toEqual([]);
      expect(await ids({ limit: 0 })).toEqual([]);
    });

    it('finds the sessions that were active in a time: also one that began before it and went on after it', async () => {
      const store = await openStore();
      const turnsAt = { long: [5, 50], early: [7, 9], inside: [20, 21], late: [30, 40] };
      const facts = Object.entries(turnsAt).flatMap(([id, times]) =>
        times.map((time) => ({ at: time, fact: start(`${id}${time}`, id, { agent: id[0] ?? '' }) })),
      );
      await store.append({ facts: facts.toSorted((a, b) => a.at - b.at) });
      const ids = async (query: object) => (await store.sessions({ limit: 9, ...query })).map(({ id }) => id);
      expect(await ids({ from: 10, to: 30 })).toEqual(['long', 'inside']);
      expect(await ids({ from: 9, to: 31 })).toEqual(['long', 'late', 'inside', 'early']);
      expect(await ids({ from: 41 })).toEqual(['long']);
      expect(await ids({ to: 7 })).toEqual(['long']);
      expect(await ids({ from: 10, to: 31, agent: 'l' })).toEqual(['long', 'late']);
      expect(await ids({ from: 10, to: 30, limit: 1 })).toEqual(['long']);
      expect(await ids({ from: 10, to: 30, before: 50 })).toEqual(['inside']);
    });

    it('finds the sessions of people among many attempts of practice, and pages over these', async () => {
      const store = await openStore();
      const attempts = Array.from({ length: 12 }, (_, nth) => `attempt:run/0/t/${nth}`);
      const facts = ['s1', ...attempts, 's2'].map((id, nth) => ({ at: nth, fact: start(`t${nth}`, id) }));
      await store.append({ facts });
      const ids = async (query: object) =>
        (await store.sessions({ limit: 1, withoutPractice: true, ...query })).map(({ id }) => id);
      expect(await ids({})).toEqual(['s2']);
      expect(await ids({ before: 13 })).toEqual(['s1']);
      expect(await ids({ withoutPractice: false, limit: 99 })).toHaveLength(14);
    });

    it('rebuilds the same views from the facts', async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (run) => {
          const store = await open();
          for (const step of run) await step.run(store);
          const before = await observe(store);
          await store.rebuild();
          expect(await observe(store)).toEqual(before);
          await store.close();
        }),
        { numRuns: 30 },
      );
    });
  });

  describe(`a store (${name}) keeps bodies`, () => {
    it('stores any text once for all its users', async () => {
      const store = await openStore();
      const texts = ['', 'short', 'long '.repeat(10_000), 'NUL \u0000 and \u{1f600}'];
      const blocks = texts.map((text, n) => ({ hash: `0${n}`, text, session: 's1' }));
      await store.append({ facts: [], blocks });
      await store.append({ facts: [], blocks: blocks.map((block) => ({ ...block, session: 's2' })) });
      expect(await Promise.all(blocks.map(({ hash }) => store.block(hash)))).toEqual(texts);
      expect(await store.totals()).toMatchObject({ blocks: 4 });
      expect(await store.block('99')).toBeUndefined();
    });

    it('has no text for a use of an unknown block', async () => {
      const store = await openStore();
      await store.append({ facts: [], blocks: [{ hash: 'aa', session: 's1' }] });
      expect(await store.block('aa')).toBeUndefined();
      expect(await store.totals()).toMatchObject({ blocks: 0 });
    });
  });

  describe(`a store (${name}) when it ends`, () => {
    it('writes a snapshot with the same content, readable by the owner only', async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (run) => {
          const dir = scratch();
          const store = await open();
          for (const step of run) await step.run(store);
          await store.snapshot(join(dir, 'copy.db'));
          expect(statSync(join(dir, 'copy.db')).mode & 0o777).toBe(0o600);
          const copy = openSqliteReader(join(dir, 'copy.db'));
          expect(await observe(copy)).toEqual(await observe(store));
          expect(await copy.check()).toEqual([]);
          await copy.close();
          await store.close();
        }),
        { numRuns: 8 },
      );
    });

    it('refuses to write a snapshot over a file', async () => {
      const file = join(scratch(), 'copy.db');
      const store = await withTurn();
      await store.snapshot(file);
      await expect(store.snapshot(file)).rejects.toThrow(expect.objectContaining({ code: 'io' }));
      await expect(store.snapshot(join(file, 'below'))).rejects.toThrow(
        expect.objectContaining({ code: 'io' }),
      );
      expect(existsSync(`${file}.tmp`)).toBe(false);
    });

    it('finds no damage in itself', async () => {
      expect(await (await withTurn()).check()).toEqual([]);
    });

    it('throws `closed` from then on, and can be closed twice', async () => {
      const store = await withTurn();
      await store.close();
      await store.close();
      for (const ask of [
        () => store.facts(0, 1),
        () => store.append({ facts: [] }),
        () => store.erase('s1', 1, 'r'),
        () => store.totals(),
        () => store.check(),
        () => store.rebuild(),
        () => store.snapshot(join(scratch(), 'x')),
      ])
        await expect(ask()).rejects.toThrow(expect.objectContaining({ name: 'StoreError', code: 'closed' }));
    });

    it('shows views of plain data', async () => {
      const store = await withTurn();
      expect(structuredClone(await observeViews(store))).toEqual(await observeViews(store));
    });
  });
}

function circle(): object {
  const data: { self?: object } = {};
  data.self = data;
  return data;
}
