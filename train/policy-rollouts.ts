import { setMaxListeners } from 'node:events';
import { createRandom } from '../src/base/random.ts';
import type { GatewayClient } from '../src/core/gateway-client.ts';
import type { PlacedLessons } from '../src/core/lesson.ts';
import type { AttemptResult, TaskAttempt, TaskRecall, TrainingTask } from '../src/core/task-source.ts';
import {
  type PolicyTemplate,
  type SampledSequence,
  type SampledTurn,
  type Sampler,
  type SamplerRequest,
  type ServedWeights,
  TrainingError,
} from '../src/core/training.ts';
import { createInProcessClient } from '../src/models/in-process-client.ts';
import { createPolicyModel } from './policy/policy-model.ts';
import type { PolicyVersion } from './promotion-stages.ts';
import type { Rollout, RolloutSegment } from './rollout.ts';
import type { MakeRollouts } from './training-run.ts';

/** The lessons shown with a task, and their generation. */
export interface TaskLessons extends PlacedLessons {
  readonly generation: number;
}

export interface PolicyRolloutsOptions {
  readonly template: PolicyTemplate;
  readonly openSampler: (path: string | undefined) => Promise<Sampler>;
  /** The lessons for a task, as they are now. */
  readonly show: (query: TaskRecall, task: TrainingTask, policy: PolicyVersion) => Promise<TaskLessons>;
  /** Replies that the template gives without sampling count, too: they can be graded, and teach nothing. */
  readonly isGradedOnly?: boolean;
}

/** Samplers kept open: a candidate and the live version are compared. */
const MOST_OPEN = 2;

/**
 * Attempts of a policy at a task with the current lessons, in tokens, with their rewards. Empty when no attempt could be
 * graded; rejects with a TrainingError when every attempt failed.
 */
export function createPolicyRollouts({
  template,
  openSampler,
  show,
  isGradedOnly = false,
}: PolicyRolloutsOptions): MakeRollouts<TrainingTask> {
  const open = new Map<string | undefined, Promise<Sampler>>();
  const samplerOf = (path: string | undefined): Promise<Sampler> => {
    const sampler = open.get(path) ?? openSampler(path).then(sharePrompts);
    // Most recently used last.
    open.delete(path);
    open.set(path, sampler);
    sampler.catch(() => open.delete(path));
    for (const [old, left] of [...open].slice(0, -MOST_OPEN)) {
      open.delete(old);
      left.then((one) => one.close()).catch(() => undefined);
    }
    return sampler;
  };
  return async (policy, task, count, { seed, signal }) => {
    const [sampler, shown] = await Promise.all([samplerOf(policy.sampler), show(task.recall, task, policy)]);
    const weights = { version: policy.version, sampler, release: () => undefined };
    let why: string | undefined;
    const attempts = await attemptTask({
      task,
      onFailure: (reason: string) => {
        why ??= reason;
      },
      template,
      weights,
      shown,
      count,
      temperature: 1,
      seed,
      signal,
    });
    const rollouts = attempts.flatMap((attempt, at): readonly Rollout[] => {
      if (attempt === undefined || (attempt.turns.length === 0 && !isGradedOnly)) return [];
      return [rolloutOf(attempt, `${seed}/${at}`, task.id, shown.generation)];
    });
    if (rollouts.length === 0 && why !== undefined)
      throw new TrainingError('server', `every attempt at ${task.id} failed: ${why}`);
    return rollouts;
  };
}

/** Answers to general questions: without lessons, except those that come with a task. */
export const createQuestionRollouts = (
  template: PolicyTemplate,
  openSampler: PolicyRolloutsOptions['openSampler'],
): MakeRollouts<TrainingTask> =>
  createPolicyRollouts({
    template,
    openSampler,
    show: async (_, { shown = { text: '' } }) => ({ ...shown, generation: 0 }),
    isGradedOnly: true,
  });

/** An attempt in tokens. Replies that were sampled at another temperature than 1 do not train. */
export function rolloutOf(
  { turns, reward, rules = [], isComplete }: Pick<GradedAttempt, 'turns' | 'reward' | 'rules' | 'isComplete'>,
  id: string,
  task: string,
  generation: number,
): Rollout {
  const segments = turns.flatMap(
    ({ prompt, tokens, logprobs, version, temperature }): readonly RolloutSegment[] => {
      const stamp = { policy: version, generation };
      const reply = { kind: 'reply', ids: tokens, logprobs, ...stamp } as const;
      return [
        { kind: 'prompt', ids: prompt, ...stamp },
        temperature === 1 ? reply : { ...reply, isBent: true },
      ];
    },
  );
  const rollout = { id, task, segments, reward, rewardSource: 'verifier' } as const;
  return {
    ...rollout,
    ...(rules.length === 0 ? {} : { rules }),
    ...(isComplete === undefined ? {} : { isComplete }),
  };
}

/** An attempt that was graded, with what the policy sampled in it. */
interface GradedAttempt extends Omit<Extract<AttemptResult, { readonly ok: true }>, 'ok'> {
  readonly turns: readonly SampledTurn[];
}

