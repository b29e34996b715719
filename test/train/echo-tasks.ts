import { hash } from 'node:crypto';
import type { TrainingEngine } from '../../src/core/training.ts';
import type { Rollout } from '../../train/rollout.ts';
import type { MakeRollouts } from '../../train/training-run.ts';

/** Tasks for a table: after token `shown`, say its two right answers in order. */
export interface EchoTask {
  readonly id: string;
  readonly shown: number;
  readonly wanted: readonly number[];
}

export const VOCABULARY = 6;

export const echoTasks: readonly EchoTask[] = Array.from({ length: VOCABULARY }, (_, shown) => ({
  id: `echo-${shown}`,
  shown,
  wanted: [(shown + 2) % VOCABULARY, (shown * 5 + 1) % VOCABULARY],
}));

const numberOf = (seed: string): number => hash('sha256', seed, 'buffer').readUInt32BE(0);

/** Attempts by the weights that are named, sampled by the engine; a right answer at each place is half of the reward. */
export const rollOutEcho =
  (engine: TrainingEngine, generation: () => number): MakeRollouts<EchoTask> =>
  async (policy, task, count, { seed, signal }) => {
    const stamp = { policy: policy.version, generation: generation() };
    const sampler = await engine.openSampler(policy.sampler);
    const prompt = [task.shown, task.shown];
    const sampled = await sampler.sample(
      { prompt, count, maxTokens: task.wanted.length, temperature: 1, stop: [], seed: numberOf(seed) },
      signal,
    );
    return sampled.map(({ tokens, logprobs }, at): Rollout => {
      const right = tokens.filter((token, place) => token === task.wanted[place]).length;
      return {
        id: `${seed}/${at}`,
        task: task.id,
        segments: [
          { kind: 'prompt', ids: prompt, ...stamp },
          { kind: 'reply', ids: tokens, logprobs, ...stamp },
        ],
        reward: right / task.wanted.length,
        rewardSource: 'verifier',
        isComplete: right === task.wanted.length,
      };
    });
  };
