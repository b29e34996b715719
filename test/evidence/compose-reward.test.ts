import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RewardSource, Signal } from '../../src/core/evidence.ts';
import { composeReward, INFRASTRUCTURE } from '../../src/evidence/compose-reward.ts';

const TRUST: readonly RewardSource[] = ['verifier', 'person', 'chat', 'judge', 'signal', 'agent'];
const signalOf = (sources: readonly RewardSource[]): fc.Arbitrary<Signal> =>
  fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    source: fc.constantFrom(...sources),
    score: fc.double({ min: 0, max: 1, noNaN: true }),
    weight: fc.double({ min: 0.01, max: 100, noNaN: true }),
    reason: fc.constant(''),
  });
const signals = fc.array(signalOf(TRUST), { maxLength: 12 });
const broken: Signal = { name: INFRASTRUCTURE, source: 'signal', score: 0.5, weight: 1, reason: '' };
const one = (source: RewardSource, score: number, weight = 1): Signal => ({
  name: 'x',
  source,
  score,
  weight,
  reason: '',
});

describe('the reward rule', () => {
  it('keeps rewards between 0 and 1, and gives none to ambiguous and infrastructure turns', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(signalOf(TRUST), fc.constant(broken))), (list) => {
        const { verdict, reward } = composeReward(list);
        if (verdict === 'success' || verdict === 'failure') {
          expect(reward).toBeGreaterThanOrEqual(0);
          expect(reward).toBeLessThanOrEqual(1);
          expect((reward ?? 0) < 0.5).toBe(verdict === 'failure');
        } else expect(reward).toBeUndefined();
      }),
    );
  });

  it('does not depend on the order of the signals (not even in the last digit)', () => {
    fc.assert(
      fc.property(
        signals.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        ([list, shuffled]) => void expect(composeReward(shuffled)).toEqual(composeReward(list)),
      ),
    );
  });

  it('ignores less trusted sources when a more trusted one has a score', () => {
    const levels = fc
      .constantFrom(0, 1, 2, 3, 4)
      .chain((level) =>
        fc.tuple(
          fc.array(signalOf(TRUST.slice(level, level + 1)), { minLength: 1 }),
          fc.array(signalOf(TRUST.slice(level + 1))),
        ),
      );
    fc.assert(
      fc.property(levels, ([higher, lower]) => {
        expect(composeReward([...lower, ...higher])).toEqual(composeReward(higher));
      }),
    );
  });

  it('does not change when all signals are repeated', () => {
    fc.assert(
      fc.property(signals, (list) => {
        const [once, twice] = [composeReward(list), composeReward([...list, ...list])];
        expect(twice.verdict).toBe(once.verdict);
        expect(twice.reward ?? 0).toBeCloseTo(once.reward ?? 0, 9);
      }),
    );
  });

  it('ranks infrastructure above judges, signals and agents', () => {
    const low = fc.array(signalOf(['judge', 'signal', 'agent']));
    fc.assert(
      fc.property(
        low,
        (list) => void expect(composeReward([broken, ...list]).verdict).toBe('infrastructure'),
      ),
    );
  });

  it('ranks verifiers, people and what was said in the chat above infrastructure', () => {
    const high = fc.array(signalOf(['verifier', 'person', 'chat']), { minLength: 1 });
    fc.assert(
      fc.property(high, (list) => void expect(composeReward([broken, ...list])).toEqual(composeReward(list))),
    );
  });

  it('averages the signals of the deciding source alone', () => {
    const list = [one('person', 0, 3), one('person', 1, 1), one('judge', 1, 100)];
    expect(composeReward(list)).toEqual({ verdict: 'failure', reward: 0.25, source: 'person' });
  });

  it('calls no score and a score of exactly 0.5 ambiguous (not a success)', () => {
    expect(composeReward([])).toEqual({ verdict: 'ambiguous' });
    expect(composeReward([one('judge', 0.5)])).toEqual({ verdict: 'ambiguous', source: 'judge' });
    expect(composeReward([one('signal', 0), one('signal', 1)]).verdict).toBe('ambiguous');
  });

  it('ignores a signal without a weight or a finite score', () => {
    const none = { ...one('verifier', 1), weight: 0 };
    expect(composeReward([none, one('verifier', Number.NaN), one('person', 0)]).source).toBe('person');
  });
});
