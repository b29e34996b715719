import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RewardSource } from '../../../src/core/evidence.ts';
import { type Calibration, createCalibration } from '../../../src/evidence/judge/calibration.ts';
import { wilsonInterval } from '../../../src/stats/interval.ts';

const hearPairs = (calibration: Calibration, agreed: number, turns: number): void => {
  for (let turn = 0; turn < turns; turn++) {
    calibration.hear({ turn: `t${turn}`, source: 'person', score: 1, at: 1 });
    calibration.hear({ turn: `t${turn}`, source: 'judge', score: turn < agreed ? 0.3 : -1, at: 1 });
  }
};

describe('calibration', () => {
  it('counts the judge half until 20 turns are compared, then fully, and switches it off once it disagrees', () => {
    const few = createCalibration();
    hearPairs(few, 19, 19);
    expect(few.status().weight).toBe(0.5);
    const many = createCalibration();
    hearPairs(many, 20, 20);
    expect(many.status().weight).toBe(1);
    const wrong = createCalibration();
    hearPairs(wrong, 2, 30);
    expect(wrong.status()).toMatchObject({ weight: 0, isTrusted: false });
  });

  it('also compares the judge with the chat, below a person', () => {
    const calibration = createCalibration();
    for (const [turn, source, score] of [
      ['said', 'judge', 1],
      ['said', 'chat', -1],
      ['both', 'judge', 1],
      ['both', 'chat', -1],
      ['both', 'person', 1],
    ] as const)
      calibration.hear({ turn, source, score, at: 1 });
    expect(calibration.status()).toMatchObject({ turns: 2, agreed: 1, tooKind: 1 });
  });

  it('trusts the judge while there is nothing to compare', () => {
    expect(createCalibration().status()).toEqual({
      turns: 0,
      agreed: 0,
      tooKind: 0,
      tooStrict: 0,
      interval: { low: 0, high: 1 },
      isTrusted: true,
      weight: 0.5,
      said: 'no turns to compare the judge with yet',
    });
  });

  it('counts the turns that both scored, and in which direction the judge was wrong', () => {
    const calibration = createCalibration();
    const rewards: readonly (readonly [string, RewardSource, number])[] = [
      ['both', 'judge', 1],
      ['both', 'person', 0.5],
      ['kind', 'person', -1],
      ['kind', 'judge', 1],
      ['strict', 'judge', -0.4],
      ['strict', 'verifier', 1],
      ['alone', 'judge', 1],
      ['unjudged', 'person', 1],
      ['abstained', 'judge', 0],
      ['abstained', 'person', 1],
      ['signalled', 'judge', 1],
      ['signalled', 'signal', -1],
    ];
    for (const [turn, source, score] of rewards) calibration.hear({ turn, source, score, at: 1 });
    expect(calibration.status()).toMatchObject({
      turns: 3,
      agreed: 1,
      tooKind: 1,
      tooStrict: 1,
      share: 1 / 3,
      interval: wilsonInterval(1, 3),
    });
  });

  it('prefers a verifier to a person, and uses the last reward of each', () => {
    const calibration = createCalibration();
    for (const [source, score] of [
      ['judge', 1],
      ['verifier', -1],
      ['person', 1],
    ] as const)
      calibration.hear({ turn: 't', source, score, at: 1 });
    expect(calibration.status()).toMatchObject({ turns: 1, agreed: 0 });
    calibration.hear({ turn: 't', source: 'verifier', score: 1, at: 1 });
    expect(calibration.status()).toMatchObject({ turns: 1, agreed: 1 });
  });

  it('ends trust when the upper bound is under 0.6 (not before 20 turns)', () => {
    fc.assert(
      fc.property(fc.nat({ max: 60 }), fc.nat({ max: 60 }), (one, other) => {
        const [agreed, turns] = [Math.min(one, other), Math.max(one, other)];
        const calibration = createCalibration();
        hearPairs(calibration, agreed, turns);
        const { isTrusted, said } = calibration.status();
        expect(isTrusted).toBe(turns < 20 || wilsonInterval(agreed, turns).high >= 0.6);
        expect(said.includes('it is switched off until models.judge names another model')).toBe(!isTrusted);
      }),
    );
    const [bad, luckier] = [createCalibration(), createCalibration()];
    hearPairs(bad, 7, 20);
    hearPairs(luckier, 8, 20);
    expect([bad, luckier].map((one) => one.status().isTrusted)).toEqual([false, true]);
  });

  it('forgets old turns, so that another model can regain trust', () => {
    const calibration = createCalibration(30);
    hearPairs(calibration, 0, 30);
    expect(calibration.status().isTrusted).toBe(false);
    for (let turn = 0; turn < 30; turn++)
      for (const source of ['judge', 'person'] as const)
        calibration.hear({ turn: `new${turn}`, source, score: 1, at: 1 });
    expect(calibration.status()).toMatchObject({ turns: 30, agreed: 30, isTrusted: true });
  });

  it('compares the judge with the checks of rules, below a person and above the chat', () => {
    const calibration = createCalibration();
    for (let turn = 0; turn < 20; turn++) {
      calibration.hear({ turn: `t${turn}`, source: 'judge', score: 1, at: 1 });
      calibration.hear({ turn: `t${turn}`, source: 'check', score: -1, at: 1 });
      calibration.hear({ turn: `t${turn}`, source: 'chat', score: 1, at: 1 });
    }
    expect(calibration.status()).toMatchObject({ turns: 20, agreed: 0, isTrusted: false });
    calibration.hear({ turn: 't0', source: 'person', score: 1, at: 1 });
    expect(calibration.status()).toMatchObject({ turns: 20, agreed: 1 });
  });

  it('keeps a judge off until another model is tested, which begins without the comparisons of the one before', () => {
    const calibration = createCalibration();
    const test = (model: string, at: number): void =>
      calibration.test({
        seq: at,
        at,
        fact: {
          type: 'judge-tested',
          model,
          set: 's',
          right: 16,
          praised: 0,
          blamed: 0,
          unclear: 0,
          isPassed: true,
        },
      });
    test('local/small', 1);
    hearPairs(calibration, 2, 30);
    test('local/small', 50);
    expect(calibration.status()).toMatchObject({ turns: 30, isTrusted: false });
    test('local/large', 60);
    expect(calibration.status()).toMatchObject({ turns: 0, isTrusted: true });
    calibration.hear({ turn: 'new', source: 'judge', score: 1, at: 61 });
    calibration.hear({ turn: 'new', source: 'check', score: 1, at: 61 });
    expect(calibration.status()).toMatchObject({ turns: 1, agreed: 1 });
  });
});