interface AttemptOptions extends AttemptPolicyOptions {
  readonly task: TrainingTask;
  readonly count: number;
  readonly signal: AbortSignal;
  /** Called with the reason when the model or the verifier failed. */
  readonly onFailure?: (why: string) => void;
}

/**
 * Several attempts at one task in parallel. Undefined stands for an attempt that failed or was not graded, through no
 * fault of the policy. Rejects when the signal aborts.
 */
export async function attemptTask(options: AttemptOptions): Promise<readonly (GradedAttempt | undefined)[]> {
  const { task, count } = options;
  // Every attempt listens to it.
  const signal = AbortSignal.any([options.signal]);
  setMaxListeners(0, signal);
  const places = Array.from({ length: count }, (_, at) => at);
  // All are open before the first runs: their first requests then go out in one tick, with one prompt to read.
  const opened = await Promise.all(places.map(() => task.open()));
  try {
    const attempts = await Promise.all(
      opened.map((attempt, at) => attemptOnce({ ...options, signal }, attempt, at)),
    );
    signal.throwIfAborted();
    return attempts;
  } finally {
    await Promise.all(opened.map((attempt) => attempt.close()));
  }
}

async function attemptOnce(
  options: AttemptOptions,
  attempt: TaskAttempt,
  place: number,
): Promise<GradedAttempt | undefined> {
  const { speak, session, turns } = createPolicySpeaker(options, place);
  const result = await attempt.run({ speak, session }, options.signal);
  if (result.ok) {
    const { ok: _, ...grade } = result;
    return { ...grade, turns };
  }
  if (result.isUngraded !== true && !options.signal.aborted) options.onFailure?.(result.why);
  return undefined;
}

interface AttemptPolicyOptions {
  readonly template: PolicyTemplate;
  readonly weights: ServedWeights;
  /** The lessons shown with the task. */
  readonly shown: PlacedLessons;
  readonly temperature: number;
  readonly seed: string;
}

interface PolicySpeaker {
  readonly speak: GatewayClient;
  /** The session of this attempt alone. */
  readonly session: string;
  /** The turns sampled so far. */
  readonly turns: readonly SampledTurn[];
}

/** The policy for one of several parallel attempts, with its own random seeds; the sampled tokens are collected. */
function createPolicySpeaker(
  { template, weights, shown, temperature, seed }: AttemptPolicyOptions,
  place: number,
): PolicySpeaker {
  const session = `${seed}/${place}`;
  const turns: SampledTurn[] = [];
  const random = createRandom(session);
  const model = createPolicyModel({
    template,
    weights: async () => ({ ...weights, release: () => undefined }),
    temperature,
    seed: () => random.below(2 ** 31),
    keep: (sampled) => void turns.push(sampled),
  });
  return { speak: createInProcessClient(model, () => shown), session, turns };
}

interface Waiting {
  readonly request: SamplerRequest;
  readonly signal: AbortSignal;
  readonly resolve: (sequences: readonly SampledSequence[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Attempts at one task start with the same prompt at the same time: requests of one tick that differ only in their seed are
 * sent as one, so that the engine reads the prompt once. The first request's seed is used for all.
 */
export function sharePrompts(sampler: Sampler): Sampler {
  let waiting: Waiting[] = [];
  const flush = (): void => {
    const groups = new Map<string, Waiting[]>();
    for (const one of waiting) {
      const key = keyOf(one.request);
      groups.set(key, [...(groups.get(key) ?? []), one]);
    }
    waiting = [];
    for (const group of groups.values()) void draw(sampler, group);
  };
  return {
    sample: (request, signal) =>
      new Promise((resolve, reject) => {
        waiting.push({ request, signal, resolve, reject });
        // After all microtasks of this tick: requests made together have then all arrived.
        if (waiting.length === 1) setImmediate(flush);
      }),
    close: () => sampler.close(),
  };
}

async function draw(sampler: Sampler, group: readonly Waiting[]): Promise<void> {
  const [first] = group;
  if (first === undefined) return;
  const count = group.reduce((sum, { request }) => sum + request.count, 0);
  // Aborts only when all of its requests are aborted.
  const leaving = new AbortController();
  const leaveIfAll = (): void => {
    if (group.every(({ signal }) => signal.aborted)) leaving.abort();
  };
  for (const { signal } of group) signal.addEventListener('abort', leaveIfAll, { once: true });
  leaveIfAll();
  try {
    const sequences = await sampler.sample({ ...first.request, count }, leaving.signal);
    let from = 0;
    for (const { request, resolve } of group) {
      resolve(sequences.slice(from, from + request.count));
      from += request.count;
    }
  } catch (error) {
    for (const { reject } of group) reject(error);
  } finally {
    for (const { signal } of group) signal.removeEventListener('abort', leaveIfAll);
  }
}

const keyOf = ({ seed: _, count: __, ...request }: SamplerRequest): string => JSON.stringify(request);
