import { describe, expect, it } from 'vitest';
import { modelTuning, TRAIN_AMOUNTS, windowSize } from '../../train/window-size.ts';

const attemptsOf = (isEmbedded: boolean) =>
  TRAIN_AMOUNTS.map((amount) => {
    const { steps, groups, attempts } = windowSize(amount, isEmbedded);
    return steps * groups * attempts;
  });

describe('how much a window trains', () => {
  it('asks for more attempts of a server than of the embedded policy, and the more the longer', () => {
    expect(attemptsOf(false)).toEqual([1_280, 10_240, 76_800]);
    expect(attemptsOf(true)).toEqual([160, 320, 2_560]);
  });

  it('follows the size that the name of a model tells, and takes care with a name that tells none', () => {
    const [small, large, unnamed, nano] = [
      modelTuning('Qwen/Qwen2.5-1.5B-Instruct', false),
      modelTuning('meta-llama/Llama-3.1-8B', false),
      modelTuning('somebody/new-model', false),
      modelTuning('instar-nano', true),
    ];
    expect(large).toEqual(unnamed);
    expect(small.learningRate).toBeGreaterThan(large.learningRate ?? 1);
    expect([small.rank, large.rank, nano.rank]).toEqual([32, 32, 8]);
  });
});
