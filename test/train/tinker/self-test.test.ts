import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { LossKind } from '../../../src/core/training.ts';
import type { BatchResult, Engine, TrainBatch } from '../../../train/nano/engine.ts';
import { startTinkerServer } from '../../../train/nano/server/start-tinker-server.ts';
import { connectTinker } from '../../../train/tinker/connect-tinker.ts';
import type { SelfTestReport } from '../../../train/tinker/self-test.ts';
import { createEngine } from '../../support/one-thread-engine.ts';
import { SMALL, smallWeights } from '../nano/engine/small-model.ts';

const ALL: readonly LossKind[] = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'];

/** Connects to a server over the real embedded engine, or over one that lies as `twist` says. */
async function report(
  twist: (engine: Engine) => Partial<Engine>,
  losses = ALL,
): Promise<SelfTestReport | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'instar-liar-'));
  const honest = createEngine({ weights: smallWeights(), shape: SMALL, name: 'small' });
  const server = await startTinkerServer({
    engine: { ...honest, ...twist(honest) },
    folder,
    port: 0,
    key: 'tml-test',
  });
  try {
    const engine = await connectTinker({
      url: server.url,
      key: 'tml-test',
      baseModel: 'small',
      profile: 'nano',
      losses,
      fetch,
      clock: systemClock,
      random: createRandom('liar'),
    });
    await engine.close();
    return engine.selfTest;
  } finally {
    await server.close();
    await honest.close();
    await rm(folder, { recursive: true });
  }
}

const mapped =
  (change: (batch: TrainBatch) => TrainBatch) =>
  (engine: Engine): Partial<Engine> => ({
    forward: (name, batch) => engine.forward(name, change(batch)),
    forwardBackward: (name, batch) => engine.forwardBackward(name, change(batch)),
  });
const answered =
  (change: (result: BatchResult, batch: TrainBatch) => BatchResult) =>
  (engine: Engine): Partial<Engine> => ({
    forward: async (name, batch) => change(await engine.forward(name, batch), batch),
    forwardBackward: async (name, batch) => change(await engine.forwardBackward(name, batch), batch),
  });
const withoutMetrics = (result: BatchResult): BatchResult => ({ ...result, metrics: {} });
const asLoss =
  (loss: LossKind) =>
  (batch: TrainBatch): TrainBatch => ({
    ...batch,
    loss,
    data: batch.data.map((one) =>
      loss === 'cross_entropy' && batch.loss !== loss ? { tokens: one.tokens, targets: one.targets } : one,
    ),
  });

describe('the self-test at connect', () => {
  it('passes for the embedded engine, with sampler and trainer equal within float32', async () => {
    const passed = await report(() => ({}));
    expect(passed?.tokens).toBeGreaterThan(20);
    expect(passed?.maxDifference).toBeLessThan(1e-3);
    expect(passed?.kl).toBeLessThan(1e-6);
    expect(passed?.gradientNorm).toBe(0);
    expect(passed?.drift).toBe(0);
    expect(Object.keys(passed?.losses ?? {})).toEqual(ALL);
  });

  const LIARS: readonly (readonly [
    string,
    (engine: Engine) => Partial<Engine>,
    readonly LossKind[],
    RegExp,
  ])[] = [
    [
      'computes cross-entropy for every loss',
      mapped(asLoss('cross_entropy')),
      ['ppo'],
      /ppo has the loss .* instead of 0: the server computes another loss/,
    ],
    [
      'computes cross-entropy for every loss and does not report the loss',
      (engine) => ({
        ...mapped(asLoss('cross_entropy'))({ ...engine, ...answered(withoutMetrics)(engine) }),
        optimStep: async (...given) => {
          await engine.optimStep(...given);
          return {};
        },
      }),
      ['importance_sampling'],
      /a step with no advantage anywhere moved log-probabilities/,
    ],
    [
      'computes importance sampling for ppo',
      mapped((batch) => (batch.loss === 'ppo' ? asLoss('importance_sampling')(batch) : batch)),
      ['ppo'],
      /ppo should be .* which is what importance_sampling gives/,
    ],
    [
      'computes ppo for importance sampling',
      mapped((batch) => (batch.loss === 'importance_sampling' ? asLoss('ppo')(batch) : batch)),
      ['importance_sampling'],
      /which is what ppo gives/,
    ],
    [
      'computes ppo for cispo',
      mapped((batch) => (batch.loss === 'cispo' ? asLoss('ppo')(batch) : batch)),
      ['cispo'],
      /which is what ppo gives/,
    ],
    [
      'averages where it should sum',
      answered((result, { data }) => ({
        ...result,
        metrics: {
          'loss:sum':
            (result.metrics['loss:sum'] ?? 0) / data.reduce((sum, { tokens }) => sum + tokens.length - 7, 0),
        },
      })),
      ['importance_sampling'],
      /averaged over each sequence/,
    ],
    [
      'samples at another temperature than requested',
      (engine) => ({
        sample: async (weights, request, signal) => {
          const result = await engine.sample(weights, request, signal);
          return {
            ...result,
            sequences: result.sequences.map((one) => ({
              ...one,
              logprobs: one.logprobs.map((p) => p * 0.7),
            })),
          };
        },
      }),
      ['ppo'],
      /not the same model: over \d+ sampled tokens/,
    ],
    [
      'answers with NaN',
      answered((result) => ({
        ...result,
        logprobs: result.logprobs.map((row) => row.map(() => Number.NaN)),
      })),
      ['ppo'],
      /not the same model/,
    ],
    [
      'has a gradient where there should be none',
      (engine) => ({
        optimStep: async (...given) => ({ ...(await engine.optimStep(...given)), 'grad_norm:mean': 0.5 }),
      }),
      ['ppo'],
      /gradient has the norm 0.5 instead of 0/,
    ],
  ];
  let found = 0;
  it.each(LIARS)('detects a server that %s', async (_, twist, losses, message) => {
    await expect(report(twist, losses)).rejects.toMatchObject({
      name: 'TrainingError',
      category: 'server',
      message: expect.stringMatching(message),
    });
    found++;
  });

  it('detected all of them', () => {
    expect(found).toBe(9);
  });
});
