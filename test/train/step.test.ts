import { beforeEach, describe, expect, it } from 'vitest';
import {
  type StepOutput,
  type TrainingEngine,
  TrainingError,
  type TrainingModel,
} from '../../src/core/training.ts';
import { DEFAULT_GUARD } from '../../train/reward-guard.ts';
import type { BatchRefusalName, Group, Rollout } from '../../train/rollout.ts';
import { createMemoryJournal, openRunLog, type RunJournal, type RunLog } from '../../train/run-journal.ts';
import {
  DEFAULT_STEP,
  type StepSettings,
  type TrainStepEnd,
  type TrainStepInput,
  trainStep,
} from '../../train/step.ts';
import { attempt, groupFrom } from './attempts.ts';
import { echoTasks, rollOutEcho, VOCABULARY } from './echo-tasks.ts';
import { createServer, createTabularEngine, type TabularServer } from './tabular-engine.ts';

let server: TabularServer;
let engine: TrainingEngine;
let model: TrainingModel;
let journal: RunJournal;
let log: RunLog;

beforeEach(async () => {
  server = createServer({ vocabulary: VOCABULARY });
  engine = createTabularEngine(server);
  model = await engine.createModel({ rank: 1 });
  journal = createMemoryJournal();
  log = await openRunLog(journal, DEFAULT_GUARD);
  const state = await model.saveState('start');
  const sampler = await model.saveForSampler('start');
  await log.append({ type: 'run-begun', checkpoint: { version: 0, state, sampler } });
});

async function sampled(seed: string, generation = 0): Promise<readonly Group[]> {
  const last = log.run.lineage.at(-1);
  const roll = rollOutEcho(engine, () => generation);
  const signal = new AbortController().signal;
  return Promise.all(
    echoTasks.map(async (task) => {
      const policy = { version: last?.version ?? 0, sampler: last?.sampler ?? '' };
      return groupFrom(await roll(policy, task, 16, { seed: `${seed}/${task.id}`, signal }));
    }),
  );
}

const step = (
  groups: readonly Group[],
  more: Partial<Omit<TrainStepInput, 'settings'>> & { settings?: Partial<StepSettings> } = {},
): Promise<TrainStepEnd> =>
  trainStep({
    batch: { id: 'run/0', groups },
    model,
    profile: engine.profile,
    log,
    generation: 0,
    learningRate: 0.05,
    signal: new AbortController().signal,
    ...more,
    settings: { ...DEFAULT_STEP, length: { tokens: 2 }, ...more.settings },
  });

const weightsOf = (): readonly number[] => [...(server.models.get(model.id)?.logits ?? [])];

