import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AsyncStore } from '../../../src/core/store.ts';
import { formatTurnBodyKey } from '../../../src/core/store.ts';
import { HASHES, markOf, SESSIONS, steps, TURNS, textOf } from './arbitraries.ts';
import { at, end, start } from './facts.ts';
import { observe } from './observe.ts';

/** The contract of erasure for every store. */
export function describeErasing(name: string, open: () => Promise<AsyncStore>): void {
  const withTwo = async (): Promise<AsyncStore> => {
    const store = await open();
    onTestFinished(() => store.close());
    const project = { id: 'p', label: 'secret plan' };
    const turnOf = (turn: string, session: string) => [
      start(turn, session, { request: 'aa01', project }),
      end(turn, { reply: 'aa02', failure: 'secret words', usage: { inputTokens: 1, outputTokens: 1 } }),
    ];
    await store.append({
      facts: at(
        10,
        ...turnOf('t1', 's1'),
        ...turnOf('t2', 's2'),
        { type: 'reward-given', turn: 't1', source: 'person', score: 1, note: 'secret note' },
        { type: 'event-reported', kind: 'build', session: 's1', score: 1, data: { log: 'secret log' } },
      ),
      blocks: [
        { hash: 'aa01', text: 'own', session: 's1' },
        { hash: 'aa02', text: 'shared', session: 's1' },
        { hash: 'aa02', text: 'shared', session: 's2' },
      ],
      chains: [
        { session: 's1', link: 'l1' },
        { session: 's2', link: 'l2' },
      ],
    });
    return store;
  };
  const saidBy = async (store: AsyncStore, session: string): Promise<string> =>
    JSON.stringify(
      (await store.facts(0, 999))
        .map(({ fact }) => fact)
        .filter(
          (fact) => ('session' in fact && fact.session === session) || ('turn' in fact && fact.turn === 't1'),
        ),
    );

  describe(`erasing (${name})`, () => {
    it('deletes the text of the session and keeps the fact that it took place', async () => {
      const store = await withTwo();
      expect((await store.erase('s1', 50, 'asked')).turns).toBe(1);
      expect(await store.block('aa01')).toBeUndefined();
      expect(await saidBy(store, 's1')).not.toContain('secret');
      expect(await store.session('s1')).toMatchObject({
        erased: true,
        turns: 1,
        project: { id: 'p', label: '' },
      });
      const [turn] = await store.turns('s1');
      expect(turn).toMatchObject({ id: 't1', status: 'complete', usage: { inputTokens: 1 } });
      expect(turn).not.toHaveProperty('request');
      expect(turn).not.toHaveProperty('reply');
      expect(turn).not.toHaveProperty('failure');
      expect(await store.rewards({ turn: 't1' })).toEqual([{ seq: 5, at: 14, source: 'person', score: 1 }]);
      expect(await store.chains(9)).toEqual([{ session: 's2', link: 'l2' }]);
      expect(await store.facts(6, 9)).toEqual([
        { seq: 7, at: 50, fact: { type: 'session-erased', session: 's1', turns: 1, reason: 'asked' } },
      ]);
      expect(await store.check()).toEqual([]);
    });

    it('keeps the text of other sessions, including shared blocks', async () => {
      const store = await withTwo();
      const before = [await store.session('s2'), await store.turns('s2')];
      await store.erase('s1', 50, 'asked');
      expect([await store.session('s2'), await store.turns('s2')]).toEqual(before);
      expect(await store.block('aa02')).toBe('shared');
      await store.erase('s2', 51, 'asked');
      expect(await store.block('aa02')).toBeUndefined();
      expect(await store.totals()).toMatchObject({ blocks: 0, sessions: 2, turns: 2 });
    });

    it('does nothing to an unknown session or to one that is erased already', async () => {
      const store = await withTwo();
      const before = await observe(store);
      expect((await store.erase('nobody', 50, 'asked')).turns).toBe(0);
      expect(await observe(store)).toEqual(before);
      await store.erase('s1', 50, 'asked');
      const once = await observe(store);
      expect((await store.erase('s1', 51, 'asked')).turns).toBe(0);
      expect(await observe(store)).toEqual(once);
    });

    it('deletes the bodies of the session’s own turns and no others', async () => {
      const store = await open();
      onTestFinished(() => store.close());
      const names = ['t1', 't2'].flatMap((turn) => [
        formatTurnBodyKey({ turn, part: 'request' }),
        formatTurnBodyKey({ turn, part: 'reply' }),
      ]);
      const texts = names.map((name) => `text of ${name} `.repeat(300));
      await store.append({
        facts: at(1, start('t1', 's1'), end('t1'), start('t2', 's2'), end('t2')),
        blocks: names.map((hash, n) => ({ hash, text: texts[n] ?? '', session: n < 2 ? 's1' : 's2' })),
      });
      const read = () => Promise.all(names.map((name) => store.block(name)));
      expect(await read()).toEqual(texts);
      expect((await store.erase('s1', 50, 'asked')).turns).toBe(1);
      expect(await read()).toEqual([undefined, undefined, ...texts.slice(2)]);
      expect(await store.check()).toEqual([]);
    });

    it('stores a body only together with its fact, and the first of two', async () => {
      const store = await open();
      onTestFinished(() => store.close());
      const hash = formatTurnBodyKey({ turn: 't1', part: 'request' });
      const say = (text: string) => [{ hash, text, session: 's1' }];
      await store.append({ facts: [], blocks: say('before its turn') });
      expect(await store.block(hash)).toBeUndefined();
      await store.append({ facts: at(1, start('t1', 's1')), blocks: [...say('first'), ...say('second')] });
      await store.append({ facts: at(2, start('t1', 's1')), blocks: say('again') });
      expect(await store.block(hash)).toBe('first');
      expect(await store.block(formatTurnBodyKey({ turn: 't1', part: 'reply' }))).toBeUndefined();
    });

    it('stores nothing of an erased session that arrives late', async () => {
      const store = await withTwo();
      await store.append({ facts: at(20, start('t3', 's1')) });
      await store.erase('s1', 50, 'asked');
      await store.append({
        facts: at(
          60,
          end('t3', { reply: 'aa03', failure: 'secret' }),
          { type: 'reward-given', turn: 't1', source: 'person', score: 1, note: 'secret' },
          { type: 'event-reported', kind: 'build', session: 's1', data: { log: 'secret' } },
        ),
        blocks: [{ hash: 'aa03', text: 'secret', session: 's1' }],
        chains: [{ session: 's1', link: 'late' }],
      });
      expect(await saidBy(store, 's1')).not.toContain('secret');
      expect(await store.block('aa03')).toBeUndefined();
      expect(await store.chains(9)).toEqual([{ session: 's2', link: 'l2' }]);
      expect(await store.turn('t3')).toMatchObject({ status: 'complete', endedAt: 60 });
    });

    it('counts only the new turns of a session that continued after an erasure', async () => {
      const store = await withTwo();
      await store.erase('s1', 50, 'asked');
      await store.append({
        facts: at(60, start('t3', 's1')),
        blocks: [{ hash: 'aa03', text: 'new', session: 's1' }],
      });
      expect(await store.session('s1')).toMatchObject({ erased: false, turns: 2 });
      expect(await store.block('aa03')).toBe('new');
      expect((await store.erase('s1', 70, 'asked')).turns).toBe(1);
      expect(await store.block('aa03')).toBeUndefined();
    });

    it('stores a text again that was erased before', async () => {
      const store = await withTwo();
      await store.erase('s1', 50, 'asked');
      await store.append({ facts: [], blocks: [{ hash: 'aa01', text: 'own', session: 's2' }] });
      expect(await store.block('aa01')).toBe('own');
      expect(await store.check()).toEqual([]);
    });

    it('takes place when a tombstone is appended (the log cannot claim it falsely)', async () => {
      const store = await withTwo();
      await store.append({
        facts: at(50, { type: 'session-erased', session: 's1', turns: 1, reason: 'imported' }),
      });
      expect(await store.block('aa01')).toBeUndefined();
      expect(await saidBy(store, 's1')).not.toContain('secret');
    });

    it('of expired sessions goes oldest first, up to the limit', async () => {
      const store = await open();
      onTestFinished(() => store.close());
      await store.append({
        facts: [30, 10, 20, 40].map((when) => ({ at: when, fact: start(`t${when}`, `s${when}`) })),
        blocks: [10, 20, 30, 40].map((when) => ({
          hash: `${when}`,
          text: `text ${when}`,
          session: `s${when}`,
        })),
      });
      const texts = async () => {
        const left: number[] = [];
        for (const when of [10, 20, 30, 40])
          if ((await store.block(`${when}`)) !== undefined) left.push(when);
        return left;
      };
      expect(await store.expire(40, 99, 2)).toBe(2);
      expect(await texts()).toEqual([30, 40]);
      expect(await store.expire(40, 99, 2)).toBe(1);
      expect(await store.expire(40, 99, 2)).toBe(0);
      expect(await texts()).toEqual([40]);
      expect((await store.facts(4, 9)).map(({ fact }) => fact)).toMatchObject([
        { session: 's10', reason: 'expired' },
        { session: 's20' },
        { session: 's30' },
      ]);
    });

    it('leaves no text of the session and all text of the others, after any operations', async () => {
      await fc.assert(
        fc.asyncProperty(steps, fc.constantFrom(...SESSIONS), async (run, session) => {
          const store = await open();
          for (const step of run) await step.run(store);
          const before = await Promise.all(HASHES.map((hash) => store.block(hash)));
          const seen = () =>
            Promise.all(others.map(async (id) => [await store.session(id), await store.turns(id)]));
          const others = SESSIONS.filter((id) => id !== session);
          const othersBefore = await seen();
          const views = await Promise.all(TURNS.map((id) => store.turn(id)));
          const open_ = new Set(TURNS.filter((_, nth) => views[nth] !== undefined));
          await store.erase(session, 100, 'asked');

          const mark = JSON.stringify(markOf(session)).slice(1, -1);
          const left = (await store.facts(0, 9999)).filter(({ fact }) => JSON.stringify(fact).includes(mark));
          // An end or a reward of a turn without a start belongs to no session.
          expect(left.filter(({ fact }) => !('turn' in fact) || open_.has(fact.turn ?? ''))).toEqual([]);
          expect(await seen()).toEqual(othersBefore);
          expect(JSON.stringify(await observe(store))).not.toContain(
            JSON.stringify(`${mark}re`).slice(1, -1),
          );
          for (const [n, hash] of HASHES.entries())
            expect([undefined, before[n] === undefined ? undefined : textOf(hash)]).toContain(
              await store.block(hash),
            );
          const after = await observe(store);
          expect((await store.erase(session, 101, 'asked')).turns).toBe(0);
          expect(await observe(store)).toEqual(after);
          await store.close();
        }),
        { numRuns: 40 },
      );
    });
  });
}
