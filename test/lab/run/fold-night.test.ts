import { describe, expect, it } from 'vitest';
import {
  EMPTY_NIGHT,
  foldNight,
  type NightInProgress,
  nightSteps,
} from '../../../lab/suites/training-night.ts';
import type { RunCheckpoint } from '../../../train/run-journal.ts';
import type { StepReport } from '../../../train/step-metrics.ts';
import type { TrainingEvent } from '../../../train/training-window.ts';

const checkpoint = (version: number): RunCheckpoint => ({
  version,
  state: `s${version}`,
  sampler: `w${version}`,
});
const report = (completion: number): StepReport => ({
  ...{ groups: 8, constantGroups: 0, rollouts: 64, live: 0, data: 64, overlong: 0, updates: 1 },
  ...{ learningRate: 1e-3, warnings: [] },
  seen: { generation: 1, version: 0, reward: completion / 2, completion },
});
const trained = (batch: string, completion: number): TrainingEvent => ({
  ...{ type: 'step-trained', batch, checkpoint: checkpoint(1), report: report(completion) },
  took: { sampling: 1, training: 1, attempts: 16 },
});
const moved = (to: 'candidate' | 'canary' | 'live' | 'rejected', why: string): TrainingEvent => ({
  type: 'moved',
  moved: { type: 'checkpoint-moved', version: 6, from: undefined, to, by: 'measurement', why },
});
const fold = (...news: readonly TrainingEvent[]): NightInProgress => news.reduce(foldNight, EMPTY_NIGHT);

describe('foldNight', () => {
  it('keeps the completion of the first and the last step, and counts the steps that changed weights', () => {
    const { night } = fold(
      trained('b0', 0.25),
      { type: 'step-idle', batch: 'b1', report: report(0.5) },
      trained('b2', 0.75),
    );
    expect(night).toEqual({
      ...{ steps: 2, pairs: 0, moves: [], attempts: 192, tokens: 0 },
      first: { reward: 0.125, completion: 0.25 },
      last: { reward: 0.375, completion: 0.75 },
    });
  });

  it('gives the measurement (not the disabled canary) as the reason why weights serve', () => {
    const weighed = { type: 'pair-weighed', pairs: 40, candidate: 38, live: 23 } as const;
    const { night } = fold(
      moved('candidate', 'proposed'),
      weighed,
      moved('canary', 'at least 16.1 points on 40 held-out tasks'),
      moved('live', 'the canary stage is switched off'),
    );
    expect(night).toMatchObject({ pairs: 40, candidate: 0.95, live: 0.575 });
    expect(night.moves).toEqual(['version 6 live: at least 16.1 points on 40 held-out tasks']);
    expect(fold(moved('candidate', 'proposed'), moved('rejected', 'worse')).night.moves).toEqual([
      'version 6 rejected: worse',
    ]);
  });

  it('counts a batch once however it ended, so that progress reaches 100 %', () => {
    const open = fold(
      trained('b0', 0.25),
      { type: 'step-refused', batch: 'b1', refusal: { refused: 'stale-policy', why: 'old' } },
      { type: 'step-failed', batch: 'b2', why: 'the engine was away' },
      { type: 'rolled-back', batch: 'b2', to: checkpoint(3), rate: 1e-4 },
      { type: 'stuck', why: 'no progress', isRetryable: false, checkpoint: undefined },
    );
    expect(nightSteps(open, 5)).toEqual({ step: 3, steps: 5, pairs: 0 });
    expect(open.night.moves).toEqual(['rewards fell: rolled back to version 3', 'stuck: no progress']);
  });
});
