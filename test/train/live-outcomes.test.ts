import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/fact.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import {
  createLiveOutcomes,
  followOutcomes,
  judgeTrust,
  type LiveOutcomes,
} from '../../train/live-outcomes.ts';
import { failure, numbered, silent, success } from './facts.ts';

function fold(...facts: readonly Fact[]): LiveOutcomes {
  const outcomes = createLiveOutcomes();
  const stored = numbered();
  for (const fact of facts) outcomes.add(stored(fact));
  return outcomes;
}

/** A turn of a session of its own that a person rewarded. */
const said = (turn: string, reward: number, more: Parameters<typeof success>[1] = {}): Fact =>
  (reward < 0.5 ? failure : success)(turn, { session: `s-${turn}`, source: 'person', reward, ...more });
const signal = (source: 'judge' | 'person', score: number) => ({
  ...{ name: 'given', source, score, weight: 1, reason: 'asked' },
});
const judged = (turn: string, reward: number): Fact =>
  said(turn, reward, { source: 'judge', signals: [signal('judge', reward)] });

describe('the advantage of a live turn', () => {
  it('is 0 where all outcomes are equally good (a success is not punished for being usual)', () => {
    const outcomes = fold(said('a', 1), said('b', 1), said('c', 1));
    expect(['a', 'b', 'c'].map(outcomes.advantageOf)).toEqual([0, 0, 0]);
  });

  it('depends on what is usual: 0.6 is bad among 1.0 and good among 0.2', () => {
    expect(fold(said('a', 1), said('b', 1), said('x', 0.6)).advantageOf('x')).toBeCloseTo(-0.4);
    expect(fold(said('a', 0.2), said('b', 0.2), said('x', 0.6)).advantageOf('x')).toBeCloseTo(0.4);
  });

  it('leaves the turn itself out of the mean, also when it is appraised again', () => {
    fc.assert(
      fc.property(fc.array(fc.float({ min: 0, max: 1, noNaN: true }), { minLength: 2 }), (rewards) => {
        const facts = rewards.map((reward, at) => said(`${at}`, reward));
        const [own = 0, ...others] = rewards;
        const mean = others.reduce((sum, reward) => sum + reward, 0) / others.length;
        expect(fold(...facts, said('0', own)).advantageOf('0')).toBeCloseTo(own - mean);
      }),
    );
  });

  it('compares with earlier turns of its session, never with later ones, which its answer may have caused', () => {
    const inSession = (turn: string, reward: number): Fact => said(turn, reward, { session: 'one' });
    const outcomes = fold(inSession('a', 1), inSession('b', 0.5 + 1e-3), inSession('c', 0));
    expect(outcomes.advantageOf('a')).toBeUndefined();
    expect(outcomes.advantageOf('c')).toBeCloseTo(-(1 + 0.5 + 1e-3) / 2);
  });

  it('counts failures that train nothing, and keeps agents and projects apart', () => {
    const elsewhere = said('far', 0, { scope: { agent: 'coder', project: 'p' } });
    expect(fold(said('a', 0), elsewhere, said('x', 1)).advantageOf('x')).toBe(1);
    expect(fold(elsewhere, said('x', 1)).advantageOf('x')).toBeUndefined();
  });

  it('is not made of signals, chat or erased sessions', () => {
    const erased = said('e', 0, { signals: [] });
    const guessed = said('g', 0, { source: 'signal' });
    const typed = said('t', 0, { source: 'chat' });
    const outcomes = fold(erased, guessed, typed, said('a', 1), said('x', 1));
    expect(outcomes.advantageOf('x')).toBe(0);
    expect(['e', 'g', 't'].map(outcomes.advantageOf)).toEqual([undefined, undefined, undefined]);
  });

  it('of a judge counts a tenth until 20 turns were also rewarded by a person, then by their agreement', () => {
    const both = (turn: string, isAgreed: boolean): Fact =>
      said(turn, 1, { signals: [signal('person', 1), signal('judge', isAgreed ? 1 : 0)] });
    const twenty = (agreed: number): readonly Fact[] =>
      Array.from({ length: 20 }, (_, at) => both(`p${at}`, at < agreed));
    expect(fold(said('a', 0), judged('x', 1)).advantageOf('x')).toBeCloseTo(0.1);
    const trusted = fold(...twenty(20), judged('x', 0));
    expect(trusted.judge()).toMatchObject({ pairs: 20, agreed: 20 });
    expect(trusted.advantageOf('x')).toBeCloseTo(-judgeTrust(20, 20).weight);
    expect(judgeTrust(20, 20).weight).toBeGreaterThan(0.6);
    expect(judgeTrust(200, 100).weight).toBe(0);
    expect(fold(...twenty(10), judged('x', 0)).advantageOf('x')).toBeCloseTo(0);
  });
});

describe('the outcomes that the record has', () => {
  it('are read with the checks of rules among the appraisals, in the order in which they came, page by page', async () => {
    const records = toRecords(createMemoryStore(), () => 0);
    const observed = (turn: string, outcome: 'kept' | 'broken'): Fact => ({
      type: 'rules-observed',
      session: `s-${turn}`,
      turn,
      results: [{ lesson: 'rule', revision: 1, outcome }],
    });
    const turns = Array.from({ length: 2100 }, (_, at) => `t${at}`);
    const facts = turns.flatMap((turn, at) => [
      silent(turn),
      observed(turn, at % 2 === 0 ? 'kept' : 'broken'),
    ]);
    await records.append(facts.map((fact) => ({ at: 1, fact })));
    const outcomes = await followOutcomes(records)();
    expect(outcomes.advantageOf('t2098')).toBeCloseTo(1 - 99 / 199);
    expect(outcomes.advantageOf('t2099')).toBeCloseTo(-100 / 199);
  });
});
