import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StageRecord } from '../../../lab/suites/pipeline/pipeline-journal.ts';
import { pipelineFigures } from '../../../lab/suites/pipeline/pipeline-metrics.ts';
import { robustnessOf } from '../../../src/pipeline/pipeline-figures.ts';

const record = (more: Partial<StageRecord> = {}): StageRecord => ({
  stage: 'any',
  kind: 'model',
  isScorable: true,
  status: 'completed',
  attempts: 1,
  refines: 0,
  broken: [],
  reasons: [],
  lessons: [],
  inputTokens: 0,
  outputTokens: 0,
  ms: 0,
  ...more,
});
const many = (count: number, more: Partial<StageRecord> = {}): readonly StageRecord[] =>
  Array.from({ length: count }, () => record(more));

describe('the figures of a run', () => {
  it('are perfect for 19 stages done at once', () => {
    const figures = pipelineFigures({ stages: [...many(19), ...many(4, { isScorable: false })] });
    expect(figures).toEqual({
      stages: 19,
      begun: 19,
      completed: 19,
      completion: 1,
      atOnce: 1,
      retryRate: 0,
      refinesPerStage: 0,
      robustness: 1,
    });
  });

  it('equal a calculation by hand', () => {
    const stages = [
      ...many(14),
      record({ attempts: 2, refines: 3 }),
      record({ refines: 2 }),
      record({ status: 'failed', attempts: 2, refines: 4 }),
      ...many(2, { status: 'blocked', attempts: 0 }),
      ...many(4, { isScorable: false, attempts: 9, refines: 9 }),
    ];
    const figures = pipelineFigures({ stages });
    expect(figures).toMatchObject({ stages: 19, begun: 17, completed: 16 });
    expect(figures.completion).toBeCloseTo(16 / 19, 12);
    expect(figures.atOnce).toBeCloseTo(14 / 19, 12);
    expect(figures.retryRate).toBeCloseTo(2 / 17, 12);
    expect(figures.refinesPerStage).toBeCloseTo(9 / 17, 12);
    expect(figures.robustness).toBeCloseTo(0.4 * (16 / 19) + 0.3 * (15 / 17) + 0.3 * (1 - 9 / 17 / 2.63), 12);
  });

  it('are 0 for a run that never got past its first stage (no credit for the stages it never reached)', () => {
    const stages = [
      record({ status: 'failed', attempts: 2, refines: 4 }),
      ...many(18, { status: 'blocked', attempts: 0 }),
    ];
    expect(pipelineFigures({ stages })).toMatchObject({
      begun: 1,
      completion: 0,
      retryRate: 1,
      refinesPerStage: 4,
      robustness: 0,
    });
  });

  it('do not count a stage as retried that only an outage interrupted', () => {
    expect(pipelineFigures({ stages: [record({ attempts: 1 })] }).retryRate).toBe(0);
    const cut = pipelineFigures({ stages: many(3, { status: 'interrupted', attempts: 0 }) });
    expect(cut).toMatchObject({ begun: 0, completion: 0, robustness: 0 });
  });

  it("come within 0.006 of the source's 0.714 and 0.845", () => {
    const before = robustnessOf({ completion: 18 / 19, retryRate: 0.105, refinesPerStage: 2.0 });
    const after = robustnessOf({ completion: 1, retryRate: 0.079, refinesPerStage: 1.2 });
    expect(Math.abs(before - 0.714)).toBeLessThan(0.006);
    expect(Math.abs(after - 0.845)).toBeLessThan(0.006);
  });

  it('are between 0 and 1 and never improve with another retry, refine cycle or failure', () => {
    const status = fc.constantFrom('completed' as const, 'failed' as const, 'blocked' as const);
    const stage = fc.record({
      status,
      attempts: fc.integer({ min: 1, max: 4 }),
      refines: fc.integer({ min: 0, max: 4 }),
    });
    const stages = fc
      .array(stage, { minLength: 1, maxLength: 19 })
      .map((list) =>
        list.map((one) => record(one.status === 'blocked' ? { ...one, attempts: 0, refines: 0 } : one)),
      );
    let worse = 0;
    fc.assert(
      fc.property(stages, fc.nat(), (list, at) => {
        const figures = pipelineFigures({ stages: list });
        for (const share of [figures.completion, figures.retryRate, figures.robustness]) {
          expect(share).toBeGreaterThanOrEqual(0);
          expect(share).toBeLessThanOrEqual(1 + 1e-12);
        }
        const nth = at % list.length;
        const one = list[nth];
        if (one === undefined || one.attempts === 0) return;
        for (const change of [
          { attempts: one.attempts + 1 },
          { refines: one.refines + 1 },
          { status: 'failed' as const },
        ]) {
          const changed = pipelineFigures({ stages: list.with(nth, { ...one, ...change }) });
          expect(changed.robustness).toBeLessThanOrEqual(figures.robustness + 1e-12);
          if (changed.robustness < figures.robustness) worse++;
        }
      }),
      { numRuns: 1000 },
    );
    expect(worse).toBeGreaterThan(50);
  });
});
