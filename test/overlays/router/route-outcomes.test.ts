import { describe, expect, it } from 'vitest';
import type { RoutedTask, Tier } from '../../../src/core/overlay.ts';
import { sketchOf, sketchSimilarity } from '../../../src/lessons/similar/task-sketch.ts';
import { createRouteOutcomes } from '../../../src/overlays/router/route-outcomes.ts';

const RENAME = sketchOf('Rename the variable total in cart.ts everywhere');
const LOCKS = sketchOf('Find the deadlock between the worker threads of the queue under load');
const task = (sketch = RENAME, more: Partial<RoutedTask> = {}): RoutedTask => ({
  agent: 'a',
  sketch,
  ...more,
});
/** Of the same key as the sessions below: the first one. */
const SESSION = 'asking';
const scored = (session: string, tier: Tier, score: number, of = task()) => ({
  fact: {
    ...{ type: 'session-scored' as const, session, score, lessons: [], heldOut: [] },
    route: { tier, task: of },
  },
});

describe('sketchOf', () => {
  it('gives alike requests alike bits, and unrelated ones unrelated bits', () => {
    const alike = sketchOf('Rename the variable amount in ledger.py everywhere');
    const similarity = (one: readonly number[], other: readonly number[]): number =>
      sketchSimilarity(Uint32Array.from(one), Uint32Array.from(other));
    expect(similarity(RENAME, RENAME)).toBe(1);
    expect(similarity(RENAME, alike)).toBeGreaterThan(0.5);
    expect(Math.abs(similarity(RENAME, LOCKS))).toBeLessThan(0.3);
    expect(similarity(RENAME, [1, 2])).toBe(0);
    expect(RENAME).toHaveLength(8);
  });
});

describe('createRouteOutcomes', () => {
  it('counts sessions with alike requests by tier, and those of other work not at all', () => {
    const outcomes = createRouteOutcomes();
    outcomes.add(scored('1', 'cheap', 1));
    outcomes.add(scored('2', 'cheap', 0));
    outcomes.add(scored('3', 'strong', 1, task(LOCKS)));
    const { cheap, strong } = outcomes.evidenceFor(task(), SESSION);
    expect(cheap.weight).toBeCloseTo(2, 2);
    expect(cheap.success).toBeCloseTo(1, 2);
    expect(strong.weight).toBeLessThan(0.3);
  });

  it('counts half for each of agent, kind of run and domain that differs', () => {
    const outcomes = createRouteOutcomes();
    outcomes.add(scored('1', 'cheap', 1));
    const weight = (more: Partial<RoutedTask>) =>
      outcomes.evidenceFor(task(RENAME, more), SESSION).cheap.weight;
    expect(weight({ agent: 'b' })).toBeCloseTo(0.5);
    expect(weight({ agent: 'b', runKind: 'ci', domain: 'code' })).toBeCloseTo(0.125);
  });

  it('counts a session once, ignores facts without a route or with a wrong score, and forgets the oldest', () => {
    const outcomes = createRouteOutcomes(10);
    outcomes.add(scored('1', 'cheap', 1));
    outcomes.add(scored('1', 'cheap', 0));
    outcomes.add(scored('2', 'cheap', 7));
    outcomes.add({ fact: { type: 'session-scored', session: '3', score: 1, lessons: ['x'], heldOut: [] } });
    expect(outcomes.size).toBe(1);
    for (let nth = 0; nth < 45; nth++) outcomes.add(scored(`s${nth}`, 'strong', 1));
    expect(outcomes.size).toBe(10);
    expect(outcomes.evidenceFor(task(), SESSION).cheap.weight).toBe(0);
    expect(outcomes.evidenceFor(task(), SESSION).strong.weight).toBeCloseTo(10, 1);
  });

  it('counts a session half after 2,000 further ones', () => {
    const outcomes = createRouteOutcomes();
    outcomes.add(scored('old', 'cheap', 1));
    for (let nth = 0; nth < 2_000; nth++) outcomes.add(scored(`s${nth}`, 'strong', 1, task(LOCKS)));
    expect(outcomes.evidenceFor(task(), SESSION).cheap.weight).toBeCloseTo(0.5, 2);
  });

  it('counts the outcomes of the asking key alone; programs without a name share those of the home', () => {
    const [app, own, other] = ['k_0123456789:1', 'o_0123456789:1', 'o_abcdefghij:1'];
    const person = 'k_0123456789.u_0123456789abcdef:1';
    const outcomes = createRouteOutcomes();
    const unnamed = task(RENAME, { agent: 'unknown' });
    for (const session of [app, own, person, 'first', 'k_9999999999:1', 'm_0123456789:1']) {
      outcomes.add(scored(session, 'cheap', 1));
      outcomes.add(scored(`${session}-unnamed`, 'strong', 1, unnamed));
    }
    const weights = (session: string, of = task()) => {
      const { cheap, strong } = outcomes.evidenceFor(of, session);
      return [Math.round(cheap.weight), Math.round(strong.weight * 2)];
    };
    // An end user's sessions are the application's; its other agent counts half.
    expect(weights('k_0123456789:2')).toEqual([2, 2]);
    expect(weights('o_0123456789:2')).toEqual([1, 1]);
    expect(weights('second')).toEqual([1, 1]);
    expect(weights(other)).toEqual([0, 0]);
    // Two keys of the home's own person, and none of an application's or a member's.
    expect(weights(other, unnamed)).toEqual([1, 4]);
    expect(weights('m_9999999999:1', unnamed)).toEqual([0, 0]);
  });

  it('is not moved by any number of sessions of other keys', () => {
    const outcomes = createRouteOutcomes();
    for (let nth = 0; nth < 20; nth++) outcomes.add(scored(`own-${nth}`, 'cheap', 0));
    const before = outcomes.evidenceFor(task(), SESSION);
    for (let nth = 0; nth < 500; nth++) outcomes.add(scored(`k_0123456789:${nth}`, 'cheap', 1));
    expect(outcomes.evidenceFor(task(), SESSION)).toEqual(before);
  });
});