describe('a step', () => {
  it('trains on groups and saves a checkpoint: sampler and trainer agree to the bit', async () => {
    const before = weightsOf();
    const end = await step(await sampled('a'));
    if (end.end !== 'trained') throw new Error(`it ${end.end}`);
    expect(end.checkpoint.version).toBe(1);
    expect(server.saved.has(end.checkpoint.state) && server.saved.has(end.checkpoint.sampler)).toBe(true);
    expect(weightsOf()).not.toEqual(before);
    const { start, gradNorm, ...report } = end.report;
    expect(start).toMatchObject({ k1: 0, k2: 0, meanRatio: 1, clipShare: 0 });
    expect(start?.entropy).toBeCloseTo(Math.log(VOCABULARY), 10);
    expect(start?.tokens).toBe(2 * report.rollouts);
    expect(gradNorm).toBeGreaterThan(0);
    expect(report).toMatchObject({ groups: 6, updates: 1, live: 0, overlong: 0, warnings: [] });
    expect(report.rollouts + 16 * report.constantGroups).toBe(96);
    expect(log.run.lineage.map(({ version }) => version)).toEqual([0, 1]);
  });

  it('submits the optimizer step before it awaits the gradient', async () => {
    const order: string[] = [];
    const watched: TrainingModel = {
      ...model,
      forwardBackward: (input, signal) => {
        order.push('forwardBackward');
        const { done } = model.forwardBackward(input, signal);
        return { done: done.finally(() => order.push('gradient heard of')) };
      },
      optimStep: (adam, signal) => {
        order.push('optimStep');
        return model.optimStep(adam, signal);
      },
    };
    expect(await step(await sampled('a'), { model: watched })).toMatchObject({ end: 'trained' });
    expect(order).toEqual(['forwardBackward', 'optimStep', 'gradient heard of']);
  });

  it('makes one update per minibatch and epoch with ppo, and reports how far the weights moved', async () => {
    const end = await step(await sampled('a'), { settings: { loss: 'ppo', epochs: 3, minibatches: 2 } });
    if (end.end !== 'trained') throw new Error(`it ${end.end}`);
    expect(end.report.updates).toBe(6);
    expect(server.optimSteps).toBe(6);
    expect(end.report.start?.k2).toBe(0);
    expect(end.report.end?.k2).toBeGreaterThan(1e-5);
    expect(end.report.end?.tokens).toBe(2 * end.report.rollouts);
  });

  it.each(['importance_sampling', 'ppo'] as const)(
    'reports the loss of %s that its updates descended: the one that the engine computes',
    async (loss) => {
      const told: number[] = [];
      const watched: TrainingModel = {
        ...model,
        forwardBackward: (input, signal) => {
          const { done } = model.forwardBackward(input, signal);
          void done.then(({ metrics }) => told.push(metrics['loss:sum'] ?? Number.NaN));
          return { done };
        },
      };
      const end = await step(await sampled('a'), {
        model: watched,
        settings: { loss, epochs: 3, minibatches: 2 },
      });
      if (end.end !== 'trained') throw new Error(`it ${end.end}`);
      expect(told).toHaveLength(loss === 'ppo' ? 6 : 1);
      expect(end.report.loss).toBeCloseTo(told.reduce((sum, one) => sum + one, 0) / told.length, 10);
      if (loss === 'ppo') expect(end.report.loss).toBeLessThan(-1e-4);
    },
  );

  it('does not call the optimizer when all advantages are zero (its momentum would move the weights)', async () => {
    const groups = (await sampled('a')).map((group) => ({
      ...group,
      rollouts: group.rollouts.map((rollout) => ({ ...rollout, reward: 1 })),
    }));
    expect(await step(groups)).toMatchObject({ end: 'idle', report: { constantGroups: 6, rollouts: 0 } });
    expect(server.optimSteps).toBe(0);
    expect(log.run.closed.has('run/0')).toBe(true);
  });

  it('skips a minibatch without advantages, too', async () => {
    const [group] = await sampled('a');
    const rewards = [1, 0.5, 0.5, 0];
    const rollouts = (group?.rollouts ?? [])
      .slice(0, 4)
      .map((each, at) => ({ ...each, reward: rewards[at] ?? 0 }));
    const settings = { loss: 'ppo', epochs: 3, minibatches: 4, size: 4 } as const;
    const end = await step([groupFrom(rollouts)], { settings });
    expect(end).toMatchObject({ end: 'trained', report: { updates: 6 } });
    expect(server.optimSteps).toBe(6);
  });

  it('uses live turns only where given, and reports their number', async () => {
    const live = ['a', 'b', 'c'].map((id, at) => ({
      advantage: at - 1,
      rollout: attempt(id, { reward: at }),
    }));
    const end = await step(await sampled('a'), { batch: { id: 'run/0', groups: await sampled('a'), live } });
    expect(end).toMatchObject({ end: 'trained', report: { live: 3 } });
  });

  it('is done once: repeating the batch changes nothing, also from a second process', async () => {
    const groups = await sampled('a');
    await step(groups);
    const after = weightsOf();
    expect(await step(groups)).toEqual({ end: 'known' });
    const other = await openRunLog(journal, DEFAULT_GUARD);
    expect(await step(groups, { log: other })).toEqual({ end: 'known' });
    expect(weightsOf()).toEqual(after);
    expect(server.optimSteps).toBe(1);
  });

  it('is lost by a process that another has overtaken: only one of two takes effect', async () => {
    const groups = await sampled('a');
    const late = await openRunLog(journal, DEFAULT_GUARD);
    await step(groups);
    await expect(step(groups, { log: late })).rejects.toThrow('already exists');
    expect((await openRunLog(journal, DEFAULT_GUARD)).run.lineage).toHaveLength(2);
  });
});

