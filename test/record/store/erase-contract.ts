import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../src/core/store.ts';
import { formatTurnBodyKey } from '../../../src/core/store.ts';
import { HASHES, markOf, SESSIONS, steps, TURNS, textOf } from './arbitraries.ts';
import { at, end, start } from './facts.ts';
import { observe } from './observe.ts';

/** The contract of erasure for every store. */
export function describeErasing(name: string, open: () => Store): void {
  const withTwo = (): Store => {
    const store = open();
    onTestFinished(() => store.close());
    const project = { id: 'p', label: 'secret plan' };
    const turnOf = (turn: string, session: string) => [
      start(turn, session, { request: 'aa01', project }),
      end(turn, { reply: 'aa02', failure: 'secret words', usage: { inputTokens: 1, outputTokens: 1 } }),
    ];
    store.append({
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
  const saidBy = (store: Store, session: string): string =>
    JSON.stringify(
      store
        .facts(0, 999)
        .map(({ fact }) => fact)
        .filter(
          (fact) => ('session' in fact && fact.session === session) || ('turn' in fact && fact.turn === 't1'),
        ),
    );

  describe(`erasing (${name})`, () => {
    it('deletes the text of the session and keeps the fact that it took place', () => {
      const store = withTwo();
      expect(store.erase('s1', 50, 'asked').turns).toBe(1);
      expect(store.block('aa01')).toBeUndefined();
      expect(saidBy(store, 's1')).not.toContain('secret');
      expect(store.session('s1')).toMatchObject({ erased: true, turns: 1, project: { id: 'p', label: '' } });
      const [turn] = store.turns('s1');
      expect(turn).toMatchObject({ id: 't1', status: 'complete', usage: { inputTokens: 1 } });
      expect(turn).not.toHaveProperty('request');
      expect(turn).not.toHaveProperty('reply');
      expect(turn).not.toHaveProperty('failure');
      expect(store.rewards({ turn: 't1' })).toEqual([{ seq: 5, at: 14, source: 'person', score: 1 }]);
      expect(store.chains(9)).toEqual([{ session: 's2', link: 'l2' }]);
      expect(store.facts(6, 9)).toEqual([
        { seq: 7, at: 50, fact: { type: 'session-erased', session: 's1', turns: 1, reason: 'asked' } },
      ]);
      expect(store.check()).toEqual([]);
    });

    it('keeps the text of other sessions, including shared blocks', () => {
      const store = withTwo();
      const before = [store.session('s2'), store.turns('s2')];
      store.erase('s1', 50, 'asked');
      expect([store.session('s2'), store.turns('s2')]).toEqual(before);
      expect(store.block('aa02')).toBe('shared');
      store.erase('s2', 51, 'asked');
      expect(store.block('aa02')).toBeUndefined();
      expect(store.totals()).toMatchObject({ blocks: 0, sessions: 2, turns: 2 });
    });

    it('does nothing to an unknown session or to one that is erased already', () => {
      const store = withTwo();
      const before = observe(store);
      expect(store.erase('nobody', 50, 'asked').turns).toBe(0);
      expect(observe(store)).toEqual(before);
      store.erase('s1', 50, 'asked');
      const once = observe(store);
      expect(store.erase('s1', 51, 'asked').turns).toBe(0);
      expect(observe(store)).toEqual(once);
    });

    it('deletes the bodies of the session’s own turns and no others', () => {
      const store = open();
      onTestFinished(() => store.close());
      const names = ['t1', 't2'].flatMap((turn) => [
        formatTurnBodyKey({ turn, part: 'request' }),
        formatTurnBodyKey({ turn, part: 'reply' }),
      ]);
      const texts = names.map((name) => `text of ${name} `.repeat(300));
      store.append({
        facts: at(1, start('t1', 's1'), end('t1'), start('t2', 's2'), end('t2')),
        blocks: names.map((hash, n) => ({ hash, text: texts[n] ?? '', session: n < 2 ? 's1' : 's2' })),
      });
      const read = () => names.map((name) => store.block(name));
      expect(read()).toEqual(texts);
      expect(store.erase('s1', 50, 'asked').turns).toBe(1);
      expect(read()).toEqual([undefined, undefined, ...texts.slice(2)]);
      expect(store.check()).toEqual([]);
    });

    it('stores a body only together with its fact, and the first of two', () => {
      const store = open();
      onTestFinished(() => store.close());
      const hash = formatTurnBodyKey({ turn: 't1', part: 'request' });
      const say = (text: string) => [{ hash, text, session: 's1' }];
      store.append({ facts: [], blocks: say('before its turn') });
      expect(store.block(hash)).toBeUndefined();
      store.append({ facts: at(1, start('t1', 's1')), blocks: [...say('first'), ...say('second')] });
      store.append({ facts: at(2, start('t1', 's1')), blocks: say('again') });
      expect(store.block(hash)).toBe('first');
      expect(store.block(formatTurnBodyKey({ turn: 't1', part: 'reply' }))).toBeUndefined();
    });

    it('stores nothing of an erased session that arrives late', () => {
      const store = withTwo();
      store.append({ facts: at(20, start('t3', 's1')) });
      store.erase('s1', 50, 'asked');
      store.append({
        facts: at(
          60,
          end('t3', { reply: 'aa03', failure: 'secret' }),
          { type: 'reward-given', turn: 't1', source: 'person', score: 1, note: 'secret' },
          { type: 'event-reported', kind: 'build', session: 's1', data: { log: 'secret' } },
        ),
        blocks: [{ hash: 'aa03', text: 'secret', session: 's1' }],
        chains: [{ session: 's1', link: 'late' }],
      });
      expect(saidBy(store, 's1')).not.toContain('secret');
      expect(store.block('aa03')).toBeUndefined();
      expect(store.chains(9)).toEqual([{ session: 's2', link: 'l2' }]);
      expect(store.turn('t3')).toMatchObject({ status: 'complete', endedAt: 60 });
    });

    it('counts only the new turns of a session that continued after an erasure', () => {
      const store = withTwo();
      store.erase('s1', 50, 'asked');
      store.append({
        facts: at(60, start('t3', 's1')),
        blocks: [{ hash: 'aa03', text: 'new', session: 's1' }],
      });
      expect(store.session('s1')).toMatchObject({ erased: false, turns: 2 });
      expect(store.block('aa03')).toBe('new');
      expect(store.erase('s1', 70, 'asked').turns).toBe(1);
      expect(store.block('aa03')).toBeUndefined();
    });

    it('stores a text again that was erased before', () => {
      const store = withTwo();
      store.erase('s1', 50, 'asked');
      store.append({ facts: [], blocks: [{ hash: 'aa01', text: 'own', session: 's2' }] });
      expect(store.block('aa01')).toBe('own');
      expect(store.check()).toEqual([]);
    });

    it('takes place when a tombstone is appended (the log cannot claim it falsely)', () => {
      const store = withTwo();
      store.append({
        facts: at(50, { type: 'session-erased', session: 's1', turns: 1, reason: 'imported' }),
      });
      expect(store.block('aa01')).toBeUndefined();
      expect(saidBy(store, 's1')).not.toContain('secret');
    });

    it('of expired sessions goes oldest first, up to the limit', () => {
      const store = open();
      onTestFinished(() => store.close());
      store.append({
        facts: [30, 10, 20, 40].map((when) => ({ at: when, fact: start(`t${when}`, `s${when}`) })),
        blocks: [10, 20, 30, 40].map((when) => ({
          hash: `${when}`,
          text: `text ${when}`,
          session: `s${when}`,
        })),
      });
      const texts = () => [10, 20, 30, 40].filter((when) => store.block(`${when}`) !== undefined);
      expect(store.expire(40, 99, 2)).toBe(2);
      expect(texts()).toEqual([30, 40]);
      expect(store.expire(40, 99, 2)).toBe(1);
      expect(store.expire(40, 99, 2)).toBe(0);
      expect(texts()).toEqual([40]);
      expect(store.facts(4, 9).map(({ fact }) => fact)).toMatchObject([
        { session: 's10', reason: 'expired' },
        { session: 's20' },
        { session: 's30' },
      ]);
    });

    it('leaves no text of the session and all text of the others, after any operations', () => {
      fc.assert(
        fc.property(steps, fc.constantFrom(...SESSIONS), (run, session) => {
          const store = open();
          for (const step of run) step.run(store);
          const before = HASHES.map((hash) => store.block(hash));
          const others = SESSIONS.filter((id) => id !== session);
          const othersBefore = others.map((id) => [store.session(id), store.turns(id)]);
          const open_ = new Set(TURNS.filter((id) => store.turn(id)));
          store.erase(session, 100, 'asked');

          const mark = JSON.stringify(markOf(session)).slice(1, -1);
          const left = store.facts(0, 9999).filter(({ fact }) => JSON.stringify(fact).includes(mark));
          // An end or a reward of a turn without a start belongs to no session.
          expect(left.filter(({ fact }) => !('turn' in fact) || open_.has(fact.turn ?? ''))).toEqual([]);
          expect(others.map((id) => [store.session(id), store.turns(id)])).toEqual(othersBefore);
          expect(JSON.stringify(observe(store))).not.toContain(JSON.stringify(`${mark}re`).slice(1, -1));
          for (const [n, hash] of HASHES.entries())
            expect([undefined, before[n] === undefined ? undefined : textOf(hash)]).toContain(
              store.block(hash),
            );
          const after = observe(store);
          expect(store.erase(session, 101, 'asked').turns).toBe(0);
          expect(observe(store)).toEqual(after);
          store.close();
        }),
        { numRuns: 40 },
      );
    });
  });
}
