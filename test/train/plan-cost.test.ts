import { describe, expect, it } from 'vitest';
import { estimateWindow, TRAIN_STAGES } from '../../train/plan-cost.ts';

const TASKS = Array.from({ length: 100 }, () => ({ tokens: { prompt: 400, reply: 100 } }));
const estimate = (
  stage: (typeof TRAIN_STAGES)[number],
  more: Partial<Parameters<typeof estimateWindow>[0]> = {},
) =>
  estimateWindow({
    stage,
    amount: 'night',
    size: { steps: 20, groups: 64, attempts: 8 },
    tasks: TASKS,
    heldOut: 100,
    lessonTokens: 100,
    price: { prefill: 0.1, sample: 0.3, train: 0.3 },
    ...more,
  });

describe('what a window takes, before it runs', () => {
  it('is counted from the sizes, the person’s own requests with their lessons, and the gate', () => {
    const gate = { own: 2 * 100 * 8, questions: 2 * 401 };
    const compared = 20 * 64 * 8;
    const { attempts, tokens, usd } = estimate('tasks');
    expect(attempts).toBe(compared + gate.own + gate.questions);
    const own = compared + gate.own;
    expect(tokens).toBe(own * 600 + gate.questions * 170 + compared * 600);
    const millions = (own * 500 + gate.questions * 110) * 0.1 + (own * 100 + gate.questions * 60) * 0.3;
    expect(usd).toBeCloseTo((millions + compared * 600 * 0.3) / 1_000_000, 6);
  });

  it('costs nothing where the engine is free, and has no sum where the price is unknown', () => {
    for (const stage of TRAIN_STAGES) {
      expect(estimate(stage, { price: { prefill: 0, sample: 0, train: 0 } })).toMatchObject({ usd: 0 });
      expect(estimate(stage, { price: undefined })).not.toHaveProperty('usd');
    }
  });

  it('of remembering is by the setting for how much, and small beside a night of comparing', () => {
    const attempts = (amount: 'light' | 'long') => Number(estimate('remember', { amount }).attempts);
    expect(attempts('long') - attempts('light')).toBe(4 * 1_500);
    expect(Number(estimate('remember').tokens)).toBeLessThan(Number(estimate('tasks').tokens));
  });
});