describe('a batch is refused by name with unchanged weights when', () => {
  const pair = (more: Parameters<typeof attempt>[1]): Group =>
    groupFrom([attempt('p', { ...more, reward: 1 }), attempt('q', more)]);

  const refused: readonly (readonly [string, () => Promise<readonly Group[]>, BatchRefusalName])[] = [
    ['it is of another generation', () => sampled('a', 3), 'other-generation'],
    [
      'one group of it is',
      async () => [...(await sampled('a')), pair({ generation: 1 })],
      'other-generation',
    ],
    ['it is smaller than a batch', async () => [pair({})], 'too-few'],
    [
      'weights that are not an ancestor sampled it',
      async () => [...(await sampled('a')), pair({ policy: 9 })],
      'stale-policy',
    ],
    ['an attempt occurs twice', async () => [...(await sampled('a')), pair({}), pair({})], 'trained-before'],
    [
      'a group is invalid',
      async () => (await sampled('a')).map((group) => ({ ...group, task: 'something else' })),
      'mixed-task',
    ],
  ];
  it.each(refused)('%s', async (_, groups, name) => {
    const before = weightsOf();
    expect(await step(await groups())).toMatchObject({ end: 'refused', refusal: { refused: name } });
    expect(weightsOf()).toEqual(before);
    expect(server.optimSteps).toBe(0);
    expect(log.run.lineage).toHaveLength(1);
  });

  it('the engine lacks the loss', async () => {
    const profile = { ...engine.profile, losses: ['cross_entropy'] as const };
    expect(await step(await sampled('a'), { profile })).toMatchObject({
      refusal: { refused: 'unknown-loss' },
    });
    expect(server.optimSteps).toBe(0);
  });

  it('it was trained on before under another name', async () => {
    const groups = await sampled('a');
    await step(groups);
    expect(await step(groups, { batch: { id: 'run/1', groups } })).toMatchObject({
      refusal: { refused: 'trained-before' },
    });
    expect(server.optimSteps).toBe(1);
  });

  it('its policy is more updates old than allowed', async () => {
    const old = await sampled('old');
    for (let at = 0; at < 3; at++) {
      const groups = await sampled(`new-${at}`);
      expect(await step(groups, { batch: { id: `run/${at}`, groups } })).toMatchObject({ end: 'trained' });
    }
    const batch = { id: 'run/old', groups: old };
    expect(await step(old, { batch, settings: { mostStale: 2 } })).toMatchObject({
      refusal: { refused: 'stale-policy' },
    });
    const again = { id: 'run/old-2', groups: old };
    expect(await step(old, { batch: again, settings: { mostStale: 3 } })).toMatchObject({ end: 'trained' });
  });

  it('sampler and trainer diverge: no checkpoint, and a warning at a lower bound', async () => {
    const shift = (groups: readonly Group[], by: number): readonly Group[] =>
      groups.map((group) => ({
        ...group,
        rollouts: group.rollouts.map(
          (rollout): Rollout => ({
            ...rollout,
            segments: rollout.segments.map((segment) =>
              segment.kind === 'reply'
                ? { ...segment, logprobs: segment.logprobs.map((value) => value + by) }
                : segment,
            ),
          }),
        ),
      }));
    const groups = await sampled('a');
    const off = await step(groups, { batch: { id: 'off', groups: shift(groups, 0.5) } });
    expect(off).toMatchObject({ end: 'refused', refusal: { refused: 'diverged' } });
    expect(log.run.lineage).toHaveLength(1);
    model = await engine.openModel(log.run.lineage[0]?.state ?? '');
    const near = await step(groups, { model, batch: { id: 'near', groups: shift(groups, 0.02) } });
    expect(near).toMatchObject({ end: 'trained', report: { warnings: [expect.stringContaining('KL')] } });
  });

  it('its own updates moved it too far from the sampling weights', async () => {
    const settings = { loss: 'ppo', epochs: 4, kl: { ...DEFAULT_STEP.kl, drift: 0.05 } } as const;
    const end = await step(await sampled('a'), { learningRate: 2, settings });
    expect(end).toMatchObject({ end: 'refused', refusal: { refused: 'diverged' } });
    expect(server.optimSteps).toBe(8);
    expect(log.run.lineage).toHaveLength(1);
  });

  const broken: readonly (readonly [string, (output: StepOutput) => StepOutput])[] = [
    ['a loss', (output) => ({ ...output, metrics: { 'loss:sum': Number.NaN } })],
    [
      'a log-prob',
      ({ logprobs, ...output }) => ({
        ...output,
        logprobs: logprobs.map((row) => row.map(() => Number.NEGATIVE_INFINITY)),
      }),
    ],
    [
      'nothing at all for a sequence',
      ({ logprobs, ...output }) => ({ ...output, logprobs: logprobs.slice(1) }),
    ],
  ];
  it.each(broken)('the engine returned %s that is not finite', async (_, breakIt) => {
    const faulty: TrainingModel = {
      ...model,
      forwardBackward: (input, signal) => ({ done: model.forwardBackward(input, signal).done.then(breakIt) }),
    };
    const end = await step(await sampled('a'), { model: faulty });
    expect(end).toMatchObject({ end: 'refused', refusal: { refused: 'not-finite' } });
    expect(log.run.lineage).toHaveLength(1);
    expect(server.saved.size).toBe(2);
  });

  it('the gradient norm is not finite', async () => {
    const faulty: TrainingModel = {
      ...model,
      optimStep: (adam, signal) => ({
        done: model.optimStep(adam, signal).done.then(() => ({ grad_norm: Number.POSITIVE_INFINITY })),
      }),
    };
    expect(await step(await sampled('a'), { model: faulty })).toMatchObject({
      refusal: { refused: 'not-finite' },
    });
  });
});

