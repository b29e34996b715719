import { describe, expect, it } from 'vitest';
import { createTrainingBuffer } from '../../src/evidence/training-buffer.ts';
import { createLearningState } from '../../src/learn/learning-state.ts';
import type { PromotionStage } from '../../train/promotion-stages.ts';
import { beginTrainingCycle } from '../../train/training-job.ts';
import type { TrainingEvent } from '../../train/training-window.ts';

let now = 0;
const clock = { now: () => 5_000.4, monotonic: () => now };
const moved = (version: number, to: PromotionStage): TrainingEvent => ({
  type: 'moved',
  moved: { type: 'checkpoint-moved', version, from: undefined, to, by: 'measurement', why: `so ${to}` },
});
const stuck: TrainingEvent = {
  type: 'stuck',
  why: 'rewards keep falling',
  isRetryable: false,
  checkpoint: undefined,
};

function endOf(news: readonly TrainingEvent[], isAborted = false) {
  now = 0;
  const cycle = beginTrainingCycle('nano', clock);
  news.forEach(cycle.hear);
  now = 1_234.5;
  return cycle.end(7, isAborted);
}

describe('the cycle-end of a training window', () => {
  it.each<readonly [string, string, readonly TrainingEvent[], boolean]>([
    ['published', 'weights are served to some', [moved(3, 'candidate'), moved(3, 'canary')], false],
    ['published', 'weights serve', [moved(3, 'live')], false],
    ['published', 'it was stopped after that', [moved(3, 'canary')], true],
    ['refused', 'they were held to be no better', [moved(3, 'candidate'), moved(3, 'rejected')], false],
    ['nothing', 'they are not measured yet', [moved(3, 'candidate')], false],
    ['nothing', 'nothing was said', [], false],
    ['stuck', 'the trainer gave up', [stuck], false],
    ['aborted', 'someone came back', [], true],
  ])('is %s where %s', (outcome, _, news, isAborted) => {
    expect(endOf(news, isAborted).outcome).toBe(outcome);
  });

  it('names the weights and the reason, and costs nothing', () => {
    expect(endOf([moved(3, 'candidate'), moved(3, 'rejected'), stuck])).toEqual({
      type: 'cycle-end',
      cycle: 'trainer/nano/5000',
      learner: 'trainer',
      outcome: 'refused',
      items: [],
      turns: [],
      judgements: [{ lesson: 'nano@3', name: 'version 3', outcome: 'refused', why: ['so rejected'] }],
      generation: 7,
      cost: { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
      tookMs: 1235,
      note: 'rewards keep falling',
    });
  });

  it('is counted as a cycle without affecting waiting failures or samples', () => {
    const buffer = createTrainingBuffer({ cap: 8 });
    const state = createLearningState([buffer]);
    const add = (seq: number, fact: Parameters<typeof state.add>[0]['fact']) =>
      state.add({ seq, at: 1, fact });
    add(1, { type: 'learning-queued', item: 'i', learner: 'live', session: 's', turns: ['t'] });
    add(2, {
      type: 'turn-appraised',
      turn: 't',
      session: 's',
      scope: {},
      generation: 0,
      verdict: 'success',
      reward: 1,
      source: 'person',
      signals: [{ name: 'n', source: 'person', score: 1, weight: 1, reason: 'r' }],
      digests: [],
    });
    const before = { queue: [...state.queue], samples: buffer.samples() };
    expect(before.samples).toHaveLength(1);
    add(3, endOf([moved(3, 'canary')]));
    expect(state.totals).toMatchObject({ cycles: 1, published: 1 });
    expect({
      queue: [...state.queue],
      samples: buffer.samples(),
    }).toEqual(before);
  });
});