describe('an engine failure', () => {
  const failing = (
    name: 'forwardBackward' | 'optimStep',
    category: TrainingError['category'],
  ): TrainingModel => ({
    ...model,
    [name]: () => ({ done: Promise.reject(new TrainingError(category, `no ${name}`)) }),
  });

  it.each(['forwardBackward', 'optimStep'] as const)(
    'in %s is reported: no checkpoint, the batch stays open',
    async (name) => {
      const groups = await sampled('a');
      expect(await step(groups, { model: failing(name, 'server') })).toEqual({
        end: 'failed',
        why: `no ${name}`,
        isRetryable: true,
      });
      expect(log.run.lineage).toHaveLength(1);
      expect(log.run.closed.size).toBe(0);
      model = await engine.openModel(log.run.lineage[0]?.state ?? '');
      expect(await step(groups)).toMatchObject({ end: 'trained' });
      expect(log.run.lineage).toHaveLength(2);
    },
  );

  it('that is the caller’s fault is not retryable', async () => {
    expect(await step(await sampled('a'), { model: failing('optimStep', 'user') })).toMatchObject({
      isRetryable: false,
    });
  });

  it('that is silence does not delay an abort', async () => {
    const away = new AbortController();
    const silent: TrainingModel = { ...model, optimStep: () => ({ done: new Promise(() => undefined) }) };
    const ended = step(await sampled('a'), { model: silent, signal: away.signal });
    setImmediate(() => away.abort());
    expect(await ended).toEqual({ end: 'paused' });
    expect(log.run.closed.size).toBe(0);
  });
});
